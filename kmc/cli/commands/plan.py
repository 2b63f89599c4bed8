"""`kmc plan`: the number of states that a model may have, and the resources that a check of it needs."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kmc.amounts import bytes_in_words, seconds_in_words
from kmc.bench.growth import Forecast, forecast
from kmc.bench.job import NATIVE, Request
from kmc.bench.machine import cores
from kmc.bench.processes import run_job
from kmc.checking.memory_need import BESIDES_BYTES, table_bytes
from kmc.checking.model_choice import choose_model
from kmc.checking.unread.savings import Savings, unread_savings
from kmc.cli.modules.module_argument import NATIVE_PLAN_OPTIONS, PLAN_OPTIONS, is_module, refuse_other_options
from kmc.cli.options.completion import MODEL_TYPE, SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, json_option, set_option
from kmc.cli.text.console import say, show, stderr
from kmc.cli.text.progress import StatusLine
from kmc.errors import ExitStatus
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.model_file import render_cfg
from kmc.process import available_bytes
from kmc.unexplained import Unexplained, try_explaining

SAMPLE_STATES = 3_000_000
MODULE_SAMPLE_STATES = 20_000

_CORES = (16, 64)
_SCALING = 0.7
"""The share of linear scaling that is expected on more cores than were measured."""

_ENTRY_BYTES = 8
_KEPT_BYTES = 9
_RUNS_BYTES = 2 * _KEPT_BYTES
"""With the copy that is being written when all runs are merged."""

_WRITTEN_ROWS = 1.6
"""Rows on disk for each state of a level, since refused ones are written too."""

_HISTORY_BYTES = 1 << 28
_MEMORY_SHARE = 0.8

_EPILOG = """\b
Examples:
  kmc plan kip_996 large
  kmc plan kraft two_elections --sample 20000000      a larger sample, a better estimate
  kmc plan kraft standard --set MaxElections=3 --json
  kmc plan Lease.tla                                   a TLA+ module, for the interpreter
  kmc plan Lease.tla --engine native                   its translation: finds its types too

\b
Exit status: 0 an estimate was made, which proves nothing; 2 wrong command line, 150 spec, 151 model file.
"""


@click.command(epilog=_EPILOG, short_help="Estimate how many states a model has, and what a check of it needs.")
@click.argument("spec", type=SPEC_TYPE)
@click.argument("model", type=MODEL_TYPE, required=False)
@set_option
@click.option("--sample", metavar="N", type=click.IntRange(1000),
              help="Explore the first levels until they have N states.  "
                   f"[default: {SAMPLE_STATES}; for the interpreter of TLA+: {MODULE_SAMPLE_STATES}]")  # fmt: skip
@click.option("--engine", type=click.Choice(["python", "native"]),
              help="Of a TLA+ module: the interpreter, or the native engine on its translation.  "
                   "[default: python]")  # fmt: skip
@click.option("--threads", metavar="N", type=click.IntRange(1, 64), help="Threads of the sample; default: all cores.")
@click.option("--unread/--no-unread", "looks_for_unread", default=True, show_default=True,
              help="Look for what nothing reads any more, for ten seconds at most.")  # fmt: skip
@json_option
@click.option("--quiet", is_flag=True, help="No progress.")
@debug_option
@click.pass_context
def plan(context: click.Context, /, **given: Any) -> int:
    """Explore the first levels of MODEL of SPEC, and extrapolate their growth: states, memory, disk and time.

    The output says whether this machine suffices, and names the command to type. It warns of fields and messages
    that no guard and no property reads any more, with what dropping them would save. SPEC may be a TLA+ module, and
    MODEL its .cfg file. With --engine native, the types that hold the values of the sample stay in the cache: a long
    check begins with them.
    """
    if is_module(given["spec"]):
        estimate = _of_module(context, given)
    else:
        if given["engine"] is not None:
            raise click.UsageError("--engine is for TLA+ modules: others are explored by the native engine")
        estimate = _planned({**given, "sample": given["sample"] or SAMPLE_STATES})
    if given["as_json"]:
        say(json.dumps(estimate, indent=2))
    else:
        show(_lines(estimate))
    return ExitStatus.OK


def _of_module(context: click.Context, given: Mapping[str, Any]) -> dict[str, Any]:
    # Imported here, because the plan of a spec in Python does not need the layer of TLA+.
    from kmc.cli.modules import planning

    if given["engine"] != NATIVE:
        refuse_other_options(context, PLAN_OPTIONS)
        return planning.module_estimate(given, given["sample"] or MODULE_SAMPLE_STATES)
    refuse_other_options(context, NATIVE_PLAN_OPTIONS)
    sampled = planning.native_sample(
        given, given["sample"] or SAMPLE_STATES, given["threads"] or cores(), int(available_bytes() * _MEMORY_SHARE)
    )
    return _estimate(sampled.model, sampled.sample, sampled.growth, sampled.threads, sampled.check)


def _planned(given: Mapping[str, Any]) -> dict[str, Any]:
    chosen = choose_model(given["spec"], given["model"], given["sets"])
    model = chosen.model
    threads = given["threads"] or cores()
    with tempfile.TemporaryDirectory(prefix="kmc-plan-") as name, StatusLine(stderr(), quiet=given["quiet"]) as line:
        line.update(f"Exploring up to {given['sample']:,} states of {model.spec.name} {model.name}.")
        folder = Path(name)
        cfg = folder / "model.cfg"
        cfg.write_text(render_cfg(model.file), encoding="utf-8")
        memory = int(available_bytes() * _MEMORY_SHARE)
        root = str(find_spec_root(given["spec"]))
        sample = run_job(Request(root, str(cfg), NATIVE, threads, given["sample"], memory), folder)
        savings: Savings | Unexplained | None = None
        if given["looks_for_unread"]:
            line.update("Looking for what nothing reads any more.")
            savings = try_explaining(lambda: unread_savings(model))
    if isinstance(savings, Unexplained):
        show([f"Warning: {savings.sentence('The search for unread state')}"], stderr())
    # A check of it ends where the sample found a failure, with the same states.
    growth = forecast(sample["levels"], model.max_depth, ended=sample["stopped"] is None or sample["findings"] > 0)
    expected = None
    if not chosen.changes and not growth.is_exact and not sample["findings"]:
        count = (model.file.expect or {}).get("distinct")
        expected = count if isinstance(count, int) else None
    words = [word for text in given["sets"] for word in ("--set", text)]
    check = ["kmc", "check", *filter(None, [given["spec"], given["model"]]), *words]
    unread = asdict(savings) if isinstance(savings, Savings) else None
    return _estimate(model, sample, growth, threads, check, expected, unread)


def _estimate(
    model: Model,
    sample: Mapping[str, Any],
    growth: Forecast,
    threads: int,
    check: list[str],
    expected: int | None = None,
    unread: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The plan of a check on the native engine, from its sample."""
    return {
        "spec": model.spec.name,
        "model": model.name,
        "engine": NATIVE,
        "sample": {
            "states": sample["distinct"],
            "levels": len(sample["levels"]),
            "seconds": round(sample["seconds"], 3),
            "threads": threads,
            "findings": sample["findings"],
        },
        "forecast": asdict(growth),
        **({"integers": sample["integers"]} if "integers" in sample else {}),
        "row_bytes": round(sample["rows_bytes"] / max(1, sample["distinct"]), 1),
        "expected_states": expected,
        "needs": [_needs(states, growth, sample, threads) for states in ([expected] if expected else _ends(growth))],
        "unread": unread,
        "available_memory_bytes": available_bytes(),
        "check": check,
    }


def _ends(growth: Forecast) -> list[int]:
    """The least and the largest number of states that are expected."""
    return sorted({growth.states_low, growth.states_high or growth.states_low})


def _needs(states: int, growth: Forecast, sample: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """The resources that a check of so many states needs."""
    seconds = states * sample["seconds"] / max(1, sample["distinct"])
    row = sample["rows_bytes"] / max(1, sample["distinct"])
    times = {str(threads): seconds}
    times.update({str(n): seconds * threads / (n * _SCALING) for n in _CORES if n > threads})
    return {
        "states": states,
        "memory_bytes": round(table_bytes(states, _ENTRY_BYTES) + 2 * growth.widest * row) + BESIDES_BYTES,
        "disk_bytes": round(states * _RUNS_BYTES + 2 * growth.widest * row * _WRITTEN_ROWS + _HISTORY_BYTES),
        "kept_bytes": states * _KEPT_BYTES,
        "seconds_by_cores": {cores_: round(value, 1) for cores_, value in times.items()},
    }


def _lines(estimate: Mapping[str, Any]) -> Iterator[str]:
    """The plan for a person."""
    sample, growth, needs = estimate["sample"], estimate["forecast"], estimate["needs"]
    yield (
        f"Sample: {sample['states']:,} states in {sample['levels']} levels, "
        f"{seconds_in_words(sample['seconds'])} on {sample['threads']} thread{'s' * (sample['threads'] != 1)}."
    )
    if "integers" in estimate:
        yield f"Integers without bounds: {estimate['integers']} holds those of the sample."
    if sample["findings"]:
        yield (
            f"A failure was found: a check ends there, with these {growth['states_low']:,} states, and shows its "
            f"trace. Nothing is said about the states beyond; with --continue a check explores them too."
        )
    elif growth["is_exact"]:
        yield f"Exact: these are all {growth['states_low']:,} states within the bounds of the model."
    elif growth["states_high"] is None:
        yield f"Estimate: {growth['states_low']:,} states or far more; no end is in sight. Try a larger --sample."
    else:
        levels = _between(growth["levels_low"], growth["levels_high"])
        states = _between(growth["states_low"], growth["states_high"])
        likely, widest = (_between(growth[key], growth[key]) for key in ("states", "widest"))
        yield f"Estimate: {states} states, likely {likely}, in {levels} levels, the widest of some {widest}."
    if estimate["expected_states"]:
        yield f"Known: the manifest expects {estimate['expected_states']:,} states; what follows is for these."
    elif growth["states_high"] is None:
        yield "The figures that follow are for the sample: the model needs more."
    for key, title in (("memory_bytes", "In memory"), ("disk_bytes", "On disk, with --shards")):
        if needs[-1][key] is None:
            continue
        yield f"{title}: {' to '.join(dict.fromkeys(bytes_in_words(need[key]) for need in needs))}."
    for cores_ in needs[-1]["seconds_by_cores"] if not growth["is_exact"] else ():
        times = dict.fromkeys(seconds_in_words(need["seconds_by_cores"][cores_]) for need in needs)
        how = "" if cores_ == str(sample["threads"]) else f", if they scale at {_SCALING:.0%}"
        yield f"On {cores_} core{'s' * (cores_ != '1')}: {' to '.join(times)}{how}."
    if estimate["unread"]:
        yield from _unread_lines(estimate["unread"])
    yield from _advice(estimate)


def _unread_lines(savings: Mapping[str, Any]) -> Iterator[str]:
    """The state that nothing reads any more, and what is left of the first levels without it."""
    first = f"the {savings['states']:,} states of the first {savings['levels']} levels"
    yield f"Unread: no guard and no property reads what follows any more. Of {first} are left"
    for index, saving in enumerate(savings["dropped"]):
        yield f"    {saving['states']:,} {'also ' if index else ''}without {saving['what']}"
    yield "An abstraction drops it, and kmc check --verify-abstractions proves that nothing is lost: docs/models.md."


def _between(low: int, high: int) -> str:
    """Two numbers of an estimate, by their first two digits."""
    rounded = [round(count, 2 - len(str(count))) for count in (low, high)]
    return " to ".join(dict.fromkeys(f"{count:,}" for count in rounded))


def _advice(estimate: Mapping[str, Any]) -> Iterator[str]:
    """Whether this machine suffices, and what to type."""
    words = shlex.join(estimate["check"])
    growth, free, worst = (
        estimate["forecast"],
        estimate["available_memory_bytes"],
        estimate["needs"][-1]["memory_bytes"],
    )
    if worst <= free * _MEMORY_SHARE and (estimate["expected_states"] or growth["states_high"] is not None):
        yield f"This machine suffices ({bytes_in_words(free)} of memory free): {words}"
    elif estimate["engine"] != NATIVE:
        yield f"Memory may not suffice for the interpreter ({bytes_in_words(free)} free): {words} --memory SIZE"
        yield f"The native engine needs some bytes a state, and takes a hundredth of the time: {words} --engine native"
    else:
        yield f"Memory may not suffice ({bytes_in_words(free)} free). With its states on disk: {words} --shards 16"
        yield f"On a cluster: {words} --spark MASTER --run-dir A_FOLDER_THAT_ALL_HOSTS_SEE"
