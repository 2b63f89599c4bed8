"""`kmc trace`: show a saved trace to a person, or write it in another format."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from kmc.checking.counterexample import trace_lines
from kmc.checking.model_choice import first_constants
from kmc.cli.modules.module_argument import is_trace_of_module
from kmc.cli.options.shared_options import color_option, debug_option, run_dir_option, trace_option
from kmc.cli.saved.saved_runs import recorded_model, recorded_spec
from kmc.cli.saved.trace_page import html_option, page_path, write_page
from kmc.cli.saved.trace_place import TracePlace, trace_place
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.explanation import draw_requested_view, report_with_debug
from kmc.cli.text.render_story import styled, text_width
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, ExitStatus, KmcError, did_you_mean
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.cfg import parse_cfg
from kmc.result import Verdict
from kmc.trace.files import pick, read_trace, resolved
from kmc.trace.tlc_views import TLC_VIEWS
from kmc.trace.untyped_trace import TraceFile
from kmc.unexplained import Unexplained, try_explaining
from kmc.views.formats import FORMATS, written

if TYPE_CHECKING:
    from kmc.story.parts.story import Story

_EPILOG = """\b
Examples:
  kmc trace last                         the counterexample of the newest run: one line a step
  kmc trace last#4                       state 4 whole; --changes, --table and --chart show all, --html a page
  kmc trace last --show 'len(st.messages)'   its value along the trace; --show repeats
  kmc trace last --beside OTHER          two traces side by side, from where they part
  kmc trace tlc-dump.json --spec kraft --model restarts   a trace of TLC; --format itf converts it

`kmc check SPEC --from TRACE#5` starts at a state of a trace.
"""

_FLAGS = {"changes": "changes", "full": "states", "table": "table", "chart": "chart"}


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """The command line of `kmc trace`; `view` is one of `--trace`, None for the default or for `--step`."""

    spec: str | None
    model: str | None
    view: str | None
    step: int | None
    output: str
    only: tuple[str, ...]
    hide: tuple[str, ...]
    servers: tuple[str, ...]
    processed: bool
    width: int | None
    prop: str | None
    watch: tuple[str, ...]


def _listed(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given one by one, or several in one option with commas."""
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


@click.command(epilog=_EPILOG, short_help="Show a saved trace, or convert it.")
@click.argument("where", metavar="TRACE")
@click.option("--changes", is_flag=True, help="Show what each step changed, old -> new, received and sent.")
@click.option("--full", is_flag=True, help="Show every state whole.")
@click.option("--step", metavar="N", type=click.IntRange(1), help="Show state N whole, with its changes and messages.")
@click.option("--table", is_flag=True, help="Show a row per step with a column per server.")
@click.option("--chart", is_flag=True, help="Draw the messages between the servers.")
@click.option("--server", "servers", metavar="NAME", multiple=True, callback=_listed,
              help="Show only the steps in which this server takes part. Repeatable, or with commas.")  # fmt: skip
@click.option("--vars", "--only", "only", metavar="NAME", multiple=True, callback=_listed,
              help="Show only this variable. Repeatable, or with commas.")  # fmt: skip
@click.option("--hide", metavar="NAME", multiple=True, callback=_listed, help="Hide this variable. Repeatable.")
@click.option("--processed", is_flag=True, help="Show messages that were processed, too.")
@trace_option
@color_option
@click.option("--format", "output", type=click.Choice(["text", *FORMATS]), default="text", show_default=True,
              help="The format to write.")  # fmt: skip
@click.option("--spec", metavar="SPEC", help="The spec of the trace, where it is not known; TLC's JSON needs it.")
@click.option("--model", metavar="MODEL", help="Take the constants of this model, not those of the trace.")
@click.option("--property", "prop", metavar="NAME", help="Explain why this property fails at the end of the trace.")
@click.option("--show", "watch", metavar="EXPR", multiple=True,
              help="Show the value of an expression over the state st along the trace. Repeatable.")  # fmt: skip
@click.option(
    "--beside",
    metavar="TRACE",
    help="Show another trace of the spec beside it, from where they part; as a page with --html.",
)
@html_option
@run_dir_option
@debug_option
def trace(
    where: str,
    trace_mode: str | None,
    step: int | None,
    run_dir: str,
    output: str,
    spec: str | None,
    model: str | None,
    prop: str | None,
    only: tuple[str, ...],
    hide: tuple[str, ...],
    servers: tuple[str, ...],
    processed: bool,
    width: int | None,
    watch: tuple[str, ...],
    beside: str | None,
    page: str | None,
    **flags: bool,
) -> int:
    """Show the trace in TRACE: why its property fails, one line a step, and the last state.

    TRACE is a file that kmc, TLC (-dumpTrace json) or Apalache (ITF) wrote, the folder of a run, or `last`, the newest
    run with a trace; TRACE#N is its state N. A folder of runs will do where one of them has a trace. A server is any
    process of the spec.
    """
    place = trace_place(where, run_dir)
    view = _chosen_view(flags, trace_mode, step, place)
    file, number = _read(place, step)
    options = TraceOptions(spec, model, view, number, output, only, hide, servers, processed, width, prop, watch)
    _refuse_what_is_of_text(output, page, options)
    if beside is not None:
        if output not in ("text", "html") or view is not None or number is not None:
            raise click.UsageError("--beside is text or a page: leave out views, --step, and formats other than html")
        _show_beside(place, trace_place(beside, run_dir), page, options)
    elif page is not None:
        path = page_path(place.path, page)
        write_page(path, _written("html", place, file, options))
        say(f"Page: {shown_path(path)}")
    elif output != "text" or view in TLC_VIEWS:
        _show_as_recorded(place, file, options)
    else:
        _show_story(place, chosen_variables(file, only, hide), options)
    return ExitStatus.OK


def _show_beside(place: TracePlace, other: TracePlace, page: str | None, options: TraceOptions) -> None:
    """Two traces side by side, where they part: as text, or as a page."""
    from kmc.views.beside import beside_lines
    from kmc.views.page.two_traces import beside_page
    from kmc.views.text_options import TextOptions

    names = shown_path(place.path), shown_path(other.path)

    def draw_page() -> str:
        return beside_page(_story(place, options), _story(other, options), names)

    def draw() -> tuple[Text | str, ...]:
        stories = _story(place, options), _story(other, options)
        chosen = TextOptions(text_width(options.width), options.only, options.servers, options.processed)
        return tuple(styled(beside_lines(*stories, names, chosen)))

    what = "the view '--beside'"
    if page is not None:
        path = page_path(place.path, page, "-beside")
        write_page(path, draw_requested_view(what, draw_page, _PLAIN))
        say(f"Page: {shown_path(path)}")
    elif options.output == "html":
        say(draw_requested_view(what, draw_page, _PLAIN).rstrip("\n"))
    else:
        show(draw_requested_view(what, draw, _PLAIN))


def _chosen_view(flags: dict[str, bool], mode: str | None, step: int | None, place: TracePlace) -> str | None:
    """The one view that is requested; click.UsageError for two of them."""
    asked = {f"--{flag}": _FLAGS[flag] for flag, given in flags.items() if given}
    asked |= {f"--trace {mode}": mode} if mode is not None else {}
    steps = (["--step"] if step is not None else []) + ([f"#{place.step}"] if place.step is not None else [])
    if len(asked) + len(steps) > 1:
        raise click.UsageError(f"{' and '.join([*asked, *steps])} are different views: choose one")
    return next(iter(asked.values()), None)


def _refuse_what_is_of_text(output: str, page: str | None, options: TraceOptions) -> None:
    """Raise click.UsageError if a page or a format is requested with options that have no effect on it."""
    if page is None and output == "text":
        if options.prop is not None and options.view in TLC_VIEWS:
            raise click.UsageError(f"--trace {options.view} shows the trace as it was recorded: leave out --property")
        if options.watch and options.view in TLC_VIEWS:
            raise click.UsageError(f"--trace {options.view} shows the trace as it was recorded: leave out --show")
        return
    if page is not None and output not in ("text", "html"):
        raise click.UsageError(f"--html and --format {output} are different formats: choose one")
    name = "html" if page is not None else output
    given = {
        f"the view '{options.view}'": options.view is not None,
        "a single state": options.step is not None,
        "--server": bool(options.servers),
        "--processed": options.processed,
        "--width": options.width is not None,
        "--vars and --hide": bool(options.only or options.hide) and not FORMATS[name].of_file,
        "--show": bool(options.watch) and FORMATS[name].of_file,
        "--property": options.prop is not None and FORMATS[name].of_file,
    }
    if any(given.values()):
        unheeded = " and ".join(option for option, is_given in given.items() if is_given)
        raise click.UsageError(f"the format '{name}' shows the whole trace: leave out {unheeded}")


def _read(place: TracePlace, step: int | None) -> tuple[TraceFile, int | None]:
    """The trace, and the step that is to be shown. Raises TraceError as `kmc.trace.files.pick`."""
    typed = place.step if step is None else str(step)
    if typed is None:
        return read_trace(place.path), None
    return pick(TracePlace(place.path, typed).where)


def _show_as_recorded(place: TracePlace, file: TraceFile, options: TraceOptions) -> None:
    """The trace in a format, or in TLC's style."""
    has_spec = options.spec is not None or options.model is not None
    if has_spec and not is_trace_of_module(file, options.spec):
        file = resolved(file, _spec_of(place, file, options))
    file = chosen_variables(file, options.only, options.hide)
    if options.output != "text":
        say(_written(options.output, place, without_the_others(file), options).rstrip("\n"))
        return
    show([_heading(file)])
    show(styled(trace_lines(file, changed_only=options.view == "tlc-changes")))


_PLAIN = "--trace tlc shows it plain, and --format itf writes it"


def _written(name: str, place: TracePlace, file: TraceFile, options: TraceOptions) -> str:
    """The trace in a format. Raises InternalError KMC936 where a mistake in kmc keeps it from being drawn."""
    if FORMATS[name].of_file:
        return written(name, file, lambda: _story(place, options))
    what = f"the format '{name}'"
    return draw_requested_view(what, lambda: written(name, file, lambda: _story(place, options)), _PLAIN)


def _show_story(place: TracePlace, chosen: TraceFile, options: TraceOptions) -> None:
    """The trace in a view for people; if no view was requested and the story fails, the trace as it was recorded."""

    def draw() -> tuple[Text | str, ...]:
        return tuple(_story_lines(place, chosen, options))

    if options.view is not None or options.step is not None or options.prop is not None or options.watch:
        what = f"the view '{options.view}'" if options.view is not None else "the explanation"
        show(draw_requested_view(what, draw, _PLAIN))
        return
    drawn = try_explaining(draw, passing=(KmcError,))
    if not isinstance(drawn, Unexplained):
        show(drawn)
        return
    if "--debug" in (click.get_current_context().find_root().obj or ()):
        show([drawn.text], stderr())
    show([_heading(chosen), *styled(trace_lines(chosen, changed_only=False)), ""])
    show([f"Warning: {drawn.warning(report_with_debug())}"])


def _story_lines(place: TracePlace, chosen: TraceFile, options: TraceOptions) -> Iterator[Text | str]:
    """The trace in a view for people."""
    # Imported here: other commands need no views.
    from kmc.views.text_options import TextOptions
    from kmc.views.text_view import text_step, text_view

    story = _story(place, options)
    for name in options.servers:
        if name not in story.lanes:
            raise CommandLineError("KMC667", f"the trace has no server '{name}'", help=did_you_mean(name, story.lanes))
    variables = (*story.watched, *chosen.variables) if options.only or options.hide else ()
    shown = TextOptions(text_width(options.width), variables, options.servers, options.processed)
    yield _heading(replace(chosen, about=story.about) if options.prop is not None else chosen)
    yield ""
    if options.step is not None:
        yield from styled(text_step(story, options.step, shown))
    else:
        yield from styled(text_view(story, options.view or "steps", shown))


def _story(place: TracePlace, options: TraceOptions) -> Story:
    # Imported here: only the views that are drawn from a story need the interpreter.
    from kmc.cli.saved.traced_story import story_at, watching

    file, folder = read_trace(place.path), place.path.parent
    # TLC's JSON does not say what it is a trace of, but the run beside it does.
    file = replace(file, about={**recorded_model(folder), **file.about})
    if is_trace_of_module(file, options.spec):
        return _story_of_module(place, file, options)
    story = story_at(file, options.spec, options.model, recorded_spec(folder), options.prop)
    if options.watch:
        story = watching(story, file, options.spec or recorded_spec(folder), options.model, options.watch)
    return replace(story, commands=_commands(story, place.path, options.model)) if story.spec_word else story


def _story_of_module(place: TracePlace, file: TraceFile, options: TraceOptions) -> Story:
    """The story of a trace of a TLA+ module, from the file alone but for the expressions that are watched."""
    from kmc.story.from_file import story_of_file

    if options.prop is not None:
        raise click.UsageError("--property explains a property of a spec in Python: leave it out for a TLA+ module")
    story = replace(story_of_file(file), notes=())
    if not options.watch:
        return story
    from kmc.cli.modules.traced import watched_values
    from kmc.story.watched import NO_VALUE, with_values

    known = watched_values(place, options.spec, options.model, options.watch)
    shown = [{text: NO_VALUE if value is None else value for text, value in values.items()} for values in known]
    return with_values(story, tuple(known[0]), shown)


def _commands(story: Story, path: Path, model: str | None) -> tuple[str, ...]:
    """The commands that replay this trace, and that walk on from it."""
    from kmc.cli.text.conclusion import explore_command

    chosen = ["--spec", story.spec_word, *(["--model", model] if model is not None else [])]
    return shlex.join(["kmc", "replay", shown_path(path), *chosen]), explore_command(story.spec_word, path)


def _spec_of(place: TracePlace, file: TraceFile, options: TraceOptions) -> Spec:
    """The spec with the constants of the given model, else with those that the trace names, or the first model has."""
    if options.spec is None or options.model is not None:
        # Imported here, as below.
        from kmc.cli.saved.traced_model import model_of_trace

        return model_of_trace(file, options.spec or recorded_spec(place.path.parent), options.model).spec
    root = find_spec_root(options.spec)
    constants = file.about.get("constants") if file.about.get("spec") == root.stem else None
    assignments = parse_cfg(constants, file.shown_path).constants if constants else first_constants(root)
    return load_spec(root, assignments, allow_missing=True)


def chosen_variables(file: TraceFile, only: Sequence[str], hide: Sequence[str]) -> TraceFile:
    """The trace with the variables `only` (all if empty) except `hide`; CommandLineError if there are none (KMC604,
    KMC608).

    Its steps keep the hidden variables, so that a step that changes only these is not shown as stuttering.
    """
    for name in (*only, *hide):
        if name not in file.variables:
            raise CommandLineError(
                "KMC604", f"the trace has no variable '{name}'", help=did_you_mean(name, file.variables)
            )
    kept = tuple(name for name in file.variables if (not only or name in only) and name not in hide)
    if not kept:
        raise CommandLineError("KMC608", "no variable is left to show", help="hide fewer variables")
    return replace(file, variables=kept)


def without_the_others(file: TraceFile) -> TraceFile:
    """The trace whose steps have the variables that it names, and no others."""
    steps = tuple(replace(s, variables={name: s.variables[name] for name in file.variables}) for s in file.steps)
    return replace(file, steps=steps)


def _heading(file: TraceFile) -> str:
    about = file.about
    phrases = [f"Trace of {about['spec']}" if "spec" in about else "Trace"]
    phrases += [f"model {about['model']}"] if "model" in about else []
    # A lasso violates its property as an invariant's trace does; the lines below say that it is a lasso.
    status = "violation" if about.get("status") == Verdict.LIVENESS.value else about.get("status")
    phrases += [status + (f" of {about['property']}" if "property" in about else "")] if status else []
    return f"{', '.join(phrases)}: {len(file.steps)} state{'' if len(file.steps) == 1 else 's'}."
