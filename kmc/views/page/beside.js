// Two traces of one spec, row by row: a state is chosen, and both traces show theirs.
"use strict";

const by = (id) => document.getElementById(id);
const given = JSON.parse(by("stories").textContent);
const stories = [new kmc.Story(given.left), new kmc.Story(given.right)];
const count = Math.max(...stories.map((story) => story.count));
const parting = Math.min(given.shared + 1, count); // the first state that they do not share

let step = parting;
const rows = new Map(); // the buttons of each state

// ---- the rows

const buttonOf = (story, number) => kmc.stepRow(story, story.step(number), { onStep: (wanted) => choose(wanted) });

// What stands where a trace has no such state: it has ended, or goes round its cycle.
const ended = (story, number) => {
  const text = number > story.count + 1 ? "" : story.loop === null ? "ends" : kmc.loopText(story.loop);
  return kmc.html("span", { class: "ended" }, text);
};

// A step that both traces take. What only one of them says of it is said to be of that one.
const sharedButton = (number) => {
  const button = buttonOf(stories[0], number);
  const [left, right] = stories.map((story) => story.failsAt(number));
  if (right && !left) button.querySelector(".below").append(kmc.html("span", { class: "failed" }, "fails here"));
  if (left !== right) button.querySelector(".failed").append(` in ${given.names[left ? 0 : 1]}`);
  button.classList.toggle("in-cycle", stories.every((story) => story.loop !== null && number >= story.loop.backTo));
  return button;
};

const rowOf = (number) => {
  const cells = number <= given.shared ? [sharedButton(number)] : stories.map((story) => (number <= story.count ? buttonOf(story, number) : ended(story, number)));
  rows.set(number, cells.filter((cell) => cell.matches("button")));
  return kmc.html("li", { class: number <= given.shared ? "shared" : "pair" }, cells);
};

const drawRows = () => {
  const numbers = Array.from({ length: count }, (_, place) => place + 1);
  const items = numbers.flatMap((number) => [number === given.shared + 1 && kmc.html("li", { class: "parts" }, `They part in state ${number}`), rowOf(number)]);
  // Where each trace ends, unless it ends with the last row.
  const last = stories.some((story) => story.count === count && story.loop !== null) && kmc.html("li", { class: "pair" }, stories.map((story) => ended(story, count + 1)));
  by("names").replaceChildren(...given.names.map((name) => kmc.html("b", {}, name)));
  by("rows").replaceChildren(...[...items, last].filter(Boolean));
};

// ---- the states

const panels = given.names.map((name) => kmc.html("section", { class: "state", "aria-label": name }));

const drawPanel = (element, story, number) => {
  if (number > story.count) {
    element.replaceChildren(kmc.html("p", { class: "empty" }, story.loop === null ? `This trace ends in state ${story.count}.` : `This trace is a lasso of ${story.count} states: ${kmc.loopText(story.loop)}.`));
    return;
  }
  kmc.statePanel(element, story, { step: number, lanes: story.lanes, processed: true, variables: true, messages: true, onStep: choose, onMessage: (message) => openMessage(story, message) });
};

// A message as an element of a set is called by its kind and ends: its number may be another in each trace.
const briefs = new Map(stories.flatMap((story) => story.messages.map((message) => [story.worded(message.value), kmc.arrows(message.brief)])));

const placeOf = ({ path, lane }) => {
  const place = stories[0].changePlace({ path: path.map((part) => briefs.get(part) ?? part), lane });
  return lane === null ? place : `${place} of ${lane}`;
};

const textOf = (text) => (text === null ? "absent" : briefs.get(text) ?? text);

const differences = (number) => {
  const found = given.differences[number - 1];
  const title = kmc.html("h2", {}, "Where they differ");
  if (number <= given.shared) return kmc.html("section", { class: "part" }, title, kmc.html("p", { class: "empty" }, "This state is the same in both traces."));
  if (found === undefined) return null;
  if (!found.length) return kmc.html("section", { class: "part" }, title, kmc.html("p", { class: "empty" }, "Equal states, by different steps."));
  const more = given.more[number - 1];
  return kmc.html("section", { class: "part" }, title,
    kmc.html("table", { class: "differ" },
      kmc.html("thead", {}, kmc.html("tr", {}, kmc.html("td", {}), given.names.map((name) => kmc.html("th", { scope: "col" }, name)))),
      kmc.html("tbody", {}, found.map((one) => kmc.html("tr", {}, kmc.html("th", { scope: "row" }, placeOf(one)), [one.left, one.right].map((text) => kmc.html("td", {}, textOf(text))))))),
    more > 0 && kmc.html("p", { class: "empty" }, `and ${more} more`));
};

const draw = () => {
  for (const [number, buttons] of rows)
    for (const [place, button] of buttons.entries()) {
      const isCurrent = number === step;
      button.classList.toggle("current", isCurrent);
      button.tabIndex = isCurrent && place === 0 ? 0 : -1;
      if (isCurrent) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    }
  const alike = step <= given.shared;
  by("differences").replaceChildren(...[differences(step)].filter(Boolean));
  by("panels").classList.toggle("alike", alike);
  panels[1].hidden = alike;
  for (const [place, story] of stories.entries()) drawPanel(panels[place], story, step);
  by("position").textContent = `${step} / ${count}`;
};

function choose(number, focus = false) {
  step = Math.max(1, Math.min(count, number));
  draw();
  const [row] = rows.get(step);
  if (focus || by("rows").contains(document.activeElement)) row.focus({ preventScroll: true });
  if (!matchMedia("(max-width: 1000px)").matches) row.scrollIntoView({ block: "nearest" });
  by("spoken").textContent = `State ${step} of ${count}: ${step <= given.shared ? "the same in both traces" : stories.map((story) => story.step(step)?.label ?? "ended").join(", or ")}.`;
  // Inside another page, as a notebook shows it, there is no address of its own.
  if (location.protocol !== "about:") history.replaceState(null, "", `#step=${step}`);
}

const openMessage = (story, number) => {
  const message = story.message(number);
  by("message-title").textContent = `m${message.number} ${message.kind}`;
  by("message-body").replaceChildren(...kmc.messageParts(story, message));
  by("message").showModal();
};

// ---- start

const KEYS = {
  ArrowDown: () => choose(step + 1, true),
  ArrowRight: () => choose(step + 1, true),
  j: () => choose(step + 1, true),
  ArrowUp: () => choose(step - 1, true),
  ArrowLeft: () => choose(step - 1, true),
  k: () => choose(step - 1, true),
  Home: () => choose(1, true),
  End: () => choose(count, true),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const scrolls = event.target.matches(".scroll") && event.target.scrollWidth > event.target.clientWidth;
  if (KEYS[event.key] === undefined || (scrolls && ["ArrowLeft", "ArrowRight"].includes(event.key))) return;
  event.preventDefault();
  KEYS[event.key]();
});

const follow = () => choose(Number(new URLSearchParams(location.hash.slice(1)).get("step")) || parting);

by("previous").addEventListener("click", () => choose(step - 1));
by("next").addEventListener("click", () => choose(step + 1));
by("parting").addEventListener("click", () => choose(parting));
by("parting").hidden = given.shared === count;
window.addEventListener("hashchange", follow);
kmc.themeButton(by("theme"));
drawRows();
by("panels").append(...panels);
follow();
