"""`kmc query`: ask the tables of a run in SQL."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kmc.cli.commands.states import require_packages
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.saved.run_place import tables_of
from kmc.cli.text.console import say, show, table
from kmc.errors import ExitStatus

if TYPE_CHECKING:
    from kmc.tables.queries import QueryAnswer

_EPILOG = """\b
Examples:
  kmc query RUN "DESCRIBE states"
  kmc query RUN "SELECT level, count(*) FROM states GROUP BY level ORDER BY level"
  kmc query RUN --json "SELECT count(*) AS states FROM states WHERE len(messages) = 3"
  kmc query RUN --allow-files "COPY (SELECT * FROM states) TO 'states.csv'"

\b
Exit status: 0 answered; 2 there are no tables, or the query is wrong or refused; 153 a package is missing.
"""


@click.command(epilog=_EPILOG, short_help="Ask the tables of a run in SQL.")
@click.argument("run", type=click.Path(file_okay=False))
@click.argument("sql")
@click.option("--allow-files", is_flag=True, help="Let the SQL read and write files, use the network and extensions.")
@json_option
@debug_option
def query(run: str, sql: str, allow_files: bool, as_json: bool) -> int:
    """Answer a query in SQL of the tables that kmc states wrote for RUN: states, levels, parents, edges.

    RUN is the folder of a run, `last` for the newest with tables, or what kmc states --out named. The SQL is DuckDB's.
    It reads these tables and nothing else, unless --allow-files is given.
    """
    require_packages()
    # Imported here, because duckdb takes a tenth of a second.
    from kmc.tables.queries import ask

    answer = ask(tables_of(run), sql, allow_files=allow_files)
    if as_json:
        rows = [dict(zip(answer.columns, map(_plain, row), strict=True)) for row in answer.rows]
        say(json.dumps({"rows": rows}, indent=2, default=str))
    else:
        show(_lines(answer))
    return ExitStatus.OK


def _plain(value: Any) -> Any:
    """Return the value in terms of JSON: keys become texts, and an infinity or NaN becomes its name."""
    match value:
        case dict():
            return {str(key): _plain(held) for key, held in value.items()}
        case list() | tuple():
            return [_plain(held) for held in value]
        case float() if not math.isfinite(value):
            return str(value)
        case _:
            return value


def _lines(answer: QueryAnswer) -> Iterator[str]:
    right = {at for at in range(len(answer.columns)) if any(_is_number(row[at]) for row in answer.rows)}
    rows = (tuple(map(_shown, row)) for row in answer.rows)
    yield from table([answer.columns, *rows], right=frozenset(right), indent=0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case _:
            return str(value)
