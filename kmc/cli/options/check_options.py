"""The command line of `kmc check`, and the request that it makes."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import click

from kmc.checking.model_choice import AbstractionChoice, ChosenModel
from kmc.checking.request import Acceptance, CheckRequest, Engine
from kmc.checking.search_place import SearchPlace
from kmc.lang.records import State
from kmc.result import Limits


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The command line of `kmc check`; `words` are the words typed after `kmc`.

    `hands_over` is whether the interpreter of TLA+ hands a model that turns out to be large to the native engine.
    """

    spec: str
    model: str | None
    engine: str
    threads: int | None
    shards: int | None
    processes: int | None
    keep_states: bool
    spark: str | None
    exchange: str | None
    thin_rows: int | None
    spark_settings: tuple[str, ...]
    storage: str | None
    storage_cache: int
    fingerprint_bits: str
    sets: tuple[str, ...]
    max_depth: int | None
    max_states: int | None
    timeout: float | None
    memory: int | None
    bounded_ok: bool
    deadlock: bool | None
    abstractions: tuple[str, ...]
    no_abstractions: bool
    verify_abstractions: bool
    keep_going: bool
    strict: bool
    expect: bool
    as_json: bool
    output: str
    junit: str | None
    start: str | None
    trace_mode: str | None
    width: int | None
    run_dir: str
    no_run_dir: bool
    resume: str | None
    save_every: float
    quiet: bool
    levels: bool | None
    words: tuple[str, ...]
    hands_over: bool = False

    @property
    def limits(self) -> Limits:
        """The limits of the search."""
        return Limits(self.max_depth, self.max_states, self.timeout, self.memory)

    @property
    def abstraction_choice(self) -> AbstractionChoice:
        """The abstractions to use; UsageError for one together with --no-abstractions."""
        if self.abstractions and self.no_abstractions:
            raise click.UsageError("--no-abstractions uses none: leave out --abstraction")
        chosen = self.abstractions or (() if self.no_abstractions else None)
        return AbstractionChoice(chosen, self.verify_abstractions)

    def request(self, chosen: ChosenModel, place: SearchPlace, start: State, began: float) -> CheckRequest:
        """The check of a model that this command line requests, from the model's own first state if `start` is None."""
        return CheckRequest(
            chosen,
            self.limits,
            Engine(self.engine),
            self.threads,
            128 if self.fingerprint_bits == "128" else 64,
            place,
            start,
            self.start,
            self.keep_going,
            Acceptance(self.bounded_ok, self.strict, self.expect),
            wider=shlex.join(["kmc", *self.words, "--fingerprint-bits", "128"]),
            began=began,
        )
