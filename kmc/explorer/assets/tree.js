// All visited states as a tree: a way without branches runs straight down, each branch is set in.
"use strict";
{
  const explorer = kmc.explorer;

  // `onGo(number)` goes to a visited state.
  explorer.treePanel = (element, shown, onGo) => {
    const children = new Map();
    for (const visited of shown.tree) children.set(visited.parent, [...(children.get(visited.parent) ?? []), visited]);
    const marks = shown.tree.filter((visited) => visited.bookmark);
    const list = kmc.html("ul", { class: "tree" });
    // Without recursion: a path may be thousands of states long.
    const waiting = [...(children.get(null) ?? [])].reverse().map((visited) => [visited, 0, false]);
    while (waiting.length) {
      const [visited, depth, isBranch] = waiting.pop();
      list.append(row(visited, depth, shown, onGo, isBranch));
      const below = children.get(visited.number) ?? [];
      for (const [place, child] of [...below.entries()].reverse()) waiting.push([child, place === 0 ? depth : depth + 1, place > 0]);
    }
    element.replaceChildren(
      ...[
        marks.length ? kmc.html("h3", {}, "Bookmarks") : null,
        marks.length ? kmc.html("ul", { class: "tree" }, marks.map((visited) => row(visited, 0, shown, onGo))) : null,
        kmc.html("h3", {}, kmc.plural(shown.tree.length, "visited state")),
        list,
      ].filter(Boolean),
    );
  };

  const row = (visited, depth, shown, onGo, isBranch = false) => {
    const isHere = visited.number === shown.at;
    const button = kmc.html("button", { type: "button", class: `visited ${isHere ? "current" : ""}`, "data-number": visited.number, "aria-current": isHere ? "step" : null, on: { click: () => onGo(visited.number) } },
      kmc.html("span", { class: "number" }, String(visited.level)), kmc.html("span", { class: "label" }, kmc.arrows(visited.label)),
      isBranch && kmc.html("span", { class: "doc" }, `branches off ${visited.level - 1}`),
      visited.bookmark && kmc.html("span", { class: "mark" }, `★ ${visited.bookmark}`),
      visited.fails.length > 0 && kmc.html("span", { class: "flag broken" }, `breaks ${visited.fails.join(", ")}`));
    button.style.marginLeft = `${Math.min(depth, 12) * 16}px`;
    return kmc.html("li", {}, button);
  };
}
