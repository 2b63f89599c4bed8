"""Conformance: does a spec have the same edges as the TLA+ spec?

For every source state of a corpus, the steps of the spec are compared with TLC's as multisets of (action, parameters,
successor), exactly: none is missing, none is extra, and all have the same multiplicity. TLC's side is right by
definition. Before that, every state must decode into the spec's domains and encode into the same text again, so the
mapping of the variables cannot hide a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from kmc.actions.action import Action, Arguments
from kmc.actions.relation import NextStateRelation
from kmc.errors import EvaluationError, KmcError, TraceError
from kmc.frontend.loader import Spec, load_spec
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State
from kmc.lang.tla import Tla, encode, shortened
from kmc.model_files.raw_values import render_assignment
from kmc.reference.conformance.corpus import (
    Corpus,
    Parameters,
    SourceState,
    canonical_text,
    raw_text,
    read_corpus,
    value_of,
)
from kmc.reference.conformance.network_reader import NetworkReader
from kmc.reference.states.differences import Part, differing_parts
from kmc.spec.variables import Variable, check_names, decode_variable, encode_state, encode_variable, state_of_parts

_Step: TypeAlias = tuple[str, Parameters, Any]
"""(title of the action, parameters, successor)."""

CountedStep: TypeAlias = tuple[Action, Arguments, Any, int]
"""(action, arguments, successor, how often TLC would generate it)."""

StepsOf: TypeAlias = Callable[[Any], Iterable[CountedStep]]
"""The steps of a state according to an engine. EvaluationError when an action fails."""


class ComparedSubject(Protocol):
    """What is compared with a corpus: a spec, or a TLA+ module. It knows states that are read from the corpus."""

    @property
    def actions(self) -> Mapping[str, bool]:
        """The actions by title, and whether TLA+ has each."""
        ...

    def state(self, corpus: Corpus, index: int) -> Any:
        """Return a state of the corpus, which must come back as it was; TraceError KMC434 or KMC435."""
        ...

    def steps(self, state: Any) -> Iterable[tuple[str, Parameters, Any, int]]:
        """Enumerate the steps of a state: action, parameters, successor, multiplicity; EvaluationError."""
        ...

    def variables(self, state: Any) -> Mapping[str, Tla]:
        """Return the TLA+ variables of a state."""
        ...

    def order(self, state: Any) -> SortKey:
        """Return the place of a state in display order."""
        ...


def interpreted_steps(spec: Spec) -> StepsOf:
    """The steps of a state by the interpreter."""
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    return lambda state: ((*step, 1) for step in relation.steps(state))


class DifferenceKind(Enum):
    """The kinds of difference between the spec's steps and TLC's."""

    MISSING = "missing"
    """TLC has this step, the spec does not."""
    EXTRA = "extra"
    """The spec has this step, TLC does not."""
    TIMES = "times"
    """Both have this step, with different multiplicities."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A step that differs between the two sides.

    `source` is the number of the source state in the corpus. `parts` are the places in which the successor differs from
    the closest one of the same action on the other side, TLC's on the left; or, if the other side has none left
    (`against_source`), from the source state, which is then shown on the other side.
    """

    source: int
    action: str
    parameters: Parameters
    kind: DifferenceKind
    tlc_times: int
    kmc_times: int
    parts: tuple[Part, ...]
    against_source: bool

    @property
    def label(self) -> str:
        """`RequestVote(i=n1)`, or the action alone where it has no parameters."""
        named = ((f"{name}=" if not name.isdigit() else "", value) for name, value in self.parameters)
        shown = ", ".join(name + value.strip('"') for name, value in named)
        return f"{self.action}({shown})" if shown else self.action


@dataclass(frozen=True, slots=True)
class ActionCount:
    """The corpus's data on one action: source states with a successor, different steps, and steps generated."""

    action: str
    sources: int
    edges: int
    generated: int


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """The outcome of a comparison.

    `sources`, `edges` (different steps of TLC) and `generated` count the compared ones, `sources_total` is the number
    in the corpus. `missing_actions` are in the TLA+ spec only, `extra_actions` in kmc's spec only, though it does not
    say so (`in_tla`); a step of any action that TLC does not have is a difference.
    """

    corpus: Path
    model: str
    constants: str
    sources: int
    sources_total: int
    edges: int
    generated: int
    differences: tuple[Difference, ...]
    missing_actions: tuple[str, ...]
    extra_actions: tuple[str, ...]
    actions: tuple[ActionCount, ...]
    read: Corpus
    """The corpus as it was read, to show its states."""

    @property
    def conforms(self) -> bool:
        """Whether the compared states and steps have no difference."""
        return not (self.differences or self.missing_actions or self.extra_actions)


def conform(
    root: Path,
    corpus: Path,
    *,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    engine: Callable[[Spec], StepsOf] = interpreted_steps,
) -> ConformanceReport:
    """Compare the spec at `root`, with the corpus's constants, with the steps in `corpus`.

    `engine` returns the steps of the spec. Only the first `limit` sources are compared, if given; they are in random
    order. `progress` is called after every source with the number of sources done and their total. Raises TraceError
    for a broken corpus (KMC431 to KMC433) and for a state that is outside the spec's domains (KMC434) or does not come
    back from them unchanged (KMC435); SpecError or ModelError if the spec does not load with these constants;
    EvaluationError if an action fails.
    """
    read = read_corpus(corpus)
    spec = load_spec(root, read.constants)
    return compare(_ComparedSpec(spec, engine(spec)), read, limit=limit, progress=progress)


def compare(
    subject: ComparedSubject,
    read: Corpus,
    *,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ConformanceReport:
    """Compare a subject with the steps of a corpus, as `conform` does with a spec."""
    comparison = _Comparison(subject, read)
    sources = read.sources[:limit]
    for done, source in enumerate(sources, start=1):
        comparison.compare(source)
        if progress is not None:
            progress(done, len(sources))
    if len(sources) == len(read.sources):
        comparison.check_states()
    return comparison.report(len(sources))


class _ComparedSpec:
    """A spec in Python, whose steps an engine computes."""

    def __init__(self, spec: Spec, steps: StepsOf) -> None:
        self._spec = spec
        self._steps = steps
        self._parameters: dict[tuple[str, Arguments], Parameters] = {}
        self._variables = {variable.name: variable for variable in spec.variables.variables}
        # Most variables of a state have the value that they have in others: each value is read once.
        self._parts: dict[tuple[str, str], Any] = {}
        self._networks = NetworkReader(spec.variables.naming)
        self.actions = {action.title: action.in_tla for action in spec.actions}

    def state(self, corpus: Corpus, index: int) -> State:
        where = f"in state {index} of {corpus.path}"
        given = corpus.states[index]
        try:
            check_names(given, self._spec.variables)
            parts = {name: self._part(self._variables[name], raw, where) for name, raw in given.items()}
            return state_of_parts(parts, self._spec.state_class, self._spec.variables)
        except TraceError as error:
            raise (error if where in error.notes else error.noting(where)) from None
        except KmcError as error:
            raise TraceError("KMC434", error.message, None, error.help, (*error.notes, where)) from None

    def _part(self, variable: Variable, raw: Any, where: str) -> Any:
        """Return what a variable says of the state; its value must be encoded as the corpus has it."""
        text = raw_text(raw)
        key = variable.name, text
        if key not in self._parts:
            spec = self._spec
            declared = spec.state_class.fields[variable.field]
            part = None if variable.inner is not None else self._networks.read(declared, raw, text)
            if part is None:
                part = decode_variable(value_of(raw), variable, spec.state_class, spec.variables)
                _check_text(variable.name, text, encode_variable(part, variable, spec.variables), where)
            self._parts[key] = part
        return self._parts[key]

    def steps(self, state: State) -> Iterator[tuple[str, Parameters, State, int]]:
        for action, arguments, successor, times in self._steps(state):
            yield action.title, self._named(action, arguments), successor, times

    def variables(self, state: State) -> Mapping[str, Tla]:
        return encode_state(state, self._spec.variables)

    def order(self, state: State) -> SortKey:
        return sort_key(state)

    def _named(self, action: Action, arguments: Arguments) -> Parameters:
        known = self._parameters.get((action.title, arguments))
        if known is None:
            naming = self._spec.variables.naming
            pairs = zip(action.parameters, arguments, strict=True)
            known = tuple(sorted((p.name, canonical_text(encode(value, naming))) for p, value in pairs))
            self._parameters[action.title, arguments] = known
        return known


class _Comparison:
    """A comparison under way: decoded states, counts and differences so far."""

    def __init__(self, subject: ComparedSubject, corpus: Corpus) -> None:
        self._subject = subject
        self._corpus = corpus
        self._states: dict[int, Any] = {}
        self._differences: list[Difference] = []
        self._sources: Counter[str] = Counter()
        self._edges: Counter[str] = Counter()
        self._generated: Counter[str] = Counter()

    def compare(self, source: SourceState) -> None:
        """Compare the steps of one source."""
        theirs: Counter[_Step] = Counter()
        for edge in source.edges:
            theirs[edge.action, edge.parameters, self._state(edge.state)] += edge.times
        ours = self._our_steps(source.state)
        self._count(theirs)
        self._differences.extend(self._compared(source.state, theirs, ours))

    def check_states(self) -> None:
        """Decode and encode the states that no source has needed."""
        for index in range(len(self._corpus.states)):
            self._state(index)

    def report(self, sources: int) -> ConformanceReport:
        """The outcome so far, of `sources` sources."""
        corpus = self._corpus
        own = self._subject.actions
        listed = dict.fromkeys([*corpus.actions, *self._edges])
        return ConformanceReport(
            corpus=corpus.path,
            model=corpus.model,
            constants=", ".join(render_assignment(given.name, given.value) for given in corpus.constants),
            sources=sources,
            sources_total=len(corpus.sources),
            edges=self._edges.total(),
            generated=self._generated.total(),
            differences=tuple(self._differences),
            missing_actions=tuple(title for title in listed if title not in own),
            extra_actions=tuple(title for title, in_tla in own.items() if in_tla and title not in listed),
            actions=tuple(
                ActionCount(title, self._sources[title], self._edges[title], self._generated[title]) for title in listed
            ),
            read=corpus,
        )

    def _state(self, index: int) -> Any:
        if index not in self._states:
            self._states[index] = self._subject.state(self._corpus, index)
        return self._states[index]

    def _our_steps(self, index: int) -> Counter[_Step]:
        steps: Counter[_Step] = Counter()
        try:
            for title, parameters, successor, times in self._subject.steps(self._state(index)):
                steps[title, parameters if self._corpus.has_parameters else (), successor] += times
        except EvaluationError as error:
            raise error.noting(f"from state {index} of {self._corpus.path}") from error
        return steps

    def _count(self, theirs: Counter[_Step]) -> None:
        self._sources.update({title for title, _, _ in theirs})
        for (title, _, _), times in theirs.items():
            self._edges[title] += 1
            self._generated[title] += times

    def _compared(self, index: int, theirs: Counter[_Step], ours: Counter[_Step]) -> Iterator[Difference]:
        if theirs == ours:
            return
        source = self._state(index)
        missing = [step for step in theirs if step not in ours]
        extra = sorted((step for step in ours if step not in theirs), key=self._display_order)
        for step in theirs:
            if step in ours and theirs[step] != ours[step]:
                yield Difference(index, *step[:2], DifferenceKind.TIMES, theirs[step], ours[step], (), False)
        for step in missing:
            other = self._closest(step, extra)
            parts = self._parts(step[2], source if other is None else other)
            yield Difference(index, *step[:2], DifferenceKind.MISSING, theirs[step], 0, parts, other is None)
        for step in extra:
            other = self._closest(step, missing)
            parts = self._parts(source if other is None else other, step[2])
            yield Difference(index, *step[:2], DifferenceKind.EXTRA, 0, ours[step], parts, other is None)

    def _parts(self, left: Any, right: Any) -> tuple[Part, ...]:
        return differing_parts(self._subject.variables(left), self._subject.variables(right))

    def _display_order(self, step: _Step) -> tuple[Any, ...]:
        title, parameters, successor = step
        return title, parameters, self._subject.order(successor)

    def _closest(self, step: _Step, others: Iterable[_Step]) -> Any:
        """The successor among `others` closest to that of `step`: same action, then parameters, then variables."""
        title, parameters, successor = step
        candidates = [other for other in others if other[0] == title]
        if not candidates:
            return None
        own = self._subject.variables(successor)

        def distance(other: _Step) -> tuple[bool, int]:
            theirs = self._subject.variables(other[2])
            return other[1] != parameters, sum(value != theirs[name] for name, value in own.items())

        return min(candidates, key=distance)[2]


def check_round_trip(given: Mapping[str, Any], encoded: Mapping[str, Tla], where: str) -> None:
    """Raise TraceError KMC435 for a variable that is not encoded as the corpus has it."""
    for name, raw in given.items():
        _check_text(name, raw_text(raw), encoded[name], where)


def _check_text(name: str, wanted: str, encoded: Tla, where: str) -> None:
    actual = canonical_text(encoded)
    if wanted != actual:
        raise TraceError(
            "KMC435",
            f"variable '{name}' does not come back as it was: {shortened(wanted)} becomes {shortened(actual)}",
            help="the spec's table of variables loses or changes something",
            notes=(where,),
        )
