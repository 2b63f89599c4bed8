"""The kernels of a model: `expand`, `check`, `inside`, `reachable` and their helpers, as one IR module.

`expand(cur, out, limit)` writes every successor of the row at `cur` to `out`, one after another, each as `[length |
action << 32][fingerprint][row]`, and returns their number; -1 if `limit` words may not be enough; -(16 + n) if check n
failed, whereupon the interpreter reports the error. `check(cur)` is a mask of the invariants that fail, `outside(cur)`
of the first constraint that fails, `reachable(cur, wanted)` of the wanted reachable properties that hold, `step(cur,
nxt)` a mask of the action properties that fail; `check_changed` and others answer for the changes of a step
(`read_sets`). `atoms_0(cur)`, ... and `step_atoms_0(cur, nxt)`, ... are masks of the atoms of temporal properties that
hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kmc.actions.abstraction import Abstraction
from kmc.actions.action import Action
from kmc.budget import require_budget
from kmc.compiler.checks.limits import check_fits, check_instances
from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import CallKernel, Const, Expr, Function, If, Let, Module, Return, Stmt, Var
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.lowering import new_lowering
from kmc.compiler.lowering.network_entries import each_deliverable, has_shape, received
from kmc.compiler.passes.fingerprint_128 import functions_128, second_identity
from kmc.compiler.passes.hoist_guards import hoisted
from kmc.compiler.passes.read_sets import answered, only_changed, unless_stuttering
from kmc.compiler.successor.bisimulation_kernels import LABELLED, asked_kernel, bisimulation_functions
from kmc.compiler.successor.images import IMAGE, POSITION_BITS, replaced_by_image
from kmc.compiler.successor.network_kernels import network_functions
from kmc.compiler.successor.writer import Writer, state_value
from kmc.compiler.symmetry.fingerprint_kernels import identity_functions
from kmc.compiler.values.code import Check, Code, Origin
from kmc.compiler.values.keys import key_code, key_value
from kmc.compiler.values.packing import field
from kmc.compiler.values.scope import Scope, definition, python_value, syntax
from kmc.compiler.values.value import Rec, Value
from kmc.errors import SpecError
from kmc.frontend.bisimulation import Bisimulation
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS, Answer, PropertyKind, Role
from kmc.invariants.properties import InvariantPremise, Predicate
from kmc.lang.domains import members
from kmc.lang.types import MessageBagType, MessageSetType, Type
from kmc.runtime.state_layout import RowLayout, row_layout

POINTERS = {1: ("cur",), 2: ("cur", "nxt")}
"""The rows that the kernel of a property has as parameters, by the number of states of the property."""


ATOMS_MAX = 62
"""The number of atoms that a kernel answers for: a mask that is not negative, and below all errors."""


@dataclass(frozen=True, slots=True)
class Atoms:
    """The predicates of temporal properties: of a state, and of a state and its successor.

    They are functions of the spec's files, lambdas and functions inside functions among them.
    """

    of_states: tuple[Callable[..., bool], ...] = ()
    of_steps: tuple[Callable[..., bool], ...] = ()

    def kernels(self, states: int) -> tuple[str, ...]:
        """The names of the kernels that answer for those of so many states; the first for the first `ATOMS_MAX`."""
        name, functions = ("atoms", self.of_states) if states == 1 else ("step_atoms", self.of_steps)
        return tuple(f"{name}_{ordinal}" for ordinal in range(-(-len(functions) // ATOMS_MAX)))


@dataclass(frozen=True, slots=True)
class Kernels:
    """The module, and the checks that its kernels can fail, by number."""

    module: Module
    row: RowLayout
    checks: Sequence[Check]


class _Builder:
    def __init__(self, model: Model, *, instances: bool, wide: bool, with_others: bool) -> None:
        self.model = model
        self.actions = all_actions(model) if with_others else model.spec.actions
        self.instances = instances
        self.wide = wide
        self.numbered = 0
        self.prefix = ""
        self.spec = model.spec
        self.row = row_layout(model.spec.state_class)
        self.checks: list[Check] = []
        self.functions: list[Function] = []

    def lowering(self, path: str) -> Lowering:
        code = Code(path)
        code.checks = self.checks  # numbered across kernels
        return new_lowering(code, self.row)

    def bases(self, low: Lowering, pointer: str) -> None:
        """Emit the offset at which each network's entries begin, and the length of the row."""
        base: Expr = Const(self.row.entries)
        bases = []
        for network, (_, layout) in enumerate(self.row.networks):
            bases.append(base)
            size = x.load(pointer, Const(self.row.counts + network))
            base = low.code.keep(x.add(base, x.binary("mul", size, Const(layout.words))), "base")
        low.bases[pointer] = tuple(bases)
        low.code.emit(Let("length" if pointer == "cur" else "length_nxt", base))

    def state(self, pointer: str) -> Rec:
        return state_value(self.row, self.spec.state_class, pointer)

    def action(self, index: int, action: Action) -> list[str]:
        """The kernels of one action: one, or one per shape of its message."""
        require_budget()
        if action.message is None:
            return [self._plain(index, action)]
        return [self._receiving(index, action, shape) for shape in action.message.shapes]

    def _plain(self, index: int, action: Action) -> str:
        low = self.lowering(action.span.path)
        self.bases(low, "cur")
        self._choose(low, index, action, self.state("cur"), {}, {})
        return self._finish(low, f"{self.prefix}action_{index}", ("limit", "pos", "count"))

    def _choose(
        self,
        low: Lowering,
        index: int,
        action: Action,
        state: Rec,
        message: dict[str, Value],
        arguments: dict[str, Value],
    ) -> None:
        """Lower an action for all values of the parameters that have no argument yet; `message` is what it receives."""
        # Not a function inside of `_plain`: it would hold itself, and thus all kernels until garbage is collected.
        parameter = next((one for one in action.parameters if one.name not in arguments), None)
        if parameter is None:
            self._writer(low, action, state, self._number(low, index, action, arguments))
            self._body(low, action, {**message, **arguments}, state)
            return
        name, declared = parameter.name, parameter.type
        low.code.count_up(
            x.ZERO,
            Const(len(members(declared))),
            lambda i: self._choose(low, index, action, state, message, {**arguments, name: key_value(declared, i)}),
            stem=name,
        )

    def _receiving(self, index: int, action: Action, shape: object) -> str:
        low = self.lowering(action.span.path)
        self.bases(low, "cur")
        state = self.state("cur")
        network = [name for name, _ in self.row.networks].index(action.network or "")
        message = received(low, "cur", network, Var("index"), shape)
        bound = {
            parameter.name: low.kept(field(low.code, message, parameter.message_field, definition(action.function)))
            for parameter in action.parameters
            if parameter.message_field is not None
        }
        first = list(definition(action.function).args.args)[1].arg
        self._choose(low, index, action, state, {first: message}, bound)
        name = f"{self.prefix}action_{index}_{getattr(shape, '__name__', '')}"
        return self._finish(low, name, ("limit", "pos", "count", "index"))

    def _number(self, low: Lowering, index: int, action: Action, arguments: Mapping[str, Value]) -> Expr:
        """The number that records get: the action's, or that of the instance as `instances_of` counts them."""
        if not self.instances:
            return Const(index)
        combined: Expr = x.ZERO
        for parameter in action.parameters:
            code = key_code(low.code, arguments[parameter.name], parameter.type, definition(action.function))
            combined = x.add(x.binary("mul", combined, Const(len(members(parameter.type)))), code)
        return low.code.keep(x.add(Const(self.numbered), combined), "instance")

    def _writer(self, low: Lowering, action: Action, state: Rec, instance: Expr) -> None:
        """Let yields write successors with this number: their images under the abstractions of the action."""
        abstractions = action.abstractions

        def write(lowering: Lowering, value: Value, node: Origin) -> None:
            writer = Writer(lowering, self.row, state, instance, wide=self.wide)
            if not abstractions:
                writer.write(value, node)
                return
            begin = lowering.code.fresh("begin")
            lowering.code.emit(Let(begin, Var("pos")))
            writer.write(value, node, is_whole=False)
            lowering.code.emit(*replaced_by_image(Var(begin), instance, wide=self.wide))

        low.on_yield = write

    def image(self, abstractions: Sequence[Abstraction]) -> None:
        """`image`: the record of the state that stands for the row at `cur`.

        It is one function that all actions call, since copies of it in each of their yields take minutes to compile.
        """
        low = self.lowering(abstractions[0].span.path)
        self.bases(low, "cur")
        state = self.state("cur")

        def write(lowering: Lowering, value: Value, node: Origin) -> None:
            Writer(lowering, self.row, state, Var("number"), wide=self.wide).write(value, node)

        low.each_result([abstraction.function for abstraction in abstractions], state, write)
        low.code.emit(Return(x.binary("or", x.place_at(Var("count"), POSITION_BITS), Var("pos"))))
        readonly = frozenset({"cur"})
        body = hoisted(low.code.statements(), readonly)
        self.functions.append(Function(IMAGE, ("cur", "out"), ("limit", "pos", "count", "number"), body, readonly))

    def _body(self, low: Lowering, action: Action, arguments: dict[str, Value], state: Rec) -> None:
        node = definition(action.function)
        # `init` takes no state.
        taken = {node.args.args[0].arg: state} if node.args.args else {}
        low.run_action(node, {**taken, **arguments}, Scope(action.function.__globals__))

    def _finish(self, low: Lowering, name: str, parameters: tuple[str, ...]) -> str:
        low.code.emit(Return(x.binary("or", x.place_at(Var("count"), POSITION_BITS), Var("pos"))))
        readonly = frozenset({"cur"})
        body = hoisted(low.code.statements(), readonly)
        self.functions.append(Function(name, ("cur", "out"), parameters, body, readonly))
        return name

    def expand(self) -> None:
        """`expand`; and `expand_all` if there are actions beside those of the next-state relation."""
        made: list[tuple[Action, list[str]]] = []
        for index, action in enumerate(self.actions):
            made.append((action, self.action(index, action)))
            self.numbered += len(action.instances()) if self.instances else 0
        self._expand("expand", made[: len(self.spec.actions)])
        if len(made) > len(self.spec.actions):
            self._expand("expand_all", made)

    def _expand(self, function: str, made: list[tuple[Action, list[str]]]) -> None:
        """The kernel that calls those of some actions."""
        plain: list[str] = []
        receiving: dict[tuple[int, object], list[str]] = {}
        for action, names in made:
            if action.message is None:
                plain += names
                continue
            network = [name for name, _ in self.row.networks].index(action.network or "")
            for name, shape in zip(names, action.message.shapes, strict=True):
                receiving.setdefault((network, shape), []).append(name)
        low = self.lowering(function)
        self.bases(low, "cur")
        low.code.emit(Let("pos", x.ZERO), Let("count", x.ZERO))
        for name in plain:
            low.code.emit(*_call_action(name, ()))
        for network, (_, layout) in enumerate(self.row.networks):
            shapes = [shape for net, shape in receiving if net == network]
            if not shapes:
                continue

            def one(index: Expr, network: int = network, layout=layout, shapes=shapes) -> None:  # type: ignore[no-untyped-def]  # bound now
                address = x.add(low.bases["cur"][network], x.binary("mul", index, Const(layout.words)))
                first = low.code.keep(x.load("cur", address), "entry")
                for shape in shapes:
                    calls = [s for name in receiving[network, shape] for s in _call_action(name, (index,))]
                    low.code.branch(has_shape(layout, first, shape), list(calls))

            each_deliverable(low, network, one)
        low.code.emit(Return(Var("count")))
        self.functions.append(Function(function, ("cur", "out"), ("limit",), low.code.statements(), frozenset({"cur"})))

    def predicates(self, kind: PropertyKind, predicates: tuple[Predicate, ...]) -> None:
        """The kernel of a kind. If its result are the properties that hold, it has a mask of the wanted ones as a
        parameter, and evaluates no other.
        """
        name, pointers = kind.kernel, POINTERS[kind.states]
        holding = kind.answer is Answer.HOLDING
        body: list[Stmt] = [Let("mask", x.ZERO)]
        if kind.role is Role.CHECKED and kind.states == 2:
            body.append(unless_stuttering())
        for index, predicate in enumerate(predicates):
            inner = f"{name}_{index}"
            if isinstance(predicate.function, Bisimulation):
                self._bisimulation(inner, predicate.function)
            elif isinstance(predicate, InvariantPremise):
                self._premise(inner, predicate)
            else:
                self._predicate(inner, pointers, predicate.function, predicate.span.path, holding=holding)
            asked = answered(inner, pointers, index)
            body += [If(x.extract(Var("wanted"), index, 1), asked)] if holding else asked
            if kind.answer is Answer.FIRST_FAILING:
                body.append(If(x.negate(x.eq(Var("found"), x.ZERO)), (Return(Var("mask")),)))
        body.append(Return(Var("mask")))
        parameters = ("wanted",) if holding else ()
        self.functions.append(Function(name, pointers, parameters, tuple(body), frozenset(pointers)))

    def _predicate(
        self,
        name: str,
        pointers: tuple[str, ...],
        function: Callable[..., bool],
        path: str,
        *,
        holding: bool,
        answers_errors: bool = True,
    ) -> None:
        """The kernel of one function: whether it is true, or whether it is false."""
        require_budget()
        low = self.lowering(path)
        low.code.answers_errors = answers_errors
        for pointer in pointers:
            self.bases(low, pointer)
        names = [argument.arg for argument in syntax(function).args.args]
        arguments: dict[str, Value] = dict(zip(names, map(self.state, pointers), strict=False))
        captured = getattr(function, "__defaults__", None) or ()
        arguments |= dict(zip(names[len(pointers) :], map(python_value, captured), strict=True))
        truth = low.predicate(function, arguments)
        low.code.emit(Return(truth if holding else x.negate(truth)))
        self.functions.append(Function(name, pointers, (), low.code.statements(), frozenset(pointers)))

    def _premise(self, name: str, premise: InvariantPremise) -> None:
        """The kernel of a premise: 1 if it is true, and 0 if it has no value, since the invariant reports that error.

        A premise that is not compiled counts as true, so that nothing is said about it.
        """
        pointers = POINTERS[1]
        try:
            self._predicate(name, pointers, premise.function, premise.span.path, holding=True, answers_errors=False)
        except SpecError:
            self.functions.append(Function(name, pointers, (), (Return(x.ONE),), frozenset(pointers)))

    def _bisimulation(self, name: str, asked: Bisimulation) -> None:
        """The kernel that fails where something tells a state from its image, and those that it calls."""
        self.image(asked.abstractions)
        for states, predicates in ((1, asked.of_states), (2, asked.of_steps)):
            for index, predicate in enumerate(predicates):
                kernel = asked_kernel(states, index)
                self._predicate(kernel, POINTERS[states], predicate.function, predicate.span.path, holding=True)
        # Permuted members have other labels, so under symmetry steps are compared by their actions.
        outer = self.prefix, self.instances, self.numbered
        self.prefix, self.instances, self.numbered = "labelled_", not self.model.symmetry, 0
        made: list[tuple[Action, list[str]]] = []
        for index, action in enumerate(asked.actions):
            made.append((action, self.action(index, action)))
            self.numbered += len(action.instances()) if self.instances else 0
        self._expand(LABELLED, made)
        self.prefix, self.instances, self.numbered = outer
        self.functions.extend(bisimulation_functions(name, asked, wide=self.wide))

    def atoms(self, atoms: Atoms) -> None:
        """The kernels of atoms: each answers a mask of those that are true, for as many as `ATOMS_MAX`."""
        for states, functions in ((1, atoms.of_states), (2, atoms.of_steps)):
            pointers = POINTERS[states]
            for ordinal, name in enumerate(atoms.kernels(states)):
                body: list[Stmt] = [Let("mask", x.ZERO)]
                for bit, function in enumerate(functions[ordinal * ATOMS_MAX : (ordinal + 1) * ATOMS_MAX]):
                    inner = f"{name}_{bit}"
                    self._predicate(inner, pointers, function, function.__code__.co_filename, holding=True)
                    body += answered(inner, pointers, bit)
                body.append(Return(Var("mask")))
                self.functions.append(Function(name, pointers, (), tuple(body), frozenset(pointers)))


def _call_action(name: str, extra: tuple[Expr, ...]) -> tuple[Stmt, ...]:
    low_bits = x.low_mask(POSITION_BITS)
    return (
        CallKernel("r", name, (("cur", x.ZERO), ("out", x.ZERO)), (Var("limit"), Var("pos"), Var("count"), *extra)),
        If(x.binary("slt", Var("r"), x.ZERO), (Return(Var("r")),)),
        Let("pos", x.binary("and", Var("r"), low_bits)),
        Let("count", x.binary("lshr", Var("r"), Const(POSITION_BITS))),
    )


def has_others(model: Model, atoms: Atoms | None) -> bool:
    """Whether `expand_all` is there."""
    return atoms is not None and bool(model.spec.other_actions)


def all_actions(model: Model) -> tuple[Action, ...]:
    """The actions that temporal properties count: those of the next-state relation, then the others."""
    return (*model.spec.actions, *model.spec.other_actions)


def build_kernels(model: Model, *, instances: bool = False, wide: bool = False, atoms: Atoms | None = None) -> Kernels:
    """The kernels of a model; SpecError at the author's line for code that the compiler does not accept.

    With `instances`, records name the instance of an action (`instances_of`) instead of the action. With `wide`,
    fingerprints have 128 bits, and callers call `expand_128` instead of `expand`, and so on (see
    `passes.fingerprint_128`). With `atoms`, there are kernels for them, and if there are actions beside those of the
    next-state relation, `expand_all` includes these too.
    """
    check_fits(model)
    if instances:
        check_instances(model.spec.actions if atoms is None else all_actions(model))
    builder = _Builder(model, instances=instances, wide=wide, with_others=atoms is not None)
    state_class = model.spec.state_class
    for network, (name, layout) in enumerate(builder.row.networks):
        declared: Type = state_class.fields[name]
        bag = declared if isinstance(declared, MessageBagType) else None
        assert isinstance(declared, MessageSetType | MessageBagType)
        capacity = declared.capacity
        builder.functions.extend(
            network_functions(network, layout, builder.row, capacity, bag.count_max if bag else None, wide=wide)
        )
    if model.spec.abstractions:
        builder.image(model.spec.abstractions)
    identity = identity_functions(model, builder.row)
    builder.functions.extend(identity)
    if wide:
        builder.functions.extend(second_identity(identity))
    builder.expand()
    for kind in KINDS:
        builder.predicates(kind, model.evaluated(kind))
        if kind.role is not Role.BOUNDING:
            builder.functions.extend(only_changed(kind, builder.functions, builder.row, len(model.evaluated(kind))))
    asked = atoms or Atoms()
    builder.atoms(asked)
    if wide:
        forwarded = {name: POINTERS[states] for states in POINTERS for name in asked.kernels(states)}
        builder.functions.extend(
            functions_128(ranked=model.view is not None, further=forwarded, more=has_others(model, atoms))
        )
    return Kernels(Module(tuple(builder.functions)), builder.row, builder.checks)
