"""IR to LLVM IR text.

The text is the same on every machine, so it can travel and be a cache key: `kmc.runtime.object_code` adds triple, CPU
and optimisation. Every operation is total, as in `kmc.compiler.ir.emit_python`: shifts take their amount modulo 64,
and `x / 0 = x`, `x % 0 = 0`. Both cost nothing where the right side is a constant.

A variable with one assignment becomes an SSA value: it is read only where it has a value (`verify`), so its one
assignment dominates every read. Others are stack slots, which LLVM promotes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import assert_never

from kmc.budget import require_budget
from kmc.compiler.ir.nodes import (
    COPY_STEP,
    Bin,
    Block,
    Break,
    CallKernel,
    Comment,
    Const,
    Copy,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Module,
    Return,
    Select,
    Stmt,
    Store,
    Var,
)
from kmc.compiler.ir.verify import verify
from kmc.compiler.ir.walk import assigned, calls
from kmc.runtime import mixing
from kmc.runtime.native_module import symbol

_COMPARISONS = frozenset({"eq", "ne", "slt", "sle", "ult"})
_BOOLEAN = frozenset({"and", "or", "xor"})
_BITS = {"0": "false", "1": "true"}
# Without builtins, LLVM does not turn a loop over a few words into a call of memset or memcpy. Words are compared and
# copied in the widest vectors of the machine; on some machines LLVM would use half of that.
_HINTS = '"no-builtins" "prefer-vector-width"="512" "min-legal-vector-width"="512"'
_TAIL = """\
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
!0 = !{}
"""
_MIXED = "@kmc_mixed"
# `mixing.mix` of a word, with the key of its salt and the swapped key. LLVM inlines it in optimised code. Without
# optimisation it is slow at selecting instructions in blocks with 128-bit numbers, so only this block has them.
_MIXING = f"""\
define internal i64 {_MIXED}(i64 %word, i64 %key, i64 %swapped) alwaysinline nounwind {_HINTS} {{
  %first = xor i64 %word, %key
  %first.wide = zext i64 %first to i128
  %first.product = mul i128 %first.wide, {mixing.FIRST_FACTOR}
  %first.shifted = lshr i128 %first.product, 64
  %first.upper = trunc i128 %first.shifted to i64
  %first.lower = trunc i128 %first.product to i64
  %first.folded = xor i64 %first.upper, %first.lower
  %second = xor i64 %first.folded, %swapped
  %second.wide = zext i64 %second to i128
  %second.product = mul i128 %second.wide, {mixing.SECOND_FACTOR}
  %second.shifted = lshr i128 %second.product, 64
  %second.upper = trunc i128 %second.shifted to i64
  %second.lower = trunc i128 %second.product to i64
  %second.folded = xor i64 %second.upper, %second.lower
  ret i64 %second.folded
}}
"""


def emit_llvm(module: Module) -> str:
    """The LLVM IR of a module; InternalError (KMC91x) when it is not well-formed.

    Functions that are not `inline` are exported under `native_module.symbol(name)`.
    """
    verify(module)
    invariant = invariant_pointers(module)
    functions = [_Emitter(function, invariant[function.name]).text() for function in module.functions]
    mixing_function = [_MIXING] if any(_MIXED in text for text in functions) else []
    return "\n".join([*functions, *mixing_function, _TAIL])


def exported(module: Module) -> tuple[str, ...]:
    """The names of the functions that other code can call."""
    return tuple(function.name for function in module.functions if not function.inline)


def invariant_pointers(module: Module) -> dict[str, frozenset[str]]:
    """The readonly pointers of each function whose words no caller in the module writes either.

    LLVM may move an invariant load anywhere its pointer is valid; after inlining, even out of the function.
    """
    invariant = {function.name: set(function.readonly) for function in module.functions}
    parameters = {function.name: function.pointers for function in module.functions}
    given = [
        (caller.name, pointer, call.function, parameter)
        for caller in module.functions
        for call in calls(caller.body)
        for (pointer, _), parameter in zip(call.pointers, parameters[call.function], strict=True)
    ]
    changed = True
    while changed:
        changed = False
        for caller_name, pointer, callee, parameter in given:
            if parameter in invariant[callee] and pointer not in invariant[caller_name]:
                invariant[callee].discard(parameter)
                changed = True
    return {name: frozenset(pointers) for name, pointers in invariant.items()}


class _Emitter:
    """Writes one function; after a statement that never completes, `open` is False and nothing is written."""

    def __init__(self, function: Function, invariant: frozenset[str]) -> None:
        self.function = function
        self.invariant = invariant
        assignments = Counter(assigned(function.body))
        assignments.update(function.parameters)
        self.slots = {name for name, count in assignments.items() if count > 1}
        self.values = {name: f"%a.{name}" for name in function.parameters if name not in self.slots}
        self.bits: dict[str, str] = {}  # the i1 behind an i64 that is 0 or 1
        self.lines: list[str] = []
        self.count = 0
        self.open = True
        self.ends: dict[str, str] = {}
        self.left: set[str] = set()  # the end blocks that some break reaches

    def text(self) -> str:
        """The definition of the function."""
        function = self.function
        for name in sorted(self.slots):
            self.lines.append(f"  %v.{name} = alloca i64, align 8")
        for name, words in function.arrays:
            self.lines.append(f"  %p.{name} = alloca [{words} x i64], align 64")
        for name in function.parameters:
            if name in self.slots:
                self.lines.append(f"  store i64 %a.{name}, ptr %v.{name}, align 8")
        self.suite(function.body)
        if self.open:
            self.lines.append("  ret i64 0")
        pointers = [f"ptr {self.pointer_attributes(name)}%p.{name}" for name in function.pointers]
        parameters = ", ".join([*pointers, *(f"i64 %a.{name}" for name in function.parameters)])
        linkage, attributes = ("internal ", "alwaysinline ") if function.inline else ("", "")
        head = f"define {linkage}i64 {_symbol(function.name)}({parameters}) {attributes}nounwind {_HINTS} {{"
        return "\n".join([head, "entry:", *self.lines, "}", ""])

    def pointer_attributes(self, name: str) -> str:
        """The attributes that LLVM may assume of a pointer parameter."""
        return "noalias readonly " if name in self.function.readonly else ""

    def temporary(self, instruction: str) -> str:
        """The name of the result of an instruction, which is written."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {instruction}")
        return f"%t{self.count}"

    def labels(self, *stems: str) -> tuple[str, ...]:
        """Names of new basic blocks."""
        self.count += 1
        return tuple(f"{stem}{self.count}" for stem in stems)

    def begin(self, block: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{block}:")
        self.open = True

    def jump(self, block: str) -> None:
        """Go to a basic block, unless nothing arrives here."""
        if self.open:
            self.lines.append(f"  br label %{block}")
            self.open = False

    def suite(self, body: Iterable[Stmt]) -> None:
        """The statements of a body, as far as they can run."""
        for statement in body:
            if not self.open:
                return
            self.statement(statement)

    def statement(self, statement: Stmt) -> None:
        """One statement."""
        require_budget()
        match statement:
            case Let(name, value):
                self.assign(name, self.expr(value))
            case Store(pointer, index, value):
                address = self.address(pointer, index)
                self.lines.append(f"  store i64 {self.expr(value)}, ptr {address}, align 8")
            case Copy():
                self.copy(statement)
            case If():
                self.branches(statement)
            case Block(label, body):
                (end,) = self.labels("end")
                self.labelled(label, body, end, end)
            case Loop(label, body):
                start, end = self.labels("loop", "end")
                self.jump(start)
                self.begin(start)
                self.labelled(label, body, start, end)
            case Break(label):
                self.left.add(self.ends[label])
                self.jump(self.ends[label])
            case CallKernel():
                self.call(statement)
            case Return(value):
                self.lines.append(f"  ret i64 {self.expr(value)}")
                self.open = False
            case Comment():
                pass
            case _:
                assert_never(statement)

    def labelled(self, label: str, body: tuple[Stmt, ...], onward: str, end: str) -> None:
        """A body that goes to `onward` when it completes and to `end` on break."""
        self.ends[label] = end
        self.suite(body)
        if self.open and onward == end:
            self.left.add(end)
        self.jump(onward)
        del self.ends[label]
        if end in self.left:
            self.begin(end)

    def branches(self, statement: If) -> None:
        """Both branches, and the place where they meet if any completes."""
        then, otherwise, end = self.labels("then", "else", "fi")
        false_side = otherwise if statement.otherwise else end
        self.lines.append(f"  br i1 {self.condition(statement.condition)}, label %{then}, label %{false_side}")
        meets = not statement.otherwise
        for block, body in ((then, statement.then), (otherwise, statement.otherwise)):
            if block == then or body:
                self.begin(block)
                self.suite(body)
                meets = meets or self.open
                self.jump(end)
        if meets:
            self.begin(end)

    def assign(self, name: str, operand: str) -> None:
        """Give a variable the value of an operand."""
        if name in self.slots:
            self.lines.append(f"  store i64 {operand}, ptr %v.{name}, align 8")
        else:
            self.values[name] = operand

    def call(self, call: CallKernel) -> None:
        """A call of another kernel of the module."""
        pointers = [f"ptr {self.address(pointer, offset)}" for pointer, offset in call.pointers]
        arguments = [f"i64 {self.expr(argument)}" for argument in call.arguments]
        called = self.temporary(f"call i64 {_symbol(call.function)}({', '.join([*pointers, *arguments])})")
        self.assign(call.target, called)

    def copy(self, copy: Copy) -> None:
        """A loop that moves a vector of words in each round."""
        target, source = self.address(copy.target, copy.at), self.address(copy.source, copy.start)
        words = self.expr(copy.words)
        before, start, end = self.labels("copy", "round", "copied")
        self.jump(before)
        self.begin(before)
        empty = self.temporary(f"icmp eq i64 {words}, 0")
        self.lines.append(f"  br i1 {empty}, label %{end}, label %{start}")
        self.begin(start)
        self.count += 1
        index, following = f"%t{self.count}", f"%t{self.count}.next"
        self.lines.append(f"  {index} = phi i64 [ 0, %{before} ], [ {following}, %{start} ]")
        fixed = ", !invariant.load !0" if copy.source in self.invariant else ""
        from_there = self.temporary(f"getelementptr inbounds i64, ptr {source}, i64 {index}")
        moved = self.temporary(f"load <{COPY_STEP} x i64>, ptr {from_there}, align 8{fixed}")
        to_there = self.temporary(f"getelementptr inbounds i64, ptr {target}, i64 {index}")
        self.lines.append(f"  store <{COPY_STEP} x i64> {moved}, ptr {to_there}, align 8")
        self.lines.append(f"  {following} = add i64 {index}, {COPY_STEP}")
        more = self.temporary(f"icmp ult i64 {following}, {words}")
        self.lines.append(f"  br i1 {more}, label %{start}, label %{end}")
        self.begin(end)

    def matches(self, matches: Matches) -> str:
        """A comparison of vectors, its result as a word."""
        lanes = matches.lanes
        vector = f"<{lanes} x i64>"
        fixed = ", !invariant.load !0" if matches.pointer in self.invariant else ""
        loaded = self.temporary(f"load {vector}, ptr {self.address(matches.pointer, matches.index)}, align 8{fixed}")
        mask, wanted = self.spread(self.expr(matches.mask), lanes), self.spread(self.expr(matches.wanted), lanes)
        masked = self.temporary(f"and {vector} {loaded}, {mask}")
        equal = self.temporary(f"icmp eq {vector} {masked}, {wanted}")
        bits = self.temporary(f"bitcast <{lanes} x i1> {equal} to i{lanes}")
        return self.temporary(f"zext i{lanes} {bits} to i64")

    def spread(self, operand: str, lanes: int) -> str:
        """A vector of equal words."""
        vector = f"<{lanes} x i64>"
        first = self.temporary(f"insertelement {vector} poison, i64 {operand}, i64 0")
        return self.temporary(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def address(self, pointer: str, index: Expr) -> str:
        """The address of a word."""
        if isinstance(index, Const) and index.value == 0:
            return f"%p.{pointer}"
        return self.temporary(f"getelementptr inbounds i64, ptr %p.{pointer}, i64 {self.expr(index)}")

    def expr(self, expr: Expr) -> str:
        """The operand that holds the value of an expression."""
        match expr:
            # Patterns without fields: taking fields apart in a pattern takes longer than the rest of this function.
            case Const():
                return _constant(expr.value)
            case Var():
                if expr.name in self.slots:
                    return self.temporary(f"load i64, ptr %v.{expr.name}, align 8")
                return self.values[expr.name]
            case Load():
                fixed = ", !invariant.load !0" if expr.pointer in self.invariant else ""
                return self.temporary(f"load i64, ptr {self.address(expr.pointer, expr.index)}, align 8{fixed}")
            case Bin():
                return self.operation(expr.op, self.expr(expr.left), self.expr(expr.right))
            case Select(condition, yes, no):
                bit = self.condition(condition)
                return self.temporary(f"select i1 {bit}, i64 {self.expr(yes)}, i64 {self.expr(no)}")
            case Intrinsic("mix", (word, salt)):
                return self.mix(self.expr(word), self.expr(salt))
            case Intrinsic("popcount", (word,)):
                return self.temporary(f"call i64 @llvm.ctpop.i64(i64 {self.expr(word)})")
            case Intrinsic(_, (word,)):
                return self.temporary(f"call i64 @llvm.cttz.i64(i64 {self.expr(word)}, i1 false)")
            case Matches():
                return self.matches(expr)
            case _:
                raise AssertionError(expr)  # verify has seen the names and numbers of arguments of intrinsics

    def condition(self, expr: Expr) -> str:
        """The i1 that says whether an expression is not 0."""
        operand = self.expr(expr)
        return self.bits.get(operand) or self.temporary(f"icmp ne i64 {operand}, 0")

    def operation(self, op: str, left: str, right: str) -> str:
        """One operation on operands."""
        if op in _COMPARISONS:
            return self.boolean(f"icmp {op} i64 {left}, {right}")
        if op in _BOOLEAN and (first := self.bit(left)) and (second := self.bit(right)):
            return self.boolean(f"{op} i1 {first}, {second}")
        if op in ("shl", "lshr"):
            right = self.amount(right)
        if op in ("udiv", "urem"):
            right = self.divisor(right)
        return self.temporary(f"{op} i64 {left}, {right}")

    def amount(self, operand: str) -> str:
        """The amount of a shift, modulo 64: other amounts are poison to LLVM, and the machine reduces them
        modulo 64.
        """
        if operand.startswith("%"):
            return self.temporary(f"and i64 {operand}, 63")
        return str(int(operand) % 64)

    def divisor(self, operand: str) -> str:
        """A divisor, with 1 for 0: the machine would stop the process at a division by 0."""
        if operand.startswith("%"):
            zero = self.temporary(f"icmp eq i64 {operand}, 0")
            return self.temporary(f"select i1 {zero}, i64 1, i64 {operand}")
        return "1" if operand == "0" else operand

    def boolean(self, instruction: str) -> str:
        """The i64 of an instruction that gives an i1."""
        bit = self.temporary(instruction)
        word = self.temporary(f"zext i1 {bit} to i64")
        self.bits[word] = bit
        return word

    def bit(self, operand: str) -> str | None:
        """The i1 behind an operand that is known to be 0 or 1."""
        return _BITS.get(operand) or self.bits.get(operand)

    def mix(self, word: str, salt: str) -> str:
        """`mixing.mix`."""
        key, swapped = self.keys(salt)
        return self.temporary(f"call i64 {_MIXED}(i64 {word}, i64 {key}, i64 {swapped})")

    def keys(self, salt: str) -> tuple[str, str]:
        """The key that a salt represents, and its swapped form."""
        if not salt.startswith("%"):
            key = (int(salt) * mixing.SALT_FACTOR + mixing.SALT_OFFSET) & mixing.WORD_MASK
            return _constant(key), _constant(mixing.halves_swapped(key))
        scaled = self.temporary(f"mul i64 {salt}, {_constant(mixing.SALT_FACTOR)}")
        operand = self.temporary(f"add i64 {scaled}, {_constant(mixing.SALT_OFFSET)}")
        upper = self.temporary(f"shl i64 {operand}, 32")
        lower = self.temporary(f"lshr i64 {operand}, 32")
        return operand, self.temporary(f"or i64 {upper}, {lower}")


def _symbol(name: str) -> str:
    """The LLVM name of a function."""
    return f"@{symbol(name)}"


@lru_cache(maxsize=4096)  # the same few constants occur many thousand times
def _constant(value: int) -> str:
    """A 64-bit pattern as LLVM writes it, signed."""
    pattern = value & mixing.WORD_MASK
    return str(pattern - (1 << 64) if pattern >> 63 else pattern)
