"""A page for every counterexample that the pages of findings and mechanisms name; `make gallery` builds them.

A page is what `kmc trace --html` writes. One that is newer than its spec and than what explains traces is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.pages.findings import manifests
from support.source_tree import ROOT

GALLERY = ROOT / "build" / "gallery"
MOST_STATES = 3_000_000
"""A counterexample that takes more states to find has no page: it would take gigabytes."""

EXPLAINS = ("kmc/story", "kmc/views")


def page_name(spec: str, model: str) -> str:
    """The file of the page of a counterexample."""
    return f"{spec}.{model}.html"


def counterexamples() -> list[tuple[str, str]]:
    """The findings and mutants of all protocols, as spec and model, but for those that take long to find."""
    return [
        (spec, file.name)
        for spec, manifest in manifests().items()
        for file in (*manifest.findings.values(), *manifest.mutants.values())
        if int(str((file.expect or {}).get("distinct", 0))) <= MOST_STATES
    ]


def newest(folders: Iterable[Path]) -> float:
    """When the newest file of these folders was written."""
    return max(path.stat().st_mtime for folder in folders for path in folder.rglob("*") if path.is_file())


def is_current(page: Path, spec: str) -> bool:
    """Whether a page is there and newer than all that it depends on."""
    sources = [ROOT / "specs" / spec, ROOT / "specs" / "consensus", *(ROOT / folder for folder in EXPLAINS)]
    return page.is_file() and page.stat().st_mtime > newest(sources)


def kmc(words: Sequence[str], folder: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, where it leaves its runs."""
    return subprocess.run(
        [sys.executable, "-m", "kmc", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def build(spec: str, model: str) -> str:
    """Write the page of one counterexample; return what went wrong, or nothing."""
    page = GALLERY / page_name(spec, model)
    if is_current(page, spec):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        checked = kmc(["check", spec, model, "--json"], folder)
        if "KMC811" in checked.stderr + checked.stdout:
            checked = kmc(["check", spec, model, "--json", "--engine", "python"], folder)
        trace = json.loads(checked.stdout or "{}").get("trace_file")
        if trace is None:
            return f"{spec} {model}: no trace: {checked.stderr.strip()[-300:]}"
        shown = kmc(["trace", trace, "--html", str(page)], folder)
        return "" if shown.returncode == 0 else f"{spec} {model}: {shown.stderr.strip()[-300:]}"


def main() -> int:
    """Build the pages that are missing or old, several at once; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", help="default: all protocols")
    chosen: Sequence[str] = parser.parse_args().specs
    GALLERY.mkdir(parents=True, exist_ok=True)
    wanted = [(spec, name) for spec, name in counterexamples() if not chosen or spec in chosen]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failed = [text for text in pool.map(lambda pair: build(*pair), wanted) if text]
    print(*failed, f"{len(wanted) - len(failed)} of {len(wanted)} pages are in {GALLERY.relative_to(ROOT)}", sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
