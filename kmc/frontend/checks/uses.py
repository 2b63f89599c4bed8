"""The uses of a spec's names: checks every name, field and call in all files before anything is executed.

The check knows no types. It finds a name without a meaning, a field that no record has, a call with wrong arguments and
a helper that is not called; otherwise, such a mistake would only show in a state that reaches its line. All other
mistakes are reported when they happen (`kmc.lang.errors.blame`).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import NoReturn

from kmc.errors import did_you_mean
from kmc.frontend.checks.advice import BUILTINS, METHOD_ADVICE
from kmc.frontend.checks.call_arguments import FUNCTIONS_GIVEN, METHODS, check_call, check_function, check_word
from kmc.frontend.checks.callgraph import Helpers
from kmc.frontend.checks.declared_fields import Fields
from kmc.frontend.checks.lacking_parameters import Around
from kmc.frontend.checks.names import Meaning, Names
from kmc.frontend.modules import SpecFile
from kmc.lang.tree import children, parameters, stored, walk, yields
from kmc.lang.words import PYTHON_FUNCTIONS, USAGE
from kmc.near_words import nearest


def check_uses(modules: Mapping[str, SpecFile], facade: type) -> None:
    """Raise SpecError (KMC118, KMC124 to KMC130, KMC136, KMC137, KMC186, KMC242) at a use that cannot be intended.

    `facade` is the class of the object `spec` that a spec declares with.
    """
    names = Names(modules)
    fields = Fields(names)
    helpers = Helpers(names)
    for name, module in modules.items():
        _Uses(names, fields, helpers, name, facade).check(module.tree)
    helpers.check()


class _Uses:
    """The uses in one file."""

    def __init__(self, names: Names, fields: Fields, helpers: Helpers, module: str, facade: type) -> None:
        self._names = names
        self._fields = fields
        self._helpers = helpers
        self._module = module
        self._words = fields.all | METHODS.keys() | {"set"}
        self._facade = {name for name in vars(facade) if not name.startswith("_")}
        self._function: str | None = None
        self._around: Around | None = None
        self._quantifier: str | None = None
        self._functions_expected: set[int] = set()
        self._generators_expected: set[int] = set()

    def check(self, tree: ast.Module) -> None:
        for name, node in self._names.declared(self._module).items():
            self._refuse_builtin(node, name)
        for statement in tree.body:
            self._function = None
            self._around = Around(statement) if isinstance(statement, ast.FunctionDef) else None
            if isinstance(statement, ast.FunctionDef):
                self._function = statement.name
                self._helpers.define(self._module, statement)
            self._visit(statement, frozenset())

    def _refuse(self, node: ast.AST, code: str, message: str, help_line: str | None) -> NoReturn:
        self._names.refuse(self._module, node, code, message, help_line)

    def _refuse_builtin(self, node: ast.AST, name: str) -> None:
        if name in PYTHON_FUNCTIONS:
            self._refuse(node, "KMC125", f"'{name}' is a function of the language", "choose another name")

    def _visit(self, node: ast.AST, local: frozenset[str]) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._name(node, name, local)
            case ast.FunctionDef():
                self._definition(node, local)
                return
            case ast.Lambda(args=arguments, body=body):
                around = self._around
                self._around = around and replace(around, innermost=node)
                self._visit(body, local | set(parameters(arguments)))
                self._around = around
                return
            case ast.GeneratorExp() | ast.SetComp() | ast.ListComp() | ast.DictComp():
                self._comprehension(node, local)
                return
            case ast.Attribute():
                self._attribute(node, local)
            case ast.Call():
                self._call(node, local)
                return
            case ast.YieldFrom(value=ast.Call() as call):
                self._generators_expected.add(id(call))
                self._check_delegation(call, self._meaning(call.func, local))
            case ast.For(target=target, iter=ast.Call() as call):
                self._generators_expected.add(id(call))
                if isinstance(target, ast.Tuple | ast.List):
                    self._check_taken_apart(target, call, local)
        for child in children(node):
            self._visit(child, local)

    def _definition(self, node: ast.FunctionDef, local: frozenset[str]) -> None:
        arguments = node.args
        outside = [*node.decorator_list, *arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
        annotated = [
            argument.annotation for argument in (*arguments.args, *arguments.kwonlyargs) if argument.annotation
        ]
        for child in (*outside, *annotated, *([node.returns] if node.returns is not None else [])):
            self._visit(child, local)
        inner = set(parameters(arguments)) | stored(node.body)
        for bound in walk(node):
            match bound:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                    self._refuse_builtin(bound, name)
        if local and any(isinstance(n, ast.Name) and n.id == node.name for b in node.body for n in walk(b)):
            self._refuse(node, "KMC186", f"'{node.name}' calls itself", "write it outside of the function")
        for statement in node.body:
            self._visit(statement, local | inner | ({node.name} if local else set()))

    def _comprehension(
        self, node: ast.GeneratorExp | ast.SetComp | ast.ListComp | ast.DictComp, local: frozenset[str]
    ) -> None:
        for generator in node.generators:
            self._visit(generator.iter, local)
            local = local | stored([generator.target])
            for condition in generator.ifs:
                self._visit(condition, local)
        for element in [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]:
            self._visit(element, local)

    def _name(self, node: ast.Name, name: str, local: frozenset[str]) -> None:
        if name in local or name in PYTHON_FUNCTIONS:
            return
        meaning = self._names.meaning(self._module, name)
        if meaning is not None:
            if isinstance(meaning.node, ast.FunctionDef) and id(node) not in self._functions_expected:
                self._refuse(node, "KMC130", f"'{name}' is a function and is not called", f"write {name}(...)")
            self._helpers.use(self._module, self._function, node, meaning, self._quantifier)
        elif name in self._names.declared(self._module):
            self._refuse_file(node, name, "State")
        elif hasattr(builtins, name) and self._names.files_with(name) == []:
            near = nearest(name, PYTHON_FUNCTIONS)
            known = f"Python's functions here: {', '.join(sorted(PYTHON_FUNCTIONS))}"
            advice = BUILTINS.get(name) or (f"did you mean '{near}'?" if near else known)
            self._refuse(node, "KMC118", f"'{name}' is not in the spec language", advice)
        else:
            lacking = self._around.advice(name, self._fields.all) if self._around is not None else None
            advice = lacking or self._names.suggestion(self._module, name, {*local, *PYTHON_FUNCTIONS})
            self._refuse(node, "KMC124", f"'{name}' is not defined", advice)

    def _refuse_file(self, node: ast.AST, name: str, wanted: str) -> None:
        """Refuse the use of a file as a value, as after `from . import types`."""
        file = self._names.imported_file(self._module, name)
        if file is not None:
            advice = f"write from {file} import {wanted}, and {wanted} here"
            self._refuse(node, "KMC103", f"'{name}' is a file of the spec, not a value", advice)

    def _meaning(self, node: ast.expr, local: frozenset[str]) -> Meaning | None:
        """The meaning of a plain name here, unless it is a local one."""
        if isinstance(node, ast.Name) and node.id not in local:
            return self._names.meaning(self._module, node.id)
        return None

    def _attribute(self, node: ast.Attribute, local: frozenset[str]) -> None:
        if isinstance(node.value, ast.Name) and node.value.id not in local:
            self._refuse_file(node, node.value.id, node.attr)
        owner = self._meaning(node.value, local)
        if owner is not None and node.attr in ("at", "fresh"):
            self._helpers.name_member(self._module, self._function, node, owner)
        known: Collection[str]
        if owner is not None and owner.is_ours and owner.name == "spec":
            known = self._facade
            message = f"spec has no '{node.attr}'"
        elif owner is not None and isinstance(owner.node, ast.ClassDef):
            known = self._fields.members(owner)
            message = f"{owner.name} has no member '{node.attr}'"
            if self._fields.of(owner) is not None:
                message = f"{owner.name} is a type, so it has no '{node.attr}' itself"
        else:
            known = self._words
            message = f"no record has a field '{node.attr}', and no value a method"
        if known is self._words and node.attr in METHODS and node.attr not in self._fields.all:
            self._refuse_uncalled(node)
        if node.attr not in known:
            near = nearest(node.attr, known)
            advice = METHOD_ADVICE.get(node.attr) or (
                did_you_mean(node.attr, known) if near else "declare it in a record"
            )
            if owner is not None:
                advice = self._advice_on_owner(owner, node.attr, known)
            end = ast.copy_location(ast.Name(node.attr), node)
            end.lineno, end.col_offset = node.end_lineno or 1, (node.end_col_offset or 0) - len(node.attr.encode())
            self._refuse(end, "KMC126", message, advice)

    def _refuse_uncalled(self, node: ast.Attribute) -> None:
        """Refuse a method that is not called: it would be a value of no kind."""
        if id(node) not in self._functions_expected:
            advice = USAGE.get(node.attr) or f"write .{node.attr}(...)"
            self._refuse(node, "KMC130", f"'{node.attr}' is a method and is not called", advice)

    def _advice_on_owner(self, owner: Meaning, attr: str, known: Collection[str]) -> str:
        """The help if the meaning of a spec's name has no such attribute."""
        value = getattr(owner.node, "value", None)
        is_constant = isinstance(value, ast.Call) and ast.unparse(value.func) in ("constant", "spawned")
        if is_constant and not nearest(attr, known):
            return f"a spec names no members of a constant: go through them, as in: for x in {owner.name}"
        return did_you_mean(attr, known) if known else f"read it from a value: {owner.name.lower()}.{attr}"

    def _call(self, node: ast.Call, local: frozenset[str]) -> None:
        callee = self._meaning(node.func, local)
        if isinstance(node.func, ast.Attribute) and (owner := self._meaning(node.func.value, local)):
            self._helpers.ask_next(node, owner)
        check_call(self._names, self._fields, self._module, node, callee)
        self._check_word(node, callee, local)
        self._functions_expected.add(id(node.func))
        if not self._stores(node, callee):
            self._functions_expected |= {id(value) for value in (*node.args, *(k.value for k in node.keywords))}
        if callee is not None and isinstance(callee.node, ast.FunctionDef) and yields(callee.node):
            self._refuse_lost_generator(node, callee.name)
        around = self._quantifier
        if isinstance(node.func, ast.Name) and node.func.id in ("any", "all"):
            self._quantifier = node.func.id
        for child in children(node):
            self._visit(child, local)
        self._quantifier = around

    def _check_word(self, node: ast.Call, callee: Meaning | None, local: frozenset[str]) -> None:
        """Check a call of a function of the language: not of a helper, of a local name, or of the object `spec`."""
        match node.func:
            case ast.Name(id=name) if name in local:
                return
            case ast.Attribute(value=value) if (owner := self._meaning(value, local)) and owner.name == "spec":
                return
        if callee is None or callee.is_ours:
            check_word(self._names, self._module, node)
        if callee is not None and callee.is_ours and callee.name == "fold":
            self._check_function("fold", node.args[0], local)
        for keyword in node.keywords:
            if callee is None and keyword.arg == "key" and isinstance(node.func, ast.Name):
                self._check_function(node.func.id, keyword.value, local)

    def _check_function(self, word: str, given: ast.expr, local: frozenset[str]) -> None:
        if word in FUNCTIONS_GIVEN:
            check_function(self._names, self._module, word, given, self._meaning(given, local))

    def _stores(self, node: ast.Call, callee: Meaning | None) -> bool:
        """Whether the callee stores or tests its arguments, so that passing it a function is a mistake."""
        if callee is not None:
            return isinstance(callee.node, ast.ClassDef) or callee.name in ("require", "ways")
        return isinstance(node.func, ast.Attribute) and node.func.attr in ("set", "add", "append", "send")

    def _refuse_lost_generator(self, node: ast.Call, name: str) -> None:
        if id(node) not in self._generators_expected:
            advice = f"write yield from {name}(...), or choose from it: for x in {name}(...)"
            self._refuse(node, "KMC129", f"'{name}' yields, so a call of it is not a value", advice)

    def _check_taken_apart(self, target: ast.expr, call: ast.Call, local: frozenset[str]) -> None:
        """Refuse several names for the members of a set; a helper inside of the function is seen when it is called."""
        callee = self._meaning(call.func, local)
        is_generator = callee is not None and isinstance(callee.node, ast.FunctionDef) and yields(callee.node)
        is_inner = isinstance(call.func, ast.Name) and call.func.id in local
        if isinstance(call.func, ast.Name) and not (is_generator or is_inner):
            message = f"'{call.func.id}' does not yield, so its elements are not taken apart"
            self._refuse(target, "KMC140", message, "bind one name: which member of a set is first has no meaning")

    def _check_delegation(self, call: ast.Call, callee: Meaning | None) -> None:
        if callee is not None and not (isinstance(callee.node, ast.FunctionDef) and yields(callee.node)):
            self._refuse(call, "KMC129", f"'{callee.name}' does not yield", f"write yield {callee.name}(...)")
