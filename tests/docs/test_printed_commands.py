"""The commands of pages and help are found, and tests/data/wheel/commands.toml names no other.

`make test-wheel` runs them (tests/wheel).
"""

from __future__ import annotations

import re

import pytest
from support.commands.cli_runner import kmc
from support.pages.command_entries import read_entries, shipped_entries
from support.pages.printed_commands import (
    PAGES,
    ROOT,
    PrintedCommand,
    commands_in,
    commands_of_help,
    commands_of_page,
    is_command,
)

from kmc.cli.program import COMMANDS

PRINTED = [command for page in PAGES for command in commands_of_page(page)]
HELP = [command for examples in commands_of_help().values() for command in examples]
PAGE = """
```console
$ kmc check ./my_spec  # a comment
OK my_spec
$ kmc query RUN "
    SELECT 1"
1
```

```text
$ python -m pdb -m kmc check die_hard
(Pdb) c
```

```yaml
      - run: kmc check specs --all
```

```groovy
    sh 'kmc check specs'
```

```python
# $ kmc check never
```

In text: `kmc check kraft upstream`, not `kmc check SPEC`, `kmc check --json`, `kmc check`, or again
`kmc check ./my_spec`.

    kmc plan kip_996 large
    level 3
"""
ENTRIES = """
[stands_for]
RUN = "the newest"

[[entry]]
commands = ["kmc check *"]
status = 12
why = "it shows a violation"

[[entry]]
commands = ["kmc check kraft upstream"]
page = "other.md"
instead = "kmc check kraft upstream --max-depth 3"
why = "it takes minutes"
"""


def test_commands_are_found_in_blocks_jobs_and_texts() -> None:
    assert [(printed.command, printed.typed) for printed in commands_in("page.md", PAGE)] == [
        ("kmc check ./my_spec", ""),
        ('kmc query RUN "\n    SELECT 1"', ""),
        ("python -m pdb -m kmc check die_hard", "c\n"),
        ("kmc check specs --all", ""),
        ("kmc check specs", ""),
        ("kmc plan kip_996 large", ""),
        ("kmc check kraft upstream", ""),
    ]


def test_a_command_is_run_as_printed_unless_an_entry_is_about_it() -> None:
    entries = read_entries(ENTRIES)
    assert entries.run_of(PrintedCommand("page.md", "kmc specs")).command == "kmc specs"
    assert entries.run_of(PrintedCommand("page.md", "kmc trace RUN")).command == "kmc trace the newest"
    assert entries.run_of(PrintedCommand("page.md", "kmc check kraft upstream")).status == 12
    other = entries.run_of(PrintedCommand("other.md", "kmc check kraft upstream"))
    assert (other.command, other.status) == ("kmc check kraft upstream --max-depth 3", 12)


def test_an_entry_that_no_page_prints_is_stale() -> None:
    printed = [PrintedCommand("page.md", "kmc check kraft upstream")]
    assert read_entries(ENTRIES).stale(printed) == ["other.md kmc check kraft upstream", "RUN"]


def test_an_entry_without_a_reason_is_refused() -> None:
    with pytest.raises(KeyError, match="why"):
        read_entries(ENTRIES.replace("why", "# why"))


def test_no_entry_is_stale() -> None:
    assert len(PRINTED) > 120
    assert shipped_entries().stale(PRINTED + HELP) == []


def test_every_command_has_one_way_to_run_it() -> None:
    entries = shipped_entries()
    assert len([printed for printed in PRINTED + HELP if not entries.run_of(printed).not_run]) > 170


def test_every_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    words = [word for item in PRINTED if item.command.startswith("make ") for word in item.command.split()[1:]]
    called = {word for word in words if "=" not in word}
    assert len(called) > 10
    assert called - targets == set()


@pytest.mark.parametrize("page", PAGES)
def test_every_option_that_a_page_gives_to_a_command_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    missing = [
        code
        for code, name in re.findall(r"`(kmc (\w+) [^`]*)`", text)
        if not is_command(code)
        for option in re.findall(r" (--[a-z][a-z-]*)", code)
        if name not in COMMANDS or option not in kmc(name, "--help").stdout
    ]
    assert missing == []
