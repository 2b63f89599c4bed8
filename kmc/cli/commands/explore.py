"""`kmc explore`: a local page on which a person walks the states of a model."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kmc.checking.model_choice import choose_model
from kmc.cli.modules.module_argument import is_module, is_trace_of_module
from kmc.cli.options.completion import MODEL_TYPE, SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, set_option
from kmc.cli.saved.trace_place import RUN_DIR, trace_place
from kmc.cli.saved.traced_model import model_of_trace
from kmc.cli.text.console import say
from kmc.errors import CommandLineError, ExitStatus, SystemFault
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.install_hint import install_command
from kmc.trace.files import pick, read_trace

if TYPE_CHECKING:
    from kmc.explorer.ground import Ground
    from kmc.explorer.saving import SavingPlace

SAVE_DIR = ".kmc/traces"

_EPILOG = """\b
Examples:
  kmc explore kip_996                       the first model of the spec
  kmc explore kraft restarts --set MaxRestarts=2
  kmc explore --from last                  the newest counterexample
  kmc explore kraft --from trace.itf.json#5
  kmc explore Lease.tla --show 'term - last'   a TLA+ module, with a value in every state

\b
The page is served to this machine alone, at an address that no one can guess.
Ctrl-C ends it.

\b
Exit status: 0 ended by Ctrl-C; 2 wrong command line; 75, 150, 151 as for `kmc check`;
153 a package is missing (pip install 'kraft-model-checker[explore]').
"""


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """The command line of `kmc explore`."""

    spec: str | None
    model: str | None
    sets: tuple[str, ...]
    trace: str | None
    port: int
    browser: bool
    save_dir: str
    run_dir: str
    watched: tuple[str, ...] = ()


@click.command(epilog=_EPILOG, short_help="Walk through the states of a model on a local page.")
@click.argument("spec", type=SPEC_TYPE, required=False)
@click.argument("model", type=MODEL_TYPE, required=False)
@set_option
@click.option(
    "--from",
    "trace",
    metavar="TRACE[#STEP]",
    help="Open at a state of a saved trace: a file, a run's folder, last.",
)
@click.option(
    "--show",
    "watched",
    metavar="EXPR",
    multiple=True,
    help="Show the value of an expression over the state st, or one of TLA+ for a module, along the path. Repeatable.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; by default one that is free.")
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser, or only print its address.")
@click.option(
    "--save-dir",
    metavar="DIR",
    default=SAVE_DIR,
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where traces are saved.",
)
@click.option(
    "--run-dir",
    metavar="DIR",
    default=RUN_DIR,
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where `--from last` looks for runs.",
)
@debug_option
def explore(
    spec: str | None,
    model: str | None,
    sets: tuple[str, ...],
    trace: str | None,
    watched: tuple[str, ...],
    port: int,
    browser: bool,
    save_dir: str,
    run_dir: str,
) -> int:
    """Open a page on which you walk through the states of MODEL: take any step that SPEC allows, go back, branch.

    It shows what can happen in each state and what cannot, and the verdict of every property. Without MODEL, the first
    one of the spec. Without SPEC, that of the trace. SPEC may be a TLA+ module, and MODEL its .cfg file.
    """
    options = ExploreOptions(spec, model, sets, trace, port, browser, save_dir, run_dir, watched)
    _require_packages()
    ground, place = _begun(options)
    _check_expressions(ground)
    # Imported here, because the server takes a third of a second.
    from kmc.explorer.server import ExplorerServer

    server = ExplorerServer(ground, place, options.port)

    def ready(address: str) -> None:
        say(f"Exploring {shlex.join(place.chosen)} at {address}")
        say("Ctrl-C ends it.")
        if options.browser:
            # Imported here, since every command loads this file.
            import webbrowser

            webbrowser.open(address)

    server.run(ready)
    return ExitStatus.OK


def _require_packages() -> None:
    """Raise SystemFault KMC590 for a package of the server that is not installed."""
    from importlib.util import find_spec

    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise SystemFault("KMC590", f"{package} is not installed", help=f"install it: {install_command('explore')}")


def _check_expressions(ground: Ground) -> None:
    """Raise CommandLineError as `kmc eval` for a mistake in an expression that is to be shown."""
    from kmc.explorer.watching import Watching

    Watching(ground.explored, ground.watched)


def _begun(options: ExploreOptions) -> tuple[Ground, SavingPlace]:
    """The model to explore, and what its saved traces need."""
    from kmc.explorer.saving import SavingPlace

    folder = Path(options.save_dir)
    place = None if options.trace is None else trace_place(options.trace, options.run_dir)
    is_of_module = (
        is_module(options.spec) if place is None else is_trace_of_module(read_trace(place.path), options.spec)
    )
    if is_of_module:
        # Imported here, because a spec in Python does not need the layer of TLA+.
        from kmc.cli.modules.exploring import module_to_explore

        ground, words = module_to_explore(options.spec, options.model, options.sets, place, options.watched)
        return ground, SavingPlace(folder, words, _of_trace(words), replays=False)
    ground, words = _ground(options)
    return ground, SavingPlace(folder, words)


def _of_trace(words: tuple[str, ...]) -> tuple[str, ...]:
    """The options of a command on a trace for the module and the `.cfg` file that begin these words."""
    options = zip(("--spec", "--model"), takewhile(lambda word: not word.startswith("--"), words), strict=False)
    return tuple(chain.from_iterable(options))


def _ground(options: ExploreOptions) -> tuple[Ground, tuple[str, ...]]:
    """The model of a spec in Python to explore, and the words that choose its spec and model on a command line."""
    from kmc.explorer.python_specs.opening import ground_at, ground_of

    if options.trace is None:
        if options.spec is None:
            raise CommandLineError(
                "KMC675", "there is nothing to explore", help="name a spec, or give a trace with --from"
            )
        model = _model(options, options.spec)
        return ground_of(model, options.watched), _words(options, options.spec, model)
    file, number = pick(trace_place(options.trace, options.run_dir).where)
    spec = options.spec or file.about.get("spec") or ""
    is_changed = options.model is not None or options.sets
    model = _model(options, spec) if spec and is_changed else model_of_trace(file, options.spec, None)
    return ground_at(model, file, number, options.watched), _words(options, spec, model)


def _model(options: ExploreOptions, spec: str) -> Model:
    """The model that is named, else the default one of `kmc check`, else the first of the manifest."""
    root = find_spec_root(spec)
    manifest = manifest_of(root)
    name = options.model
    if name is None and manifest is not None and len(manifest.entries) > 1 and "smoke" not in manifest.entries:
        name = next(iter(manifest.entries))
    return choose_model(spec, name, options.sets).model


def _words(options: ExploreOptions, spec: str, model: Model) -> tuple[str, ...]:
    manifest = manifest_of(model.spec.root)
    named = options.model or (model.name if manifest is not None and model.name in manifest.entries else None)
    sets = tuple(word for text in options.sets for word in ("--set", text))
    return (spec, *([named] if named else []), *sets)
