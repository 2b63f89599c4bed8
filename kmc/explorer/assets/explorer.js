// The explorer: one state of a model is shown, with the way to it and what can happen next.
"use strict";
{
  const explorer = kmc.explorer;
  const by = (id) => document.getElementById(id);
  const local = { filter: "", tab: "line" };
  let story = null;
  let list = null;
  let diagram = null;
  let message = null;
  let told = null;
  let isSame = false;
  let drawn = null; // the steps that are drawn, and how wide

  // ---- asking

  // Commands take effect one after another, as they were given. One that depends on where the person is then, is a
  // function; it returns null where there is nothing to do.
  let queue = Promise.resolve();
  explorer.act = (command) => (queue = queue.then(() => carriedOut(typeof command === "function" ? command() : command)));

  const carriedOut = async (command) => {
    if (command === null) return false;
    try {
      explorer.show((await explorer.ask("", command)).view);
      by("trouble").hidden = true;
      return true;
    } catch (error) {
      explorer.tell(error);
      if (error.status === 400) explorer.show((await explorer.ask()).view);
      return false;
    }
  };

  const take = (place) => {
    local.filter = "";
    return explorer.act({ do: "take", at: explorer.view.at, move: place });
  };

  const go = (number) => explorer.act({ do: "go", to: number });

  // One step on or back along the line.
  const step = (by_) => explorer.act(() => {
    const { line, step: place } = explorer.view;
    const wanted = line[place - 1 + by_];
    return wanted === undefined ? null : { do: "go", to: wanted };
  });

  // What was typed stays until it is shown: a mistake in it is mended there.
  const watch = async (event) => {
    event.preventDefault();
    const expression = by("watch").value.trim();
    if (expression && (await explorer.act({ do: "show", expression }))) by("watch").value = "";
  };

  // ---- showing

  explorer.show = (view) => {
    const before = explorer.view?.at;
    explorer.view = view;
    const isSomewhere = view.at !== null;
    // A line that is told as before is drawn as before: only the place in it is another.
    isSame = isSomewhere && story !== null && view.told === told;
    if (!isSame) story = isSomewhere ? new kmc.Story(view.story) : null;
    told = isSomewhere ? view.told : null;
    document.body.classList.toggle("choosing", !isSomewhere);
    document.body.classList.toggle("watching", isSomewhere && story.watched.length > 0);
    explorer.drawVerdicts(view);
    explorer.drawSearch(view.search);
    for (const [id, can] of [["undo", view.undo], ["redo", view.redo], ["bookmark", isSomewhere], ["run", isSomewhere], ["save", isSomewhere], ["again", isSomewhere], ["watch", isSomewhere], ["show", isSomewhere], ["back", false], ["on", false]]) by(id).disabled = !can;
    if (isSomewhere) drawWalk(view);
    else {
      by("position").textContent = "";
      chooseInitial(by("moves"), 0);
    }
    drawTabs();
    if (isSomewhere && before !== view.at) say(view);
  };

  const storyView = () => ({
    step: explorer.view.step,
    steps: shownSteps(),
    lanes: story.lanes,
    messages: true,
    processed: true,
    variables: true,
    message,
    onStep: (number) => go(explorer.view.line[number - 1]),
    onMessage: openMessage,
    onHide: (expression) => explorer.act({ do: "hide", expression }),
  });

  const WINDOW = 240; // so many steps of a long line are drawn, around the current one

  const shownSteps = () => {
    if (story.count <= WINDOW) return story.steps.map((one) => one.number);
    // In leaps, so that a step beside the current one is rarely drawn anew.
    const first = Math.max(0, Math.min(story.count - WINDOW, Math.round((explorer.view.step - WINDOW / 2) / (WINDOW / 4)) * (WINDOW / 4)));
    return story.steps.slice(first, first + WINDOW).map((one) => one.number);
  };

  const drawLine = (view) => {
    const shown = storyView();
    const key = `${view.told} ${shown.steps[0]} ${by("diagram").clientWidth}`;
    if (isSame && drawn === key) {
      list.update(shown);
      diagram?.update(shown);
      return;
    }
    list = kmc.stepList(by("steps"), story, shown);
    diagram = story.lanes.length ? kmc.diagram(by("diagram"), story, shown) : null;
    drawn = key;
    tellWhatIsLeftOut(shown.steps);
  };

  // Above and below the steps that are drawn, how many more there are: a click goes there.
  const tellWhatIsLeftOut = (steps) => {
    const more = (count, where, to) => kmc.html("button", { type: "button", class: "step more", tabindex: -1, on: { click: () => go(explorer.view.line[to - 1]) } }, kmc.html("span", { class: "number" }, "…"), kmc.html("span", { class: "what" }, `${kmc.plural(count, "step")} ${where}`));
    const [first, last] = [steps[0], steps.at(-1)];
    by("before").replaceChildren(...(first > 1 ? [more(first - 1, "before", first - 1)] : []));
    by("after").replaceChildren(...(last < story.count ? [more(story.count - last, "after", last + 1)] : []));
  };

  const drawWalk = (view) => {
    by("position").textContent = `state ${view.step} of ${view.line.length}`;
    by("back").disabled = view.step === 1;
    by("on").disabled = view.step === view.line.length;
    drawLine(view);
    document.body.classList.toggle("without-diagram", diagram === null);
    if (local.tab === "tree" || view.tree.length <= WINDOW) explorer.treePanel(by("tree"), view, go);
    explorer.movesPanel(by("moves"), story, view, { filter: local.filter, onTake: take, onFilter: (text) => ((local.filter = text), drawMoves()) });
    kmc.statePanel(by("state"), story, storyView());
    const row = list.row(view.step);
    row?.scrollIntoView({ block: "nearest" });
    if (local.tab === "tree") by("tree").querySelector(".current")?.scrollIntoView({ block: "nearest" });
  };

  const drawMoves = () => explorer.movesPanel(by("moves"), story, explorer.view, { filter: local.filter, onTake: take, onFilter: (text) => ((local.filter = text), drawMoves()) });

  const say = (view) => {
    const told = story.step(view.step);
    by("spoken").textContent = `State ${view.step}: ${told.label}. ${kmc.plural(view.moves.length, "step")} can happen next. ${by("verdict").textContent}.`;
  };

  const drawTabs = () => {
    for (const name of ["line", "tree"]) {
      const isShown = local.tab === name;
      by(name).hidden = !isShown;
      by(`tab-${name}`).setAttribute("aria-selected", String(isShown));
      by(`tab-${name}`).tabIndex = isShown ? 0 : -1;
    }
  };

  const openTab = (name) => {
    local.tab = name;
    drawTabs();
    if (explorer.view.at !== null) drawWalk(explorer.view);
  };

  // ---- the first state

  const chooseInitial = async (element, from) => {
    try {
      const { states, more, most } = await explorer.ask(`/initial?from=${from}`);
      if (explorer.view.at !== null) return;
      const cards = states.map(({ place, values }) => kmc.html("li", {}, kmc.html("button", { type: "button", class: "card", on: { click: () => explorer.act({ do: "begin", initial: place }) } },
        kmc.html("b", {}, `Initial state ${place + 1}`), kmc.html("span", { class: "card-changes" }, values.map(([name, text]) => kmc.html("span", { class: "change" }, `${name} = ${kmc.shortened(text, 200)}`))))));
      const on = more && kmc.html("button", { type: "button", on: { click: () => chooseInitial(element, from + states.length) } }, "More");
      const back = from > 0 && kmc.html("button", { type: "button", on: { click: () => chooseInitial(element, Math.max(0, from - 50)) } }, "Back");
      const cut = most && kmc.html("p", { class: "doc" }, `Only the first ${most.toLocaleString("en")} initial states are listed.`);
      element.replaceChildren(...[kmc.html("h2", {}, "Choose an initial state"), from === 0 && kmc.html("p", { class: "doc" }, "Each is shown with what distinguishes it from the first."), kmc.html("ul", { class: "cards" }, cards), cut, back, on].filter(Boolean));
    } catch (error) {
      explorer.tell(error);
    }
  };

  // ---- a message

  const openMessage = (number) => {
    const found = story.message(number);
    message = number;
    diagram?.update(storyView());
    by("message-title").textContent = `m${found.number} ${found.kind}`;
    by("message-body").replaceChildren(
      ...kmc.messageParts(story, found),
      ...stepsWith(number),
    );
    by("message").showModal();
  };

  // What can become of a message in this state: a button for each step that delivers it, and for each that drops it.
  const stepsWith = (number) => {
    const { moves } = explorer.view;
    const told = [["Deliver", (move) => move.received === number], ["Drop", (move) => move.received !== number && move.drops.includes(number)]];
    const buttons = told.flatMap(([verb, isWanted]) => moves.filter(isWanted).map((move) => kmc.html("p", { class: "buttons" },
      kmc.html("button", { type: "button", "data-place": move.place, on: { click: () => (by("message").close(), take(move.place)) } }, kmc.html("b", {}, verb), ` ${kmc.arrows(move.label)}`),
      move.fails.length > 0 && kmc.html("span", { class: "flag broken" }, `breaks ${move.fails.join(", ")}`))));
    return buttons.length ? buttons : [kmc.html("p", { class: "empty" }, "No step of this state delivers or drops it.")];
  };

  // ---- keys

  const KEYS = {
    j: () => step(1),
    ArrowDown: () => step(1),
    ArrowRight: () => step(1),
    k: () => step(-1),
    ArrowUp: () => step(-1),
    ArrowLeft: () => step(-1),
    Home: () => explorer.view.at !== null && go(explorer.view.line[0]),
    End: () => explorer.view.at !== null && go(explorer.view.line.at(-1)),
    u: () => explorer.act({ do: "undo" }),
    r: () => explorer.act({ do: "redo" }),
    b: () => explorer.nameState(),
    s: () => explorer.view.at !== null && by("running").showModal(),
    e: () => by("watch").focus(),
    t: () => openTab(local.tab === "line" ? "tree" : "line"),
    "/": () => by("filter")?.focus(),
    "?": () => by("help").showModal(),
  };

  const onKey = (event) => {
    const writes = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && event.target.id === "filter") {
      local.filter = "";
      drawMoves();
      by("moves").focus();
    }
    if (event.key === "Escape" && event.target.id === "watch") by("moves").focus();
    if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || explorer.view === null) return;
    if (event.target.matches("[role=tab]") && ["ArrowLeft", "ArrowRight"].includes(event.key)) {
      openTab(local.tab === "line" ? "tree" : "line");
      return by(`tab-${local.tab}`).focus();
    }
    // A box that scrolls sideways keeps the keys that scroll it.
    const scrolls = event.target.matches(".scroll") && event.target.scrollWidth > event.target.clientWidth;
    if (scrolls && ["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const place = /^[1-9]$/.test(event.key) && explorer.view.at !== null ? explorer.moveAt(Number(event.key)) : undefined;
    const act = place === undefined ? KEYS[event.key] : () => take(place);
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  // ---- start

  const CLICKS = {
    undo: KEYS.u,
    redo: KEYS.r,
    back: KEYS.k,
    on: KEYS.j,
    bookmark: KEYS.b,
    run: KEYS.s,
    save: () => explorer.save(),
    again: () => go(null),
    seek: () => explorer.runUntil(),
    walk: () => explorer.walk(),
    ask: KEYS["?"],
    "tab-line": () => openTab("line"),
    "tab-tree": () => openTab("tree"),
  };

  const load = async () => {
    try {
      const found = await explorer.connect();
      explorer.frame = found.frame;
      by("title").textContent = `${found.frame.spec} ${found.frame.model === found.frame.spec ? "" : found.frame.model}`.trim();
      document.title = `${by("title").textContent} - kmc explore`;
      by("notes").textContent = found.frame.notes.join(" ");
      explorer.fillConditions();
      explorer.speakOfExpressions();
      explorer.show(found.view);
    } catch (error) {
      explorer.tell(error);
    }
  };

  for (const [id, act] of Object.entries(CLICKS)) by(id).addEventListener("click", act);
  by("watching").addEventListener("submit", watch);
  by("message").addEventListener("close", () => ((message = null), diagram?.update(storyView())));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", load);
  let width = innerWidth;
  window.addEventListener("resize", () => {
    if (innerWidth !== width && explorer.view?.at != null) drawWalk(explorer.view);
    width = innerWidth;
  });
  // Another tab may have gone on in the same session.
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && explorer.view !== null && load());
  kmc.themeButton(by("theme"));
  load();
}
