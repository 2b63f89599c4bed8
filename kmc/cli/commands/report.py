"""`kmc report`: run the models of a manifest, and write the results to `results/`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from kmc.checking.collision_odds import ODDS_MAX, odds_text
from kmc.checking.model_text import first_line
from kmc.cli.options.completion import SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, resource_options
from kmc.cli.reports.report_records import BOUNDS_OF_THE_MODEL, compared, described, read_records, stale, write_text
from kmc.cli.running.report_runs import RunOptions, run
from kmc.cli.text.console import show, stderr
from kmc.cli.text.progress import StatusLine
from kmc.cli.text.report_text import report_text
from kmc.cli.text.spec_text import loaded
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, ExitStatus
from kmc.frontend.loader import Spec
from kmc.frontend.shipped import find_spec_root, near_miss, shipped_specs
from kmc.invariants.kinds import Role, of_role
from kmc.invariants.properties import Predicate
from kmc.liveness.formulas import TemporalProperty
from kmc.model_files.manifest import Manifest
from kmc.shards.level.sharding import SHARDS_MAX

_EPILOG = """\b
Examples:
  kmc report                              all shipped specs, all models that have no result yet
  kmc report kip_996                      one spec; `--again` for all of its models
  kmc report kip_996 large --shards 4     one model, its states on disk; `--timeout 1h` for what takes long
  kmc report ./my_spec --out reports      your own
  kmc report --render-only                the texts anew, from results measured before

\b
Exit status: 0 all results are as the manifest says; 10 some differ, failed or were cut short (the report says
which); 130 interrupted: finished models are kept.
"""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The command line of `kmc report`."""

    spec: str | None
    models: tuple[str, ...]
    engine: str
    threads: int
    again: bool
    out: str
    timeout: float | None
    memory: int | None
    fingerprint_bits: str
    shards: int | None
    render_only: bool
    quiet: bool

    @property
    def run(self) -> RunOptions:
        """The options with which each model is run."""
        limits = ["--timeout", f"{self.timeout:g}"] if self.timeout is not None else []
        limits += ["--memory", str(self.memory)] if self.memory is not None else []
        interpreted = ("--engine", "python", *limits)
        if self.engine == "python":
            return RunOptions(interpreted, None, self.memory)
        native = ("--engine", "native", "--threads", str(self.threads), *limits)
        if self.shards is not None:
            return RunOptions((*native, "--shards", str(self.shards)), self.fingerprint_bits, in_memory=False)
        return RunOptions(native, self.fingerprint_bits, self.memory, interpreted)


@click.command(epilog=_EPILOG, short_help="Run the models of a spec and write results/SPEC.md and .json.")
@click.argument("spec", type=SPEC_TYPE, required=False)
@click.argument("models", nargs=-1)
@click.option(
    "--engine", type=click.Choice(["python", "native"]), default="native", show_default=True, help="As of kmc check."
)
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), default=1, show_default=True, help="As of check.")
@click.option(
    "--fingerprint-bits",
    type=click.Choice(["auto", "64", "128"]),
    default="auto",
    show_default=True,
    help="As of kmc check; auto: 128 where so many states are expected that 64 may miss one, and memory suffices.",
)
@click.option(
    "--shards",
    metavar="N",
    type=click.IntRange(1, SHARDS_MAX),
    help="As of kmc check: states in files, for models that do not fit in memory.",
)
@click.option("--render-only", is_flag=True, help="Run nothing; write SPEC.md anew from the results that are there.")
@click.option("--again", is_flag=True, help="Also run models that have a result for this version.")
@click.option(
    "--out",
    metavar="DIR",
    default="results",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where SPEC.md and SPEC.json are written.",
)
@resource_options
@click.option("--quiet", is_flag=True, help="No progress.")
@debug_option
@click.pass_obj
def report(words: tuple[str, ...], /, **given: Any) -> int:
    """Check the models, findings and mutants of SPEC, each in a process of its own, and write the results.

    MODELS names some of them; the results of the others are kept. Without MODELS, it runs those without a result
    for this version of spec and model. Without SPEC, it runs every shipped spec.
    """
    options = ReportOptions(**given)
    if options.render_only and (options.models or options.again):
        raise click.UsageError("--render-only runs nothing: give neither MODELS nor --again")
    if options.shards is not None and options.engine == "python":
        raise click.UsageError("--shards needs the native engine: leave out --engine python")
    names = list(shipped_specs()) if options.spec is None else [options.spec]
    statuses = [_report(name, options) for name in names]
    return max(statuses, default=ExitStatus.OK)


def _report(typed: str, options: ReportOptions) -> int:
    spec, manifest = loaded(typed)
    if manifest is None or not manifest.entries:
        raise CommandLineError("KMC614", f"{typed} has no manifest, so there is nothing to run", help="see kmc check")
    path = Path(options.out) / f"{spec.name}.json"
    records = read_records(path)
    outdated = set(stale(manifest.entries, records, find_spec_root(typed)))
    chosen = _chosen(typed, manifest, outdated, options)
    interrupted = False
    try:
        with StatusLine(stderr(), quiet=options.quiet) as line:
            for ordinal, name in enumerate(chosen, start=1):
                line.update(f"Checking {typed} {name} ({ordinal} of {len(chosen)}).")
                records[name] = run(typed, manifest.entries[name], options.run)
                outdated.discard(name)
                _write(path, spec, _kept(manifest, records), outdated)
    except KeyboardInterrupt:
        interrupted = True
    kept = _kept(manifest, records)
    _write(path, spec, kept, outdated)
    show(_last_words(path, chosen, kept))
    if interrupted:
        return ExitStatus.INTERRUPTED
    return ExitStatus.ASSUMPTION if any(_is_off(record) for record in kept.values()) else ExitStatus.OK


def _kept(manifest: Manifest, records: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The records of the models that the manifest still has, in its order, each compared with its expected result
    now.
    """
    return {
        name: compared({**records[name], **described(manifest, file)})
        for name, file in manifest.entries.items()
        if name in records
    }


def _write(path: Path, spec: Spec, kept: Mapping[str, Any], outdated: Collection[str]) -> None:
    write_text(path, json.dumps({"spec": spec.name, "models": kept}, indent=1) + "\n")
    write_text(path.with_suffix(".md"), report_text(spec.name, first_line(spec.doc), kept, _names(spec), outdated))


def _chosen(typed: str, manifest: Manifest, outdated: Collection[str], options: ReportOptions) -> Sequence[str]:
    for name in options.models:
        if name not in manifest.entries:
            help_line = near_miss(name, manifest)
            raise CommandLineError("KMC615", f"the manifest of {typed} has no model '{name}'", help=help_line)
    if options.render_only:
        return ()
    if options.models:
        return options.models
    return [name for name in manifest.entries if options.again or name in outdated]


def _declared(role: Role) -> tuple[type[Predicate], ...]:
    return tuple(kind.declared for kind in of_role(role))


def _names(spec: Spec) -> dict[str, list[str]]:
    properties = spec.properties.values()
    return {
        "properties": [prop.name for prop in properties if isinstance(prop, _declared(Role.CHECKED))],
        "temporal": [prop.name for prop in properties if isinstance(prop, TemporalProperty)],
        "witnessed": [prop.name for prop in properties if isinstance(prop, _declared(Role.WITNESSED))],
        "actions": [action.title for action in spec.actions],
    }


def _is_off(record: Mapping[str, Any]) -> bool:
    return "failed" in record or bool(record["differences"]) or record["bound"] not in BOUNDS_OF_THE_MODEL


def _last_words(path: Path, chosen: Sequence[str], kept: Mapping[str, Any]) -> list[str]:
    off = [name for name, record in kept.items() if _is_off(record)]
    lines = [f"{len(chosen)} run, {len(kept)} in the report: {shown_path(path.with_suffix('.md'))}"]
    lines += [f"Not as the manifest says: {', '.join(off)}"] if off else []
    doubtful = [f"{name} ({odds_text(odds)})" for name, odds in _odds(kept) if odds > ODDS_MAX]
    return [*lines, f"Odds of a missed state: {', '.join(doubtful)}"] if doubtful else lines


def _odds(kept: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    return ((name, record["collision_bound"]) for name, record in kept.items() if "failed" not in record)
