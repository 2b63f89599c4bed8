"""`kmc translate`: a TLA+ module as a spec folder of kmc's language."""

from __future__ import annotations

from pathlib import Path

import click

from kmc.amounts import count_in_words
from kmc.cli.options.shared_options import debug_option
from kmc.cli.text.console import show
from kmc.errors import CommandLineError, ExitStatus

_EPILOG = """\b
Examples:
  kmc translate Jugs.tla jugs            Jugs.tla with Jugs.cfg beside it, into ./jugs
  kmc translate Jugs.tla Small.cfg jugs  another model of the module
  kmc check jugs                         check what was written
"""
_LEFT_OUT = {"temporal": "is a temporal property", "initial": "concerns initial states only"}


@click.command("translate", epilog=_EPILOG, short_help="Write a TLA+ module as a spec of kmc's language.")
@click.argument("module")
@click.argument("rest", nargs=-1, required=True, metavar="[CFG] DIR")
@debug_option
def translate(module: str, rest: tuple[str, ...]) -> int:
    """Translate the TLA+ module MODULE, with its model CFG, into the spec folder DIR.

    The types of variables are found by observing states of the model, so the spec is one of this model. A construct
    that kmc's language cannot say is an error at its place in the module. A folder that was edited is not overwritten.
    """
    # Imported here: other commands need nothing of TLA+.
    from kmc.tla.names.loading import load_model
    from kmc.tla.translate.folder import write_folder
    from kmc.tla.translate.translated import translate_model

    *configuration, folder = rest
    if len(configuration) > 1:
        raise CommandLineError("KMC669", "kmc translate is given too many files", help="write MODULE [CFG] DIR")
    model = load_model(Path(module), Path(configuration[0]) if configuration else None)
    translated = translate_model(model)
    write_folder(Path(folder), translated.folder)
    states = count_in_words(translated.observation.states)
    exact = "The types fit all states of the model."
    guessed = f"The types fit the {states} states that were seen, and some more; a check says where one is too small."
    show(
        [
            *(f"Wrote {Path(folder) / name}" for name in translated.folder.files),
            *(f"Left out: {one.title}, which {_LEFT_OUT[one.kind.value]}" for one in translated.parts.left_out),
            exact if translated.observation.is_complete else guessed,
            "",
            f"Check it:  kmc check {folder if Path(folder).is_absolute() else f'./{folder}'}",
        ]
    )
    return ExitStatus.OK
