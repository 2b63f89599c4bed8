// The page: one step is chosen, everything shows it; keys, links, search, filters, theme and help.
"use strict";

const by = (id) => document.getElementById(id);
const story = new kmc.Story(JSON.parse(by("story").textContent));

// What is hidden has a word in the link: #step=7&hide=net,processed&servers=n1
const FILTERS = [
  ["net", "all messages", () => story.networks.length > 0],
  ["processed", "messages that were received", () => story.networks.length > 0],
  ["variables", "other variables", () => true],
  ["aside", "steps that are not needed", () => story.steps.some((step) => !step.matters)],
];

const NARROW_PAGE = "(max-width: 1000px)"; // as in page.css

const state = { missing: null, step: story.opensAt(), hide: new Set(), lanes: new Set(), query: "", found: null, message: null };
let list = null;
let diagram = null;
let isOpened = false; // until then, the page stays at its top

const shownSteps = () => story.steps.filter((step) => !state.hide.has("aside") || step.matters || step.number === 1).map((step) => step.number);
const shownLanes = () => story.lanes.filter((lane) => !state.lanes.has(lane));

const view = () => ({
  step: state.step,
  steps: shownSteps(),
  lanes: shownLanes(),
  messages: !state.hide.has("net"),
  processed: !state.hide.has("processed"),
  variables: !state.hide.has("variables"),
  found: state.found,
  message: state.message,
  onStep: (number) => choose(number),
  onMessage: openMessage,
});

// ---- drawing

const drawAll = () => {
  list = kmc.stepList(by("steps"), story, view());
  diagram = shownLanes().length ? kmc.diagram(by("diagram"), story, view()) : null;
  document.body.classList.toggle("without-diagram", diagram === null);
  draw();
};

const draw = () => {
  list.update(view());
  diagram?.update(view());
  kmc.statePanel(by("state"), story, view());
  by("position").textContent = `${state.step} / ${story.count}`;
  by("found").textContent = searchSaid();
  const hidden = state.hide.size + state.lanes.size;
  by("show").textContent = hidden ? `Show (${hidden} hidden)` : "Show";
};

// What stands beside the search: where among the steps found this one is, or that the link names a step that is not there.
const searchSaid = () => {
  if (state.missing !== null) return `there is no step ${state.missing}`;
  if (state.found === null) return "";
  const found = [...state.found];
  if (!found.length) return "nothing found";
  const place = found.indexOf(state.step) + 1;
  return place ? `${place} of ${found.length}` : `${kmc.plural(found.length, "step")} found`;
};

// Choose a step: show it, say it, and put it into the link.
const choose = (number, { focus = false, say = "", missing = null } = {}) => {
  state.missing = missing;
  const steps = shownSteps();
  state.step = steps.includes(number) ? number : steps.findLast((shown) => shown <= number) ?? 1;
  draw();
  const row = list.row(state.step);
  if (focus || by("steps").contains(document.activeElement)) row.focus({ preventScroll: true });
  reveal(row);
  const step = story.step(state.step);
  by("spoken").textContent = `${say}Step ${state.step} of ${story.count}: ${step.label}. ${state.step === 1 ? "" : story.summary(step)}`;
  writeLink();
};

// To a part of a phone's page: to the chosen step in the list and in the diagram.
const goToPart = (name) => {
  const row = name === "state" ? 0 : kmc.ROW * shownSteps().indexOf(state.step);
  const above = name === "state" ? 0 : innerHeight / 3;
  scrollTo(0, Math.max(0, by(name).getBoundingClientRect().top + scrollY + Math.max(0, row - above)));
};

// On a phone the page scrolls as a whole: it follows the step where the list or the diagram is what is looked at.
const follows = (row) => {
  const part = [by("steps"), by("diagram")].find((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top < innerHeight / 2 && bottom > innerHeight / 2;
  });
  if (part === undefined) return;
  const top = part.id === "steps" ? row.getBoundingClientRect().top : part.getBoundingClientRect().top + kmc.ROW * shownSteps().indexOf(state.step) + 30;
  const room = document.querySelector(".bar").getBoundingClientRect().top - 2 * kmc.ROW;
  if (top < kmc.ROW) scrollBy(0, top - kmc.ROW);
  else if (top > room) scrollBy(0, top - room);
};

// Scroll the row into what its own scroller shows, below the sticky head; the page itself stays where it is.
const reveal = (row) => {
  if (matchMedia(NARROW_PAGE).matches) {
    if (isOpened) follows(row);
    return;
  }
  for (const scroller of [by("timeline"), by("steps"), by("diagram")]) {
    if (scroller.scrollHeight <= scroller.clientHeight || getComputedStyle(scroller).overflowY === "visible") continue;
    const place = scroller.id === "diagram" ? kmc.ROW * shownSteps().indexOf(state.step) : row.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop - 40;
    const top = scroller.scrollTop;
    if (place < top + 8) scroller.scrollTop = Math.max(0, place - 60);
    else if (place + 2 * kmc.ROW > top + scroller.clientHeight - 40) scroller.scrollTop = place + 2.5 * kmc.ROW - scroller.clientHeight + 40;
  }
};

// One step on; after the last one a lasso goes on with the first of its cycle.
const move = (by_) => {
  const steps = shownSteps();
  const place = steps.indexOf(state.step) + by_;
  if (place >= steps.length && by_ === 1 && story.loop !== null) return choose(story.loop.backTo, { focus: true, say: "The cycle begins again. " });
  return choose(steps[Math.max(0, Math.min(steps.length - 1, place))], { focus: true });
};

// ---- links

const readLink = () => {
  const given = new URLSearchParams(location.hash.slice(1));
  const words = (name) => (given.get(name) ?? "").split(",").filter(Boolean);
  state.hide = new Set(words("hide").filter((word) => FILTERS.some(([known]) => known === word)));
  state.lanes = new Set(words("servers").filter((lane) => story.lanes.includes(lane)));
  state.query = given.get("find") ?? "";
  const step = Number(given.get("step"));
  if (Number.isInteger(step) && step >= 1) state.step = Math.min(step, story.count);
  return step > story.count ? step : null;
};

const writeLink = () => {
  const words = [`step=${state.step}`];
  if (state.hide.size) words.push(`hide=${[...state.hide].map(encodeURIComponent).join(",")}`);
  if (state.lanes.size) words.push(`servers=${[...state.lanes].map(encodeURIComponent).join(",")}`);
  if (state.query) words.push(`find=${encodeURIComponent(state.query)}`);
  // Inside another page, as a notebook shows it, there is no address of its own.
  if (location.protocol !== "about:") history.replaceState(null, "", `#${words.join("&")}`);
};

const follow = () => {
  const missing = readLink();
  by("search").value = state.query;
  for (const box of document.querySelectorAll("[data-filter]")) box.checked = !state.hide.has(box.dataset.filter);
  for (const box of document.querySelectorAll("[data-lane]")) box.checked = !state.lanes.has(box.dataset.lane);
  find();
  drawAll();
  choose(state.step, { missing });
};

// ---- search

const find = () => {
  const wanted = state.query.trim().toLowerCase();
  const found = wanted === "" ? null : shownSteps().filter((number) => story.searched(story.step(number)).includes(wanted));
  state.found = found === null ? null : new Set(found);
};

const nextFound = (direction) => {
  const found = [...(state.found ?? [])];
  if (!found.length) return;
  const next = direction > 0 ? found.find((number) => number > state.step) ?? found[0] : found.findLast((number) => number < state.step) ?? found.at(-1);
  choose(next);
};

// ---- filters

const toggle = (set, word, isShown) => {
  if (isShown) set.delete(word);
  else set.add(word);
  find();
  drawAll();
  choose(state.step);
};

const checkbox = (text, key, word, set) =>
  kmc.html("label", {}, kmc.html("input", { type: "checkbox", [`data-${key}`]: word, checked: !set.has(word), on: { change: (event) => toggle(set === "lanes" ? state.lanes : state[key === "lane" ? "lanes" : "hide"], word, event.target.checked) } }), ` ${text}`);

const buildFilters = () => {
  by("filters").append(
    ...FILTERS.filter(([, , applies]) => applies()).map(([word, text]) => checkbox(text, "filter", word, state.hide)),
    ...(story.lanes.length > 1 ? story.lanes.map((lane) => checkbox(lane, "lane", lane, state.lanes)) : []),
  );
};

// ---- a message

const openMessage = (number) => {
  const message = story.message(number);
  state.message = number;
  diagram?.update(view());
  const at = (step, text) => kmc.html("li", {}, `${text} `, step <= story.count
    ? kmc.html("button", { type: "button", class: "go", on: { click: () => (by("message").close(), choose(step)) } }, `step ${step}`)
    : "the step that closes the cycle");
  by("message-title").textContent = `m${message.number} ${message.kind}`;
  by("message-body").replaceChildren(
    ...kmc.messageParts(story, message),
    kmc.html("ul", { class: "fate" },
      at(message.sentAt, message.sentAt === 1 ? "there from" : "sent in"),
      message.receivedAt.map((step) => at(step, "received in")),
      message.lostAt !== null && at(message.lostAt, "lost in"),
      message.receivedAt.length === 0 && message.lostAt === null && kmc.html("li", {}, "never received in this trace")),
  );
  by("message").showModal();
};

// ---- keys

const KEYS = {
  ArrowDown: () => move(1),
  ArrowRight: () => move(1),
  j: () => move(1),
  ArrowUp: () => move(-1),
  ArrowLeft: () => move(-1),
  k: () => move(-1),
  Home: () => choose(1, { focus: true }),
  End: () => choose(story.count, { focus: true }),
  n: () => nextFound(1),
  N: () => nextFound(-1),
  "/": () => by("search").focus(),
  "?": () => by("help").showModal(),
};

const onKey = (event) => {
  const writes = event.target.matches("input[type=search], textarea");
  if (event.key === "Escape" && by("filter").open) {
    by("filter").open = false;
    return by("filter").querySelector("summary").focus();
  }
  if (event.key === "Escape" && writes) {
    event.target.value = "";
    event.target.dispatchEvent(new Event("input"));
    list.row(state.step).focus();
    return;
  }
  if (writes && event.key === "Enter") return nextFound(event.shiftKey ? -1 : 1);
  if (writes || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  // A box that scrolls sideways keeps the keys that scroll it.
  const scrolls = event.target.matches(".scroll") && event.target.scrollWidth > event.target.clientWidth;
  if (scrolls && ["ArrowLeft", "ArrowRight"].includes(event.key)) return;
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
};

// ---- start

const start = () => {
  buildFilters();
  by("search").addEventListener("input", (event) => {
    state.query = event.target.value;
    find();
    draw();
    writeLink();
  });
  by("previous").addEventListener("click", () => move(-1));
  by("next").addEventListener("click", () => move(1));
  for (const button of document.querySelectorAll("[data-part]")) button.addEventListener("click", () => goToPart(button.dataset.part));
  by("ask").addEventListener("click", () => by("help").showModal());
  by("message").addEventListener("close", () => ((state.message = null), diagram?.update(view())));
  document.addEventListener("click", (event) => {
    if (!by("filter").contains(event.target)) by("filter").open = false;
  });
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  let width = innerWidth;
  window.addEventListener("resize", () => {
    if (innerWidth !== width) drawAll();
    width = innerWidth;
  });
  kmc.themeButton(by("theme"));
  follow();
  isOpened = true;
};

start();
