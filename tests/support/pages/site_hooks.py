"""What the site has beside docs/: the texts of the specs, their results, and the pages of counterexamples.

mkdocs calls these functions by their names. In docs/ a link to a text of a spec begins with ../specs/, as on GitHub; on
the site that text is a page. Where the gallery was built, a command that finds a counterexample is a link to its page.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
GALLERY = ROOT / "build" / "gallery"
PROTOCOLS = ("kraft", "kip_996", "kip_996_draft", "kip_642")
TEXTS = sorted(
    path for name in PROTOCOLS for path in (*ROOT.glob(f"specs/{name}/*.md"), ROOT / "results" / f"{name}.md")
)
COMMAND = re.compile(r"`kmc check (\w+) (\w+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the texts of specs and their results as pages."""
    from mkdocs.structure.files import File  # here, since the tests do without mkdocs

    for path in TEXTS:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_context(context: Any, page: Any, config: Any, nav: Any) -> Any:
    """Give the pages of wide tables the room of the table of contents, and the widest that of the navigation too."""
    wide = {"findings.md": ["toc"], "mechanisms.md": ["toc", "navigation"]}
    if page.file.src_uri in wide:
        page.meta["hide"] = wide[page.file.src_uri]
    return context


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn links between docs/ and the texts of specs into those of the site, and commands into links to traces."""
    source = page.file.src_uri
    depth = source.count("/")
    up = "../" * depth
    inside = LINK.sub(lambda match: f"]({_target(match[1], source, up)})", markdown)
    return COMMAND.sub(lambda match: _linked(match, up), inside)


def on_post_build(config: Any) -> None:
    """Put the gallery into the site."""
    if GALLERY.is_dir():
        shutil.copytree(GALLERY, Path(config["site_dir"]) / "traces", dirs_exist_ok=True)


def _target(link: str, source: str, up: str) -> str:
    """Where a link leads on the site. One to a file of the repository that is not a page leads to its folder's text."""
    path, hash_sign, anchor = link.partition("#")
    if re.match(r"[a-z]+:", link) or not path:
        return link
    base = ROOT if source.startswith(("specs/", "results/")) else ROOT / "docs"
    found = (base / source).parent.joinpath(path).resolve()
    if not found.is_relative_to(ROOT):
        return link
    inside = found.relative_to(ROOT).as_posix()
    if inside.startswith("docs/"):
        return up + inside.removeprefix("docs/") + hash_sign + anchor
    return up + inside + hash_sign + anchor if found in TEXTS else link


def _linked(match: re.Match[str], up: str) -> str:
    page = f"{match[1]}.{match[2]}.html"
    if not (GALLERY / page).is_file():
        return match[0]
    return f'<a href="{up}traces/{page}"><code>kmc check {match[1]} {match[2]}</code></a>'
