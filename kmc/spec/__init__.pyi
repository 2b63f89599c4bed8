"""`spec` and the words of temporal formulas as mypy, pyright and editors see them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar, overload

from kmc.lang import MapValue, Message

_T = TypeVar("_T")
_Init = TypeVar("_Init", bound=Callable[[], Iterator[Any]])
_Action = TypeVar("_Action", bound=Callable[..., Iterator[Any]])
_OfState = TypeVar("_OfState", bound=Callable[[Any], bool])
_OfStep = TypeVar("_OfStep", bound=Callable[[Any, Any], bool])
_OfStates = TypeVar("_OfStates", bound=Callable[[Any], Any])
_Majority = TypeVar("_Majority", bound=Callable[..., bool | int])
_OfModel = TypeVar("_OfModel", bound=Callable[[], Formula | bool])
_Names: TypeAlias = Mapping[str, str] | MapValue[str, str]

class Fairness(Enum):
    """The fairness of an action."""

    NONE = "no"
    WEAK = "weak"
    STRONG = "strong"

WEAK: Literal[Fairness.WEAK]
STRONG: Literal[Fairness.STRONG]

class Formula:
    """A temporal formula."""

_Operand: TypeAlias = Formula | Callable[..., Any] | bool

class _Spec:
    def init(self, function: _Init) -> _Init:
        """A generator of the initial states."""

    @overload
    def action(self, function: _Action) -> _Action: ...
    @overload
    def action(
        self, *, fair: Fairness = ..., title: str | None = None, next: bool = True, in_tla: bool = True
    ) -> Callable[[_Action], _Action]:
        """A generator `(state, parameter: Type, ...)` of successors."""

    def receive(
        self,
        message: type[Message],
        *,
        network: str | None = None,
        fair: Fairness = ...,
        title: str | None = None,
        in_tla: bool = True,
        **bindings: str,
    ) -> Callable[[_Action], _Action]:
        """A generator `(state, message, ...)` for each deliverable message; a binding makes a field a parameter."""

    def invariant(self, function: _OfState) -> _OfState:
        """A Bool function of a state that must hold in all of them."""

    def constraint(self, function: _OfState) -> _OfState:
        """A Bool function of a state; states where it is false are checked but not explored."""

    def reachable(self, function: _OfState) -> _OfState:
        """A Bool function of a state that some reachable state must satisfy."""

    def action_property(self, function: _OfStep) -> _OfStep:
        """A Bool function of a state and its successor, TLA+'s [][A]_vars."""

    def action_constraint(self, function: _OfStep) -> _OfStep:
        """A Bool function of a step; steps where it is false are not taken."""

    def abstraction(self, function: _OfStates) -> _OfStates:
        """A function from a state to the state that stands for it, where a model chooses it."""

    def refines(self, abstract: str) -> Callable[[_OfStates], _OfStates]:
        """A function from a state to a state of another spec, whose steps every step must be."""

    def majority(self, function: _Majority) -> _Majority:
        """A helper that defines a majority, so that traces show which members were one."""

    def liveness(self, function: _OfModel) -> _OfModel:
        """A function that returns a temporal formula."""

    def specification(self, function: _OfModel) -> _OfModel:
        """A function that returns the fairness of a specification that a model may name."""

    def assume(self, condition: bool) -> None:
        """TLA+'s ASSUME."""

    def view(self, name: str, drop: Iterable[str]) -> None:
        """States that differ only in the fields `drop` count as one."""

    def symmetry(self, name: str, *classes: type) -> None:
        """A symmetry set: all permutations of the members of each class."""

    def names(self, *, init: str = "Init", next: str = "Next", specifications: Iterable[str] = ...) -> None:
        """The names that a model file uses."""

    def variables(
        self, table: _Names, *, fields: Literal["snake_case", "camelCase"] = "snake_case", message_tag: str = "type"
    ) -> None:
        """The TLA+ variables: `{"currentEpoch": "servers[].current_epoch", "messages": "messages"}`."""

    def columns(self, table: _Names) -> None:
        """The variables of each process that views of a trace show: `{"role": "state"}`, title to TLA+ variable."""

spec: _Spec
NEXT: Formula
FAIR_ACTIONS: Formula

def always(formula: _Operand) -> Formula: ...
def eventually(formula: _Operand) -> Formula: ...
def always_eventually(formula: _Operand) -> Formula: ...
def eventually_always(formula: _Operand) -> Formula: ...
def leads_to(premise: _Operand, goal: _Operand) -> Formula: ...
def and_(*formulas: _Operand) -> Formula: ...
def or_(*formulas: _Operand) -> Formula: ...
def not_(formula: _Operand) -> Formula: ...
def implies(premise: _Operand, conclusion: _Operand) -> Formula: ...
def iff(left: _Operand, right: _Operand) -> Formula: ...
def for_all(values: Iterable[_T], formula: Callable[[_T], _Operand]) -> Formula: ...
def there_exists(values: Iterable[_T], formula: Callable[[_T], _Operand]) -> Formula: ...
def steps(action: Callable[..., Any], *arguments: Any, **named: Any) -> Formula: ...
def enabled(action: _Operand, *arguments: Any, **named: Any) -> Formula: ...
def weak_fairness(action: _Operand, *arguments: Any, **named: Any) -> Formula: ...
def strong_fairness(action: _Operand, *arguments: Any, **named: Any) -> Formula: ...

__all__ = [
    "FAIR_ACTIONS",
    "NEXT",
    "STRONG",
    "WEAK",
    "always",
    "always_eventually",
    "and_",
    "enabled",
    "eventually",
    "eventually_always",
    "for_all",
    "iff",
    "implies",
    "leads_to",
    "not_",
    "or_",
    "spec",
    "steps",
    "strong_fairness",
    "there_exists",
    "weak_fairness",
]
