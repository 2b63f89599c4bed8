"""From a loop in Python to LLVM IR.

A loop is a function of words whose syntax has words, structs, `if`, `while`, `for ... in range(...)`, assignments, and
calls of parts, intrinsics and kinds of words. Everything else is a TypeError at its line: a mistake in kmc.

Invariant: one loop and all parts that it calls become one module with one function that others see, in C's convention
for words. Nothing is optimised or loaded here. A condition that is known now leaves no trace, and parts that it
switches off are not translated.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any, NewType

from llvmlite import ir

from kmc.engine.native.arithmetic import (
    SIGNS,
    STATIC_BINARY,
    STATIC_COMPARE,
    STATIC_UNARY,
    emit_binary,
    emit_unary,
)
from kmc.engine.native.intrinsics import LoopIntrinsic, parts
from kmc.engine.native.loop_values import WORD, LoopValue, constant, struct_of
from kmc.engine.native.structs import Struct
from kmc.engine.native.syntax import syntax_of
from kmc.runtime.native_module import symbol

Part = Callable[..., Any]

_BIT = ir.IntType(1)
_UNKNOWN = object()
"""The value of what only the running loop knows."""


def llvm_text(loop: Part, name: str, specialization: Mapping[str, int] | None = None) -> str:
    """LLVM IR of a module with the kernel `name`, made of `loop`; `specialization` gives globals of that name a value.

    TypeError at the line of what cannot be translated.
    """
    translation = _Translation(specialization or {})
    translation.translate(loop, symbol(name))
    return str(translation.module)


class _Signature:
    """The types of the arguments and the result of a part: words and structs, or nothing."""

    def __init__(self, part: FunctionType) -> None:
        kinds = inspect.get_annotations(part, eval_str=True)
        self.names = part.__code__.co_varnames[: part.__code__.co_argcount]
        self.takes = [struct_of(kinds[name]) for name in self.names]
        self.gives_nothing = kinds["return"] is None
        self.gives = struct_of(kinds["return"])

    @property
    def kind(self) -> ir.FunctionType:
        """The type in LLVM IR."""
        return ir.FunctionType(ir.VoidType() if self.gives_nothing else WORD, [WORD] * len(self.takes))


class _Translation:
    """The translation of one loop: its module, and the parts that are in it."""

    def __init__(self, specialization: Mapping[str, int]) -> None:
        self.module = ir.Module("loops")
        self._specialization = specialization
        self._parts: dict[Part, tuple[_Signature, ir.Function]] = {}

    def translate(self, part: Part, name: str) -> tuple[_Signature, ir.Function]:
        """The function of a part, with its signature."""
        assert isinstance(part, FunctionType), part
        signature = _Signature(part)
        function = ir.Function(self.module, signature.kind, name)
        self._parts[part] = signature, function
        _Body(self, part, signature, function).translate()
        return signature, function

    def part(self, part: Part) -> tuple[_Signature, ir.Function]:
        """The function of a part that a loop calls, with its signature; it is translated at its first call."""
        if part in self._parts:
            return self._parts[part]
        signature, function = self.translate(part, f"{part.__module__}.{part.__qualname__}.{len(self._parts)}")
        function.linkage = "internal"
        function.attributes.add("alwaysinline")
        return signature, function

    def names(self, part: FunctionType) -> dict[str, Any]:
        """The values of the names that a part reads and does not assign."""
        cells = zip(part.__code__.co_freevars, part.__closure__ or (), strict=True)
        return {**part.__globals__, **{name: cell.cell_contents for name, cell in cells}, **self._specialization}


class _Body:
    """The body of one function while it is translated."""

    def __init__(self, translation: _Translation, part: FunctionType, signature: _Signature, function: Any) -> None:
        self._translation = translation
        self._signature = signature
        self._names = translation.names(part)
        self._tree = syntax_of(part)
        self._path = part.__code__.co_filename
        self._assigned = _names_assigned(self._tree)
        self._entry = function.append_basic_block()
        self._builder = ir.IRBuilder(function.append_basic_block())
        self._loops: list[tuple[Any, Any]] = []
        self._variables: dict[str, tuple[Any, LoopValue]] = {}
        self._constants: dict[str, LoopValue] = {}
        with self._builder.goto_block(self._entry):
            self._builder.branch(self._builder.function.blocks[1])
        for name, struct, argument in zip(signature.names, signature.takes, function.args, strict=True):
            if name in self._assigned:
                self._assign(name, LoopValue(argument, struct))
            else:
                self._constants[name] = LoopValue(argument, struct)

    def translate(self) -> None:
        """Translate all of it."""
        self._statements(self._tree.body)
        if not self._builder.block.is_terminated:
            # Of a function with a result, only code that is never reached ends here.
            self._builder.ret_void() if self._signature.gives_nothing else self._builder.ret(WORD(0))

    def _statements(self, statements: list[ast.stmt]) -> None:
        for each in statements:
            if self._builder.block.is_terminated:
                return
            try:
                self._statement(each)
            except TypeError as error:
                # Of statements in statements, the innermost adds its line.
                if not hasattr(error, "__notes__"):
                    error.add_note(f"{self._path}:{each.lineno}: {ast.unparse(each).splitlines()[0]}")
                raise

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets, value):
                self._assignment(targets, value)
            case ast.AugAssign(target, operation, value):
                self._update(target, type(operation), value)
            case ast.Expr(ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value):
                self._value(value, may_be_nothing=True)
            case ast.Return(value):
                self._return(value)
            case ast.If(test, body, otherwise):
                self._if(test, body, otherwise)
            case ast.While(test, body, []):
                self._while(test, body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds, []), body, []):
                self._for(name, bounds, body)
            case ast.Break():
                self._builder.branch(self._loops[-1][1])
            case ast.Continue():
                self._builder.branch(self._loops[-1][0])
            case _:
                raise TypeError("a loop has no such statement")

    def _assignment(self, targets: list[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Tuple):
            values = [self._value(each) for each in value.elts]
            for target in targets:
                if not isinstance(target, ast.Tuple) or len(target.elts) != len(values):
                    raise TypeError("a loop has no tuples")
                for each, word in zip(target.elts, values, strict=True):
                    self._store(each, word)
            return
        word = self._value(value)
        for target in targets:
            self._store(target, word)

    def _store(self, target: ast.expr, value: LoopValue) -> None:
        match target:
            case ast.Name(name):
                self._assign(name, value)
            case ast.Attribute(owner, name):
                self._value(owner).write(self._builder, name, value)
            case _:
                raise TypeError("a loop does not assign that")

    def _assign(self, name: str, value: LoopValue) -> None:
        if name not in self._variables:
            with self._builder.goto_entry_block():
                self._variables[name] = self._builder.alloca(WORD), LoopValue(0, value.struct, value.offset)
        place, kind = self._variables[name]
        if (kind.struct, kind.offset) != (value.struct, value.offset):
            value = value.converted(self._builder, kind.struct)
        word = constant(value.word) if isinstance(value.word, int) else value.word
        self._builder.store(word, place)

    def _update(self, target: ast.expr, kind: type[ast.operator], value: ast.expr) -> None:
        if isinstance(target, ast.Attribute):
            owner = self._value(target.value)
            before = owner.read(self._builder, target.attr)
            owner.write(self._builder, target.attr, self._binary(kind, before, self._value(value)))
        else:
            before = self._value(_loaded(target))
            self._store(target, self._binary(kind, before, self._value(value)))

    def _return(self, value: ast.expr | None) -> None:
        if value is None or self._signature.gives_nothing:
            if value is not None or not self._signature.gives_nothing:
                raise TypeError("the annotation says that the result is another")
            self._builder.ret_void()
        else:
            given = self._value(value).converted(self._builder, self._signature.gives)
            self._builder.ret(given.emitted(self._builder))

    def _if(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        condition = self._condition(test)
        if isinstance(condition, bool):
            self._statements(body if condition else otherwise)
            return
        then, end = self._block(), self._block()
        beside = self._block() if otherwise else end
        self._builder.cbranch(condition, then, beside)
        self._branch(then, body, end)
        if otherwise:
            self._branch(beside, otherwise, end)
        self._builder.position_at_end(end)
        if not _is_entered(end):
            # Both branches end otherwise. A block needs an end, and LLVM removes this one.
            self._builder.branch(end)

    def _branch(self, block: Any, body: list[ast.stmt], end: Any) -> None:
        self._builder.position_at_end(block)
        self._statements(body)
        self._go(end)

    def _go(self, block: Any) -> None:
        if not self._builder.block.is_terminated:
            self._builder.branch(block)

    def _while(self, test: ast.expr, body: list[ast.stmt]) -> None:
        again, inside, end = self._block(), self._block(), self._block()
        self._builder.branch(again)
        self._builder.position_at_end(again)
        condition = self._condition(test)
        if isinstance(condition, bool):
            self._builder.branch(inside if condition else end)
        else:
            self._builder.cbranch(condition, inside, end)
        self._round(inside, body, again, end)
        self._builder.position_at_end(end)

    def _round(self, block: Any, body: list[ast.stmt], again: Any, end: Any) -> None:
        self._loops.append((again, end))
        self._branch(block, body, again)
        self._loops.pop()

    def _for(self, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> None:
        start, stop, step = self._range(bounds)
        with self._builder.goto_entry_block():
            counter = self._builder.alloca(WORD)
        self._builder.store(start, counter)
        again, inside, further, end = (self._block() for _ in range(4))
        self._builder.branch(again)
        self._builder.position_at_end(again)
        number = self._builder.load(counter)
        self._builder.cbranch(self._goes_on(number, stop, step), inside, end)
        self._builder.position_at_end(inside)
        self._assign(name, LoopValue(number))
        self._round(inside, body, further, end)
        self._builder.position_at_end(further)
        self._builder.store(self._builder.add(number, step), counter)
        self._builder.branch(again)
        self._builder.position_at_end(end)

    def _goes_on(self, number: Any, stop: Any, step: Any) -> Any:
        """A bit: a number is before the end of its range. A step of 0 ends a range at once."""
        builder, zero = self._builder, WORD(0)
        falls = builder.and_(builder.icmp_signed("<", step, zero), builder.icmp_signed(">", number, stop))
        return builder.select(builder.icmp_signed(">", step, zero), builder.icmp_signed("<", number, stop), falls)

    def _range(self, bounds: list[ast.expr]) -> tuple[Any, Any, Any]:
        """The start, the stop and the step of a range."""
        words = [self._word(bound) for bound in bounds]
        if len(words) == 1:
            return WORD(0), words[0], WORD(1)
        return words[0], words[1], words[2] if len(words) == 3 else WORD(1)

    def _block(self) -> Any:
        return self._builder.append_basic_block()

    def _word(self, node: ast.expr) -> Any:
        return self._value(node).emitted(self._builder)

    def _value(self, node: ast.expr, *, may_be_nothing: bool = False) -> LoopValue:
        known = self._static(node)
        if isinstance(known, int):
            return LoopValue(int(known))
        match node:
            case ast.Name(name) if name in self._constants:
                return self._constants[name]
            case ast.Name(name) if name in self._variables:
                place, kind = self._variables[name]
                return LoopValue(self._builder.load(place), kind.struct, kind.offset)
            case ast.Attribute(owner, name):
                return self._value(owner).read(self._builder, name)
            case ast.BinOp(left, operation, right):
                return self._binary(type(operation), self._value(left), self._value(right))
            case ast.UnaryOp(ast.USub() | ast.Invert() as operation, operand):
                return LoopValue(emit_unary(self._builder, type(operation), self._word(operand)))
            case ast.IfExp(test, body, otherwise):
                return self._choice(test, body, otherwise)
            case ast.Compare() | ast.UnaryOp(ast.Not()) | ast.BoolOp() if _is_condition(node):
                return self._bit(self._condition(node))
            case ast.Call(function, arguments, []):
                return self._call(self._static(function), arguments, may_be_nothing=may_be_nothing)
        raise TypeError(f"a loop has no such expression: {ast.unparse(node)}")

    def _bit(self, condition: Any) -> LoopValue:
        """A condition as a word, 0 or 1."""
        return LoopValue(int(condition) if isinstance(condition, bool) else self._builder.zext(condition, WORD))

    def _binary(self, kind: type[ast.operator], left: LoopValue, right: LoopValue) -> LoopValue:
        return LoopValue(emit_binary(self._builder, kind, left.emitted(self._builder), right.emitted(self._builder)))

    def _choice(self, test: ast.expr, body: ast.expr, otherwise: ast.expr) -> LoopValue:
        condition = self._condition(test)
        if isinstance(condition, bool):
            return self._value(body if condition else otherwise)
        if all(isinstance(self._static(each), int) for each in (body, otherwise)):
            first, second = self._word(body), self._word(otherwise)
            return LoopValue(self._builder.select(condition, first, second))
        then, beside, end = (self._block() for _ in range(3))
        self._builder.cbranch(condition, then, beside)
        arms = []
        for block, each in ((then, body), (beside, otherwise)):
            self._builder.position_at_end(block)
            value = self._value(each)
            arms.append((value.emitted(self._builder), self._builder.block, value.struct))
            self._builder.branch(end)
        self._builder.position_at_end(end)
        phi = self._builder.phi(WORD)
        for word, block, _ in arms:
            phi.add_incoming(word, block)
        return LoopValue(phi, arms[0][2] if arms[0][2] is arms[1][2] else None)

    def _condition(self, node: ast.expr) -> Any:
        """A condition: a bit of LLVM's, or whether it holds if that is known now."""
        known = self._static(node)
        if isinstance(known, int):
            return bool(known)
        match node:
            case ast.Compare(left, operations, others) if all(type(each) in SIGNS for each in operations):
                return self._compared(self._word(left), operations, others)
            case ast.BoolOp(operation, values):
                return self._connected(isinstance(operation, ast.And), values)
            case ast.UnaryOp(ast.Not(), operand):
                condition = self._condition(operand)
                return not condition if isinstance(condition, bool) else self._builder.not_(condition)
            case ast.Compare():
                raise TypeError(f"a loop has no such comparison: {ast.unparse(node)}")
        return self._builder.icmp_signed("!=", self._word(node), WORD(0))

    def _connected(self, is_and: bool, values: list[ast.expr]) -> Any:
        """Conditions connected by `and` or `or`: one is evaluated only if those before it do not decide."""
        first, *others = values
        condition = self._condition(first)
        if not others:
            return condition
        if isinstance(condition, bool):
            return self._connected(is_and, others) if condition is is_and else condition
        return self._joined(is_and, condition, lambda: self._connected(is_and, others))

    def _compared(self, word: Any, operations: list[ast.cmpop], others: list[ast.expr]) -> Any:
        """Comparisons in a chain: each word is evaluated once, and only if the comparison before it holds."""
        second = self._word(others[0])
        holds = self._builder.icmp_signed(SIGNS[type(operations[0])], word, second)
        if len(others) == 1:
            return holds
        return self._joined(True, holds, lambda: self._compared(second, operations[1:], others[1:]))

    def _joined(self, is_and: bool, condition: Any, further: Callable[[], Any]) -> Any:
        """A condition and another one, which is evaluated only if the first does not decide."""
        more, end = self._block(), self._block()
        before = self._builder.block
        self._builder.cbranch(condition, *((more, end) if is_and else (end, more)))
        self._builder.position_at_end(more)
        rest = further()
        rest = _BIT(int(rest)) if isinstance(rest, bool) else rest
        behind = self._builder.block
        self._builder.branch(end)
        self._builder.position_at_end(end)
        phi = self._builder.phi(_BIT)
        phi.add_incoming(_BIT(int(not is_and)), before)
        phi.add_incoming(rest, behind)
        return phi

    def _call(self, called: Any, given: list[ast.expr], *, may_be_nothing: bool) -> LoopValue:
        if isinstance(called, type) and issubclass(called, Struct):
            return LoopValue(self._word(*given), called)
        if isinstance(called, NewType):
            return LoopValue(self._word(*given))
        if isinstance(called, LoopIntrinsic):
            words = [self._word(each) for each in given]
            if len(words) != called.arity:
                raise TypeError("the intrinsic has another number of arguments")
            result = called.emit(self._builder, *words)
            return LoopValue(WORD(0) if result is None else result)
        if called in (min, max):
            left, right = (self._word(each) for each in given)
            is_left = self._builder.icmp_signed("<" if called is min else ">", left, right)
            return LoopValue(self._builder.select(is_left, left, right))
        if not (callable(called) and called in parts):
            raise TypeError("a loop calls no such function")
        signature, function = self._translation.part(called)
        values = [self._value(each) for each in given]
        if signature.gives_nothing and not may_be_nothing:
            raise TypeError("the part has no result")
        words = [
            value.converted(self._builder, struct).emitted(self._builder)
            for value, struct in zip(values, signature.takes, strict=True)
        ]
        return LoopValue(self._builder.call(function, words), signature.gives)

    def _static(self, node: ast.expr) -> Any:
        """The value of an expression if it is known now: a number, or what a name or a field of a class means."""
        match node:
            case ast.Constant(int() as number):
                return number
            case ast.Name(name) if name not in self._assigned and name not in self._constants:
                return self._names.get(name, getattr(builtins, name, _UNKNOWN))
            case ast.Attribute(owner, name):
                known = self._static(owner)
                if isinstance(known, ModuleType) or (isinstance(known, type) and issubclass(known, Struct)):
                    return getattr(known, name)
            case ast.BinOp(left, operation, right):
                numbers = self._static(left), self._static(right)
                if type(operation) in STATIC_BINARY and all(isinstance(number, int) for number in numbers):
                    return STATIC_BINARY[type(operation)](*numbers)
            case ast.UnaryOp(operation, operand):
                number = self._static(operand)
                if type(operation) in STATIC_UNARY and isinstance(number, int):
                    return STATIC_UNARY[type(operation)](number)
            case ast.Compare(left, [operation], [right]):
                numbers = self._static(left), self._static(right)
                if type(operation) in STATIC_COMPARE and all(isinstance(number, int) for number in numbers):
                    return STATIC_COMPARE[type(operation)](*numbers)
        return _UNKNOWN


def _is_condition(node: ast.expr) -> bool:
    """Return whether an expression is true or false, and not a word that counts as one of them."""
    match node:
        case ast.BoolOp(_, values):
            return all(map(_is_condition, values))
        case ast.UnaryOp(operation, _):
            return isinstance(operation, ast.Not)
    return isinstance(node, ast.Compare)


def _names_assigned(tree: ast.FunctionDef) -> frozenset[str]:
    return frozenset(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _loaded(target: ast.expr) -> ast.expr:
    """The name that an assignment names, to be read."""
    assert isinstance(target, ast.Name), ast.unparse(target)
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _is_entered(block: Any) -> bool:
    """Return whether a branch leads to a block."""
    return any(block in each.terminator.operands for each in block.function.blocks if each.terminator is not None)
