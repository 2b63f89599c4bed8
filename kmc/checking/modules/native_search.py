"""A module searched on the native engine: translated, checked as a spec of kmc's language, read back as the module.

Invariant: the figures are the interpreter's. A translation whose types turn out too narrow ends in a restart with wider
ones, never in another count; a failure is shown with states and errors of the module, and replayed by its formulas.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kmc.budget import BudgetSpent, require_budget, within_budget
from kmc.cache_folder import cache_folder
from kmc.checking.model_choice import changed, choose_bound
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_search import ModuleSearch
from kmc.checking.modules.module_text import state_line
from kmc.checking.modules.native_temporal import NativeTemporal
from kmc.checking.modules.native_translation import (
    NOT_WIDENED,
    NativeTranslation,
    TranslationCache,
    Widening,
    files_of,
    translate_for_native,
    translation_key,
)
from kmc.checking.modules.native_violation import NotInModule, not_in_module, violation_in_module
from kmc.checking.search_place import InMemory, SearchPlace
from kmc.checking.surroundings import Surroundings
from kmc.errors import EvaluationError, InternalError, InvariantError, Span, SpecError
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS, Role
from kmc.memory_limit import refuse_low_limit
from kmc.process import available_bytes, memory_bytes
from kmc.reference.diagnose import FailingState
from kmc.result import Limits, PropertyVerdict, Result
from kmc.tla.shapes.observation import ObservedExtent, Sample, sampled
from kmc.tla.shapes.refusal import refusal
from kmc.tla.translate.translator import model_place

if TYPE_CHECKING:
    from kmc.engine.files.run_directory import RunDirectory

EXTENT = ObservedExtent()
_BITS_MAX = 11
_BEYOND_TYPES = frozenset(("KMC921",))
"""The code of a check that only compiled code has: a value that no state keeps, such as one that is compared, may be
outside of the type of a variable."""
_STATES_MAX = 100_000
_SHARE_OF_MACHINE = 0.75
"""The share of the available memory that translating and compiling may use where no limit is given."""


@dataclass(frozen=True, slots=True)
class NativeOptions:
    """Settings of the native engine: threads, bits of a fingerprint, the text of the model, which keys the cache, and
    where the states are.
    """

    threads: int = 1
    fingerprint_bits: Literal[64, 128] = 64
    configuration: tuple[str, ...] = ()
    place: SearchPlace = field(default_factory=InMemory)


@dataclass(slots=True)
class NativeModuleSearch:
    """One check of a module on the native engine; `cache` keeps its translations, by default the one of this user.

    `preparing` are further limits on seconds and bytes until a search begins: each translation has these anew.
    """

    module: CheckedModule
    limits: Limits
    options: NativeOptions
    keep_going: bool = False
    around: Surroundings = field(default_factory=Surroundings)
    cache: TranslationCache | None = None
    preparing: Limits = field(default_factory=Limits)
    _began: float = field(default_factory=time.monotonic)
    _temporal: NativeTemporal = field(default_factory=NativeTemporal)
    _directory: RunDirectory | None = None
    _sample: Sample | None = None

    def run(self) -> Result:
        """Explore until done, a violation, a limit or Ctrl-C; SpecError KMC812 for what cannot be translated."""
        try:
            with self._budget():
                self._temporal = NativeTemporal.of(self.module)
                breaks_initially = self._breaks_initially()
            if breaks_initially:
                # The interpreter ends such a search at its first level.
                return ModuleSearch(
                    self.module, self.limits, keep_going=self.keep_going, progress=self.around.progress
                ).run()
            kept = None if self.cache is None else nullcontext(self.cache)
            with kept or _cache(self.module, self.options.configuration, self._temporal.texts) as cache:
                return self._searched(cache)
        except BudgetSpent as spent:
            return self._unsearched(spent)

    def _seconds_left(self) -> float | None:
        seconds = self.limits.seconds
        return None if seconds is None else max(0.0, seconds - (time.monotonic() - self._began))

    def _until_search(self) -> Limits:
        """Return the limits on seconds and bytes until a search begins, by default a share of the machine's memory."""
        seconds = [one for one in (self._seconds_left(), self.preparing.seconds) if one is not None]
        bytes_max = self.preparing.memory_bytes or self.limits.memory_bytes
        free = memory_bytes() + int(available_bytes() * _SHARE_OF_MACHINE)
        return Limits(seconds=min(seconds, default=None), memory_bytes=free if bytes_max is None else bytes_max)

    def _budget(self) -> AbstractContextManager[None]:
        limits = self._until_search()
        return within_budget(limits.seconds, limits.memory_bytes)

    def _unsearched(self, spent: BudgetSpent) -> Result:
        """Return the result of a check whose budget was spent before its search began."""
        from kmc.engine.unsearched import unsearched

        passed = time.monotonic() - self._began
        result = unsearched(self.module.model, "native", passed, self.options.fingerprint_bits, spent)
        return replace(
            result, properties=tuple(PropertyVerdict(name, "not checked") for name in self.module.property_names)
        )

    def _breaks_initially(self) -> bool:
        """Return whether a part of a property that concerns initial states only is false or fails in one of them."""
        parts = [part for part in self.module.of_states if part.is_initial]
        if not parts:
            return False
        initial = self.module.initial_states(require_budget)
        try:
            return not all(part.is_true(state) for state in initial for part in parts)
        except InvariantError:
            return True

    def _searched(self, cache: TranslationCache) -> Result:
        self._directory = self.around.open_directory()
        try:
            translation = self._saved(cache) or cache.current() or self._translated(cache, NOT_WIDENED)
            return self._widened_until_it_fits(cache, translation, Widening(translation.widening))
        except SpecError as refused:
            widening = Widening(refused=refused)
            try:
                return self._widened_until_it_fits(cache, self._translated(cache, widening), widening)
            except SpecError:
                raise refused from None

    def _saved(self, cache: TranslationCache) -> NativeTranslation | None:
        """Return the translation that a resumed run was begun with; None for a run that begins."""
        directory = self._directory
        if directory is None or not directory.resumed:
            return None
        if not directory.manifest.levels:
            directory.restart()  # the run was stopped before its search had begun with the translation that is there
        data = directory.translation
        return None if data is None else cache.unpacked(data, files_of(self.module.program))

    def _translated(self, cache: TranslationCache, widening: Widening) -> NativeTranslation:
        with self._budget():
            if self._sample is None:
                self._sample = sampled(self.module.program, EXTENT, require_budget)
            return translate_for_native(self.module.program, cache, widening, self._sample, self._temporal.atoms)

    def _widened_until_it_fits(
        self, cache: TranslationCache, translation: NativeTranslation, widening: Widening
    ) -> Result:
        while True:
            try:
                if self._directory is not None and not self._directory.resumed:
                    self._directory.save_translation(cache.packed(translation))
                return self._attempt(cache, translation)
            except NotInModule as failure:
                narrow = failure
            place = translation.place(narrow.error.span)
            where = "" if place is None else f"{Path(place.path).name}:{place.line}: "
            if len(widening.states) > _STATES_MAX or widening.bits > _BITS_MAX:
                what = f"values that keep outgrowing the types of earlier ones ({narrow.error.message})"
                raise refusal(what, place or model_place(self.module.program.model)) from narrow
            widening = replace(widening, bits=widening.bits + 1, states=(*widening.states, *narrow.states))
            self.around.note(f"{where}{narrow.error.message}; the search starts again with wider types.")
            if self._directory is not None:
                self._directory.restart()
            translation = self._translated(cache, widening)

    def _attempt(self, cache: TranslationCache, translation: NativeTranslation) -> Result:
        """Check a translation; NotInModule where it fails and the module does not."""
        try:
            model = self._model(translation)
            result = self._checked(model, translation, cache)
            if result.has_late_errors:
                self._explain_late_error(model, translation)
        except SpecError as error:
            raise _refused(error, translation, model_place(self.module.program.model)) from error
        except EvaluationError as error:
            found = self._in_words_of_module(error, translation)
            if isinstance(found, NotInModule) or self.keep_going:
                raise found from error
            result = self._without_temporal(model, translation)
            if result.violation is None:
                raise found from error
        except InternalError as error:
            if error.code not in _BEYOND_TYPES:
                raise
            raise NotInModule(error, ()) from error
        return self._in_module(result, translation)

    def _without_temporal(self, model: Model, translation: NativeTranslation) -> Result:
        """Search for what the search of a module finds before its temporal formulas, one of which has no value."""
        result = self._checked(replace(model, temporal=()), translation, None)
        unchecked = (PropertyVerdict(part.title, "not checked", is_temporal=True) for part in self.module.temporal)
        return replace(result, properties=(*result.properties, *unchecked))

    def _explain_late_error(self, model: Model, translation: NativeTranslation) -> None:
        """Raise NotInModule for an action that failed behind the first violation, and SpecError KMC812 for all else.

        --continue shows the first violation only, but a state in which a type was too narrow has lost its steps.
        """
        nothing: dict[str, Any] = {kind.field: () for kind in KINDS if kind.role is not Role.BOUNDING}
        unjudged = replace(model, **nothing, temporal=(), deadlock=False)
        violation = self._checked(unjudged, translation, None).violation
        if violation is not None:
            violation_in_module(self.module, violation, translation, self._temporal)
        place = model_place(self.module.program.model)
        raise refusal("evaluations that fail behind the first violation, which --continue goes on from", place)

    def _in_words_of_module(self, error: EvaluationError, translation: NativeTranslation) -> Exception:
        """Return the error of the module for one in initial states or temporal formulas: others are in a result."""
        if not isinstance(error.__cause__, FailingState):
            return not_in_module(error, self.module.initial_states(), translation)
        state = translation.decoder.state(error.__cause__.state)
        own = self._temporal.error_at(self.module, state)
        if own is not None:
            return own
        around = (state, *(step.state for step in self.module.program.successors(state)))
        return not_in_module(error, around, translation)

    def _model(self, translation: NativeTranslation) -> Model:
        with self._budget():
            model = changed(choose_bound(translation.root, None, ()).model, self.module.model.deadlock, None)
        return replace(model, temporal=self.module.model.temporal)

    def _checked(self, model: Model, translation: NativeTranslation, cache: TranslationCache | None) -> Result:
        """Search a model that has been compared with the module, or that the cache says was; without a cache, search
        one without properties up to the first error.
        """
        judges = cache is not None
        # Imported here, because numpy and the compiler take a third of a second.
        from kmc.checking.modules.native_comparison import compare_with_module
        from kmc.engine.check_model import check_native, nothing_before
        from kmc.engine.layout.search_outcome import Settings

        if self.limits.memory_bytes is not None:
            refuse_low_limit(self.limits.memory_bytes, 0)
        problem = self._temporal.of_spec(
            model, lambda state: state_line(self.module.program, translation.decoder.state(state))
        )
        before_search = nothing_before
        if cache is not None:
            before_search = partial(compare_with_module, cache, self.module, translation, self._temporal)
        place = self.options.place if judges else InMemory()
        with place.opened(self.around.note) as search_of:
            return check_native(
                model,
                replace(self.limits, seconds=self._seconds_left()),
                threads=self.options.threads,
                keep_going=self.keep_going and judges,
                progress=self.around.progress,
                settings=Settings(save_seconds=self.around.save_seconds),
                fingerprint_bits=self.options.fingerprint_bits,
                directory=self._directory if judges else None,
                search_of=search_of,
                problem=problem if judges else None,
                note=self.around.note,
                before_search=before_search,
                preparing=self._until_search(),
            )

    def _in_module(self, result: Result, translation: NativeTranslation) -> Result:
        """Return the result in the names of the module."""
        violation = None
        if result.violation is not None:
            violation = violation_in_module(self.module, result.violation, translation, self._temporal)
        temporal = {part.property_name for part in self.module.temporal}
        generated = Counter(dict.fromkeys(self.module.program.action_names, 0))
        for title, count in result.generated_by_action.items():
            generated[translation.original(title)] += count
        return replace(
            result,
            violation=violation,
            verdict=violation.verdict if violation is not None else result.verdict,
            generated_by_action=dict(generated),
            never_fired=tuple(name for name, count in generated.items() if not count),
            properties=tuple(self._verdicts(result, translation)),
            unreached=(),
            vacuous=tuple(one for one in result.vacuous if one.is_of_all or one.name in temporal),
            warnings=(),
        )

    def _verdicts(self, result: Result, translation: NativeTranslation) -> Iterator[PropertyVerdict]:
        """Yield the verdict on each property: violated where one of its parts is."""
        temporal = {part.title: part.property_name for part in self.module.temporal}
        found = [
            (temporal.get(one.name, one.name) if one.is_temporal else translation.original(one.name), one)
            for one in result.properties
        ]
        for name in self.module.property_names:
            parts = [one for original, one in found if original == name]
            count = sum(one.violations for one in parts)
            open_verdicts = [one.verdict for one in parts if one.verdict not in ("holds", "violated")]
            verdict = "violated" if count else open_verdicts[0] if open_verdicts else "holds"
            yield PropertyVerdict(name, verdict, count, is_temporal=name in temporal.values())


def _refused(error: SpecError, translation: NativeTranslation, module: Span) -> SpecError:
    """Return the refusal of a construct whose translation kmc refuses, at its place in the module."""
    place = translation.place(error.span)
    what = "this construct" if place is not None else "the values of a variable"
    return refusal(what, place or module).noting(f"its translation is refused: {error.message}")


@contextmanager
def _cache(
    module: CheckedModule, configuration: tuple[str, ...], temporal: tuple[str, ...]
) -> Iterator[TranslationCache]:
    """Yield the cache of a module's translations; a folder of this check where none can be kept."""
    key = translation_key(module.program, configuration, temporal)
    wherever = translation_key(module.program, configuration, temporal, has_paths=False)
    kept = cache_folder()
    if kept is not None and _is_writable(kept / "modules"):
        yield TranslationCache(kept / "modules", key, wherever)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield TranslationCache(Path(folder), key, wherever)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
