"""What tests measure of a page in a browser: colours, contrast, sizes of type, targets, names. Each is a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Everything that opens, opened: folds and dialogs.
OPEN_ALL = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const box of document.querySelectorAll("dialog")) if (!box.open) box.show();
  for (const part of document.querySelectorAll("[hidden]")) part.hidden = false;
}"""

# The sizes of type of all texts that are seen.
SIZES = """() => [...new Set([...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
  && [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
  .map((one) => getComputedStyle(one).fontSize))]"""

# The families of the colours that are seen: neutral, red, highlight, or a hue that is none of them.
FAMILIES = """() => {
  const family = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    const [least, most] = [Math.min(r, g, b), Math.max(r, g, b)];
    if (a === 0 || most - least <= 12) return "neutral";
    const turn = most === r ? g - b : most === g ? b - r : r - g;
    const hue = 60 * (turn / (most - least) + (most === r ? 0 : most === g ? 2 : 4));
    return hue >= -15 && hue <= 20 ? "red" : hue > 40 && hue < 55 ? "highlight" : color;
  };
  const found = new Set();
  for (const one of document.querySelectorAll("body, body *")) {
    if (!one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    const borders = ["Left", "Right", "Top", "Bottom"].map((side) => style[`border${side}Color`]);
    const used = [style.color, style.backgroundColor, ...borders];
    if (one.closest("svg")) used.push(...[style.fill, style.stroke].filter((color) => color !== "none"));
    for (const color of used) found.add(family(color));
  }
  return [...found].sort();
}"""

# What is clicked and is smaller than WCAG 2.5.8 asks for. Arrows of the diagram are not measured: the names of their
# messages in the state do the same.
SMALL_TARGETS = """() => [...document.querySelectorAll("button, a[href], input, select, summary, [role=tab]")]
  .filter((one) => one.checkVisibility() && !one.matches(".skip"))
  .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24).map(([text, box]) => [text, box.width, box.height])"""

# What every text is drawn on: the nearest ancestor with a ground; texts of the diagram lie on the panel or on the band
# of their row. Returns [text, ratio] of those below what WCAG AA asks for.
PALE_TEXTS = """() => {
  const channels = (color) => {
    const [r, g, b, a = 1] = color.match(/[\\d.]+/g).map(Number);
    return color.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const luminance = (color) => {
    const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = channels(color).map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const token = (name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const color = getComputedStyle(probe).color;
    probe.remove();
    return color;
  };
  const grounds = (element) => {
    if (element.closest("svg")) return ["--panel", "--mark", "--shade"].map(token);
    for (let e = element; e; e = e.parentElement) {
      const ground = getComputedStyle(e).backgroundColor;
      if (channels(ground)[3] === 1) return [ground];
    }
    return ["rgb(255, 255, 255)"];
  };
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !element.checkVisibility() || element.closest("script, style, title, .unseen")) continue;
    const style = getComputedStyle(element);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const color = element.closest("svg") ? style.fill : style.color;
    for (const ground of grounds(element)) {
      if (ratio(color, ground) < (isLarge ? 3 : 4.5)) pale.push([text, ratio(color, ground).toFixed(2), color, ground]);
    }
  }
  for (const ground of ["--panel", "--mark", "--shade"])
    for (const drawn of ["--muted", "--ink"])
      if (ratio(token(drawn), token(ground)) < 3) pale.push([`${drawn} on ${ground}`]);
  return pale;
}"""

# Controls without a name, ids that are not unique, headings that skip a level.
UNNAMED = """() => {
  const wrong = [];
  const named = "button, input, select, summary, [role=region], dialog, section[aria-label]";
  for (const element of document.querySelectorAll(named)) {
    const name = element.getAttribute("aria-label") ?? element.textContent.trim()
      ?? document.getElementById(element.getAttribute("aria-labelledby"))?.textContent;
    if (!name && !element.closest("label")?.textContent.trim()) wrong.push(element.outerHTML);
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  wrong.push(...ids.filter((id, place) => ids.indexOf(id) !== place));
  let level = 0;
  for (const heading of document.querySelectorAll("body > header h1, main h2, main h3")) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) wrong.push(heading.outerHTML);
    level = now;
  }
  return wrong;
}"""


def open_all(tab: Page) -> None:
    """Open every fold and dialog, and wait for what the server then tells of them."""
    tab.evaluate(OPEN_ALL)
    if tab.locator(".disabled").count():
        tab.locator(".disabled-body > section, .disabled-body :text-is('Everything can happen.')").first.wait_for()
