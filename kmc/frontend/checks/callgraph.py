"""The call graph of a spec, collected over all files and then checked as a whole.

A helper that yields is a part of an action, which delegates to it with `yield from` or chooses from it with `for`. A
helper that requires ends the choice it is called in, so it has no meaning in a property or inside of any(...) and
all(...). A helper that calls itself declares the type of its result, since a compiler writes its levels one into the
other; a recursion through several helpers is refused, and so is one that yields or requires.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TypeAlias

from kmc.frontend.checks.names import Meaning, Names
from kmc.frontend.modules import is_shared
from kmc.invariants.kinds import KINDS
from kmc.lang.tree import decorator_words, yields

_Helper: TypeAlias = tuple[str, str]
"""The file of a function, and its name."""

_PROPERTIES = frozenset([*(kind.name for kind in KINDS), "abstraction", "refines"])


@dataclass(frozen=True, slots=True)
class _Use:
    """The use of a helper in a function; `quantifier` is the any or all around it, if there is one."""

    helper: _Helper
    node: ast.AST
    quantifier: str | None


@dataclass(slots=True)
class Helpers:
    """The functions of a spec at the top level of its files, and their uses of each other."""

    names: Names
    _functions: dict[_Helper, ast.FunctionDef] = field(default_factory=dict)
    _uses: dict[_Helper, list[_Use]] = field(default_factory=dict)
    _requires: dict[_Helper, ast.AST] = field(default_factory=dict)
    _used: set[_Helper] = field(default_factory=set)
    _members: dict[_Helper, tuple[ast.AST, str, str]] = field(default_factory=dict)
    _next: set[int] = field(default_factory=set)
    _guarding: dict[_Helper, bool] = field(default_factory=dict)

    def define(self, module: str, function: ast.FunctionDef) -> None:
        """Note a function."""
        self._functions[module, function.name] = function

    def use(self, module: str, user: str | None, node: ast.AST, meaning: Meaning, quantifier: str | None) -> None:
        """Record that the function `user`, or the file itself, uses the function that a name means."""
        if meaning.is_ours and meaning.name == "require" and user is not None:
            self._requires.setdefault((module, user), node)
        for helper in self._meant(meaning):
            self._used.add(helper)
            if user is not None:
                self._uses.setdefault((module, user), []).append(_Use(helper, node, quantifier))

    def _meant(self, meaning: Meaning) -> list[_Helper]:
        """The functions that a name may mean: one, or for a constant that is an operator all that a model may name."""
        if isinstance(meaning.node, ast.FunctionDef):
            return [(meaning.module, meaning.name)]
        arity = operator_arity(meaning.node)
        if arity is None:
            return []
        known = (self.names.meaning(meaning.module, name) for name in self.names.declared(meaning.module))
        return [
            (one.module, one.name)
            for one in known
            if one is not None and isinstance(one.node, ast.FunctionDef) and len(one.node.args.args) == arity
            if one.module != meaning.module or one.node.lineno < meaning.node.lineno
        ]

    def ask_next(self, call: ast.Call, meaning: Meaning) -> None:
        """Note a call of `at` or `fresh` of a type. The next member of a spawned type is not named."""
        if is_next(call, meaning):
            self._next.add(id(call.func))

    def name_member(self, module: str, user: str | None, node: ast.AST, meaning: Meaning) -> None:
        """Record that the function `user` uses a member of a type by its number or place."""
        if user is not None and _is_symmetric(meaning) and id(node) not in self._next:
            message = f"{meaning.name} is symmetric, so only initial states may name one of its members"
            self._members.setdefault((module, user), (node, message, "go through all of them: for s in ..., any(...)"))

    def check(self) -> None:
        """Refuse (KMC136, KMC137, KMC156, KMC186) the mistakes that only the whole call graph shows."""
        done: set[_Helper] = set()
        without_members: set[_Helper] = set()
        for helper in self._functions:
            self._refuse_recursion(helper, [helper], done)
        for helper, function in self._functions.items():
            self._refuse_lost_guards(helper, function)
            declared = decorator_words(function) - {"majority"}
            if declared and "init" not in declared:
                self._refuse_members(helper, without_members)
            unused = helper not in self._used and not is_shared(helper[0])
            if yields(function) and not function.decorator_list and unused:
                message = f"'{function.name}' yields, but is not an action and is not used by one"
                self.names.refuse(helper[0], function, "KMC137", message, self._advice_on_a_generator())

    def _advice_on_a_generator(self) -> str:
        if any("init" in decorator_words(function) for function in self._functions.values()):
            return "write @spec.action above it, or yield from it in an action"
        return "write @spec.init above it if it gives the initial states, which the spec still lacks; else @spec.action"

    def _refuse_recursion(self, helper: _Helper, path: list[_Helper], done: set[_Helper]) -> None:
        for use in self._uses.get(helper, ()):
            if use.helper == helper:
                self._refuse_bad_recursion(helper, use)
            elif use.helper in path:
                circle = " -> ".join(name for _, name in [*path[path.index(use.helper) :], use.helper])
                message = f"'{use.helper[1]}' calls itself: {circle}"
                advice = "write one helper that calls itself, with a parameter for what differs, or a quantifier"
                self.names.refuse(helper[0], use.node, "KMC186", message, advice)
            if use.helper != helper and use.helper not in done:
                self._refuse_recursion(use.helper, [*path, use.helper], done)
        done.add(helper)

    def _refuse_bad_recursion(self, helper: _Helper, use: _Use) -> None:
        """Refuse a helper that calls itself unless it declares what it returns, and only returns."""
        function = self._functions[helper]
        name = function.name
        if yields(function) or function.decorator_list:
            message, advice = f"'{name}' calls itself, and is not a helper that returns a value", "choose with for"
        elif self._guards(helper):
            message, advice = f"'{name}' calls itself, and requires", "return a value, and require where it is called"
        elif function.returns is None:
            message = f"'{name}' calls itself, and does not declare the type of its result"
            advice = f"write def {name}(...) -> Int(0, 9):, with the type of what it returns"
        else:
            return
        self.names.refuse(helper[0], use.node, "KMC186", message, advice)

    def _refuse_lost_guards(self, helper: _Helper, function: ast.FunctionDef) -> None:
        is_property = bool(_PROPERTIES & decorator_words(function))
        if is_property and helper in self._requires:
            advice = "return a Bool: not guard or ..."
            self.names.refuse(helper[0], self._requires[helper], "KMC136", "a property cannot require", advice)
        for use in self._uses.get(helper, ()):
            name = use.helper[1]
            if is_property and self._guards(use.helper):
                message = f"'{name}' requires, and a property cannot require"
                self.names.refuse(helper[0], use.node, "KMC136", message, "use a helper that returns a Bool")
            if use.quantifier is not None and self._guards(use.helper):
                message = f"'{name}' requires, and {use.quantifier}(...) may stop before calling it"
                advice = f"require({use.quantifier}(...)) of a helper that returns a Bool"
                self.names.refuse(helper[0], use.node, "KMC136", message, advice)

    def _refuse_members(self, helper: _Helper, done: set[_Helper]) -> None:
        """Refuse the names that an action or property uses if it distinguishes the members of a symmetric type."""
        if helper in self._members:
            node, message, advice = self._members[helper]
            self.names.refuse(helper[0], node, "KMC156", message, advice)
        done.add(helper)
        for use in self._uses.get(helper, ()):
            if use.helper not in done:
                self._refuse_members(use.helper, done)

    def _guards(self, helper: _Helper) -> bool:
        """Whether a call can end the caller's choice; a generator only ends itself."""
        known = self._guarding.get(helper)
        if known is None:
            is_plain = helper in self._functions and not yields(self._functions[helper])
            calls = (use.helper for use in self._uses.get(helper, ()) if use.helper != helper)
            known = self._guarding[helper] = is_plain and (helper in self._requires or any(map(self._guards, calls)))
        return known


def _is_symmetric(meaning: Meaning) -> bool:
    """Whether a name is declared as `constant(..., IdentSet(symmetric=True), ...)`."""
    value = meaning.node.value if isinstance(meaning.node, ast.Assign) else None
    domains = (
        [argument for argument in value.args if isinstance(argument, ast.Call)] if isinstance(value, ast.Call) else []
    )
    return _started(meaning) is not None or any(
        keyword.arg == "symmetric" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for domain in domains
        for keyword in domain.keywords
    )


def operator_arity(declared: ast.AST) -> int | None:
    """The number of parameters in `Before = constant("Before", Operator(2), ...)`; None for any other declaration."""
    match declared:
        case ast.Assign(
            value=ast.Call(
                func=ast.Name(id="constant"),
                args=[_, ast.Call(func=ast.Name(id="Operator"), args=[ast.Constant(value=int() as arity)]), *_],
            )
        ):
            return arity
        case _:
            return None


def _started(meaning: Meaning) -> str | None:
    """The field in `spawned(..., started="field")`, if a name is declared so."""
    value = meaning.node.value if isinstance(meaning.node, ast.Assign) else None
    for keyword in value.keywords if isinstance(value, ast.Call) else ():
        if keyword.arg == "started" and isinstance(keyword.value, ast.Constant) and type(keyword.value.value) is str:
            return keyword.value.value
    return None


def is_next(call: ast.Call, meaning: Meaning) -> bool:
    """Whether a call requests the next member of a spawned type: `Id.fresh(st.field.keys())`, with the `started` field.

    Only then is the member the same under all permutations of those in use.
    """
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "fresh" and len(call.args) == 1):
        return False
    used = call.args[0]
    if isinstance(used, ast.Call) and isinstance(used.func, ast.Attribute) and used.func.attr == "keys":
        used = used.func.value
    return isinstance(used, ast.Attribute) and used.attr == _started(meaning)
