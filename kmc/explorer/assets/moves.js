// What can happen next: a card for each step that the state allows, by process; below, what cannot happen and why.
"use strict";
{
  const explorer = kmc.explorer;
  const CHANGES_SHOWN = 6;
  const TEXT_SHOWN = 90;

  // `view`: { filter, onTake(place), onFilter(text) }.
  explorer.movesPanel = (element, story, shown, view) => {
    const wanted = view.filter.trim().toLowerCase();
    const moves = shown.moves.filter((move) => `${move.label} ${move.doc} ${move.sent.join(" ")}`.toLowerCase().includes(wanted));
    const owners = [...story.lanes, null].filter((lane) => moves.some((move) => owner(story, move) === lane));
    const numbers = new Map();
    const groups = owners.map((lane) => {
      const own = moves.filter((move) => owner(story, move) === lane);
      for (const move of own) numbers.set(move.place, numbers.size + 1);
      return kmc.html("section", { class: "group-of-moves" }, owners.length === 1 && lane === null ? null : kmc.html("h3", {}, lane === null ? "No single process" : kmc.lane(lane)),
        kmc.html("ul", { class: "cards" }, own.map((move) => kmc.html("li", {}, card(story, shown, move, numbers.get(move.place), view)))));
    });
    const head = kmc.html("div", { class: "moves-head" }, kmc.html("h2", {}, "What can happen next"), shown.moves.length > 6 && filterBox(view));
    // The box is made anew with the cards: the focus and the place in its text stay.
    const written = element.contains(document.activeElement) && document.activeElement.matches("input") ? document.activeElement.selectionStart : null;
    const unshown = shown.unshown > 0 && kmc.html("p", { class: "empty" }, `${kmc.plural(shown.unshown, "step")} more ${shown.unshown === 1 ? "is" : "are"} not listed.`);
    element.replaceChildren(...[head, nothing(shown, moves), ...groups, unshown, ...failing(shown), disabled(shown)].filter(Boolean));
    if (written !== null) {
      const box = element.querySelector("input");
      box?.focus();
      box?.setSelectionRange(written, written);
    }
    explorer.moveAt = (number) => [...numbers].find(([, shownNumber]) => shownNumber === number)?.[0];
  };

  const owner = (story, move) => (story.lanes.includes(move.actor) ? move.actor : null);

  const filterBox = (view) =>
    kmc.html("input", { type: "search", id: "filter", placeholder: "Filter ( / )", "aria-label": "Filter what can happen", autocomplete: "off", spellcheck: "false", value: view.filter, on: { input: (event) => view.onFilter(event.target.value) } });

  const nothing = (shown, moves) => {
    if (moves.length) return null;
    if (shown.moves.length) return kmc.html("p", { class: "empty" }, "No card matches the filter.");
    if (!shown.deadlock) return null;
    const asked = explorer.frame.deadlock ? "This is a deadlock, which the model forbids." : "The model allows that.";
    return kmc.html("p", { class: explorer.frame.deadlock ? "remark broken" : "remark" }, `Nothing can happen in this state any more. ${asked}`);
  };

  const card = (story, shown, move, number, view) =>
    kmc.html("button", { type: "button", class: `card ${move.fails.some((name) => !shown.fails.includes(name)) ? "broken" : ""}${move.stutters ? " idle" : ""}`, "data-place": move.place, on: { click: () => view.onTake(move.place) } },
      kmc.html("span", { class: "card-label" }, number <= 9 && kmc.html("kbd", { "aria-hidden": "true" }, String(number)), kmc.html("b", {}, kmc.arrows(move.label)),
        move.received !== null && kmc.html("span", { class: "with" }, ` takes m${move.received}`)),
      move.doc && kmc.html("span", { class: "card-doc", title: move.doc }, told(move.doc)),
      kmc.html("span", { class: "card-changes" }, changes(story, move)),
      flags(move, shown));

  // Docstrings begin with the name in TLA+, `BecomeLeader(s): a candidate ...`, which the label has said.
  const told = (doc) => doc.replace(/^\w+(\([^)]*\))?: /, "").replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());

  const changes = (story, move) => {
    if (move.stutters) return "changes nothing";
    // What the table of processes shows comes first.
    const isShown = (change) => story.columns.some((column) => story.isIn(change, column));
    const sorted = [...move.changes.filter(isShown), ...move.changes.filter((change) => !isShown(change))];
    const told = sorted.map((change) => {
      const whose = change.lane !== null && change.lane !== move.actor ? `${change.lane}: ` : "";
      const text = `${whose}${story.changePlace(change)} ${story.changeText(change)}`;
      return kmc.html("span", { class: "change", title: text.length > TEXT_SHOWN && text }, kmc.shortened(text, TEXT_SHOWN));
    });
    told.push(...move.sent.map((brief) => kmc.html("span", { class: "change" }, `sends ${kmc.arrows(brief)}`)));
    told.push(...move.lost.map((brief) => kmc.html("span", { class: "change" }, `loses ${kmc.arrows(brief)}`)));
    const more = told.length - CHANGES_SHOWN;
    return more > 1 ? [...told.slice(0, CHANGES_SHOWN), kmc.html("span", { class: "change" }, `and ${more} more changes`)] : told;
  };

  const flags = (move, shown) => {
    const told = [];
    const [fresh, still] = [move.fails.filter((name) => !shown.fails.includes(name)), move.fails.filter((name) => shown.fails.includes(name))];
    if (fresh.length) told.push(kmc.html("span", { class: "flag broken" }, `breaks ${fresh.join(", ")}`));
    if (still.length) told.push(kmc.html("span", { class: "flag" }, `${still.join(", ")} still fails`));
    if (move.outside) told.push(kmc.html("span", { class: "flag" }, "leaves the constraint: a check does not go on there"));
    if (move.visited !== null) told.push(kmc.html("span", { class: "flag" }, "visited"));
    if (move.ways > 1) told.push(kmc.html("span", { class: "flag", title: "TLC and kmc count each of them as a generated state" }, `in ${move.ways} ways`));
    return told.length ? kmc.html("span", { class: "flags" }, told) : null;
  };

  const failing = (shown) =>
    shown.failing.map(({ label, error }) => kmc.html("section", { class: "remark broken" }, kmc.html("b", {}, `${label}: the spec has an error`), explorer.errorParts(error)));

  // The code, the place and the author's line, as the command line shows them.
  explorer.errorParts = (error) => [
    kmc.html("p", {}, `${error.code ? `${error.code}: ` : ""}${error.message}`),
    error.source && kmc.html("pre", {}, `${error.place}  ${error.source}`),
    error.help && kmc.html("p", { class: "doc" }, error.help),
  ];

  const disabled = (shown) => {
    if (!shown.disabled) return null;
    const body = kmc.html("div", { class: "disabled-body" }, kmc.html("p", { class: "empty" }, "…"));
    const load = async (event) => {
      if (!event.target.open || event.target.dataset.loaded) return;
      event.target.dataset.loaded = "yes";
      try {
        body.replaceChildren(...disabledGroups((await explorer.ask("/disabled")).disabled));
      } catch (error) {
        explorer.tell(error);
      }
    };
    return kmc.html("details", { class: "disabled", on: { toggle: load } }, kmc.html("summary", {}, "What cannot happen now, and why"), body);
  };

  // Instances that the same guard stops in the same way stand together: `n1; n2; n3`.
  const disabledGroups = (found) => {
    const titles = [...new Set(found.map((one) => one.action))];
    return titles.length === 0 ? [kmc.html("p", { class: "empty" }, "Everything can happen.")] : titles.map((title) => {
      const own = Map.groupBy(found.filter((one) => one.action === title), (one) => JSON.stringify([one.sentence, one.guard, one.place]));
      return kmc.html("section", {}, kmc.html("h3", {}, title), kmc.html("ul", {}, [...own.values()].map(obstacle)));
    });
  };

  const obstacle = (alike) => {
    const [first] = alike;
    const names = alike.map((one) => (one.message === null ? one.arguments.join(", ") : kmc.arrows(one.message))).filter(Boolean);
    return kmc.html("li", {}, names.length > 0 && kmc.html("b", {}, `${names.join("; ")}: `), first.sentence,
      first.place && kmc.html("span", { class: "guard" }, first.guard && [kmc.html("code", {}, first.guard), ` is ${first.value}`], kmc.html("span", { class: "place" }, ` ${first.place}`)));
  };
}
