"""What runs elsewhere is what runs here: hosted jobs call targets of the Makefile, and the site has every page."""

from __future__ import annotations

import re

import yaml
from support.source_tree import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SITE = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
INDEX = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
PAGES = {path.name for path in (ROOT / "docs").glob("*.md")}


def targets(workflow: str) -> set[str]:
    """The targets that a workflow makes; its matrix names some of them."""
    called = set(re.findall(r"^ *- run: make ([\w-]+)$", workflow, re.MULTILINE))
    return called | set(re.findall(r"\btarget: ([\w-]+)", workflow))


def foreign_commands(workflow: str) -> list[str]:
    """The steps that run something other than a target."""
    runs = re.findall(r"^ *-? *run: *(.*)$", workflow, re.MULTILINE)
    return [run for run in runs if not re.fullmatch(r"make (?:[\w-]+|\$\{\{ matrix\.target \}\})", run)]


def test_hosted_jobs_make_targets_and_nothing_else() -> None:
    assert len(WORKFLOWS) == 3
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        assert foreign_commands(text) == []
        assert targets(text)
        assert [name for name in targets(text) if not re.search(rf"^{name}:.*## ", MAKEFILE, re.MULTILINE)] == []


def test_a_workflow_is_yaml_with_jobs_of_commands_and_actions() -> None:
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        assert len(steps) > 2
        assert [step for step in steps if len(step.keys() & {"run", "uses"}) != 1] == []


def test_hosted_jobs_run_all_that_ci_runs() -> None:
    ci = set(re.findall(r"^make ([\w-]+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE))
    assert ci <= targets((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))


def test_only_a_target_of_its_own_installs_packages_of_the_system() -> None:
    rules = re.findall(r"^([\w-]+):(.*)\n((?:\t.*\n)*)", MAKEFILE, re.MULTILINE)
    assert [target for target, _, recipe in rules if "apt-get" in recipe] == ["chromium"]
    assert [target for target, needed, _ in rules if "chromium" in needed.partition("##")[0].split()] == []


def test_another_command_is_found() -> None:
    assert foreign_commands("steps:\n  - run: pip install kmc\n  - run: make test\n") == ["pip install kmc"]


def test_the_site_and_its_first_page_name_every_page() -> None:
    assert set(re.findall(r"^ *- ([\w]+\.md)$", SITE, re.MULTILINE)) == PAGES
    assert set(re.findall(r"^\| \[.*?\]\((\w+\.md)\)", INDEX, re.MULTILINE)) == PAGES - {"index.md"}
