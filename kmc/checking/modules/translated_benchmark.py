"""The benchmark of a module on the native engine: its translation is measured as a spec of kmc's language is.

A search comes first, which finds types that hold all values of the states that are measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmc.bench.declared import Benchmark
from kmc.bench.measured_runs import Plan, Tell, failing_model, measure, require_memory
from kmc.bench.tlc import Tlc, require_tlc, try_tlc
from kmc.checking.model_choice import choose_bound
from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.native_search import NativeModuleSearch, NativeOptions
from kmc.checking.modules.native_translation import NativeTranslation, TranslationCache
from kmc.checking.surroundings import Surroundings
from kmc.process import usable_cpus
from kmc.result import Limits, Verdict
from kmc.tla.names.library import library_folders


def tlc_of_module(path: Path, configuration: Path | None, class_path: str, seconds: int) -> Tlc:
    """Return how TLC runs a module with its `.cfg` file as it is, for so many seconds at most."""
    folder, *libraries = library_folders(path.resolve(), ())
    return Tlc(class_path, folder, path.stem, seconds, tuple(libraries), configuration)


def measure_translation(path: Path, configuration: Path | None, plan: Plan, tell: Tell) -> dict[str, Any]:
    """Measure the translation of a module, without its temporal properties, reporting each step to `tell`.

    Raises the KmcError of a module that does not load or has no translation, and SystemFault when memory is short, the
    model fails, or a run or TLC fails.
    """
    require_memory(plan.states)
    module = load_runnable_module(ModuleRequest(path, configuration))
    with TemporaryDirectory(prefix="kmc-bench-") as name:
        tell("finding types for its states")
        translation = _settled(replace(module, temporal=()), Path(name), plan.states, tell)
        benchmark = _benchmark(module, translation)
        if plan.tlc is not None:
            require_tlc(plan.tlc, benchmark)
            tell("trying TLC")
            try_tlc(plan.tlc, benchmark)
        checked = (str(path.resolve()), *([] if configuration is None else [str(configuration.resolve())]))
        return {**measure(benchmark, plan, tell, checked), "digest": module.model.digest}


def _settled(module: CheckedModule, folder: Path, states: int, note: Callable[[str], None]) -> NativeTranslation:
    """Return a translation in this folder whose types hold the values of so many states, or of all if these are fewer.

    SystemFault KMC545 where the model fails before.
    """
    cache = TranslationCache(folder, "translation")
    options, around = NativeOptions(usable_cpus()), Surroundings(note=note)
    result = NativeModuleSearch(module, Limits(states=states), options, around=around, cache=cache).run()
    translation = cache.current()
    if result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    if translation is None or result.violation is not None:
        raise failing_model(result.counters.distinct)
    return translation


def _benchmark(module: CheckedModule, translation: NativeTranslation) -> Benchmark:
    """Return the benchmark of the translation of a module."""
    spec, model = module.model.spec.name, module.model.name
    file = choose_bound(translation.root, None, ()).model.file
    title = f"the translation of the TLA+ module {spec}"
    return Benchmark("translated" if model == spec else f"{model}-translated", spec, translation.root, title, file)
