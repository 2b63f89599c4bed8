"""The watch over pages sees what they must not do: ask for anything beyond their own origin, or write an error."""

from __future__ import annotations

from pathlib import Path

from support.views.browsing import OpenTab, Watch


def written(folder: Path, body: str) -> Path:
    """A page with this body."""
    path = folder / "page.html"
    path.write_text(f"<!doctype html><title>t</title><link rel=icon href='data:,'>{body}", encoding="utf-8")
    return path


def test_a_page_that_does_nothing_wrong_passes(open_tab: OpenTab, tmp_path: Path) -> None:
    page = open_tab(written(tmp_path, "<h1>Hello</h1>"), size=(390, 844), color_scheme="dark")
    assert page.inner_text("h1") == "Hello"
    assert page.evaluate("innerWidth") == 390
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def test_a_request_to_another_host_is_refused_and_kept(open_tab: OpenTab, watch: Watch, tmp_path: Path) -> None:
    open_tab(written(tmp_path, "<img src='http://127.0.0.1:9/x.png' alt=x>"))
    assert watch.refused == ["http://127.0.0.1:9/x.png"]
    assert "ERR_FAILED" in watch.errors[0]
    watch.refused.clear()
    watch.errors.clear()


def test_a_request_for_another_file_is_refused_and_kept(open_tab: OpenTab, watch: Watch, tmp_path: Path) -> None:
    other = tmp_path / "other.css"
    other.write_text("", encoding="utf-8")
    open_tab(written(tmp_path, f"<link rel=stylesheet href='{other.as_uri()}'>"))
    assert watch.refused == [other.as_uri()]
    watch.refused.clear()
    watch.errors.clear()


def test_an_exception_and_a_word_to_the_console_are_kept(open_tab: OpenTab, watch: Watch, tmp_path: Path) -> None:
    page = open_tab(written(tmp_path, "<script>console.error('said'); nothing.at.all</script>"))
    page.wait_for_function("true")
    assert watch.errors == ["said", "nothing is not defined"]
    watch.errors.clear()
