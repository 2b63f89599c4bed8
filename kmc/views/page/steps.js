// The list of steps: a button for each, with its number, what happened, who acted and what changed.
"use strict";

// `view`: { step, steps (numbers that are shown), onStep(number) }. Returns { update(view) }.
kmc.stepList = (element, story, view) => {
  const rows = new Map(view.steps.map((number) => [number, kmc.stepRow(story, story.step(number), view)]));
  const closing = story.loop === null ? null : kmc.closingRow(story, view);
  const values = watchedWidths(story).reduce((sum, width) => sum + width, 0);
  for (const [name, width] of [["--names", kmc.listWidth(story) + values], ["--names-least", kmc.listWidth(story, kmc.leastWidth)], ["--values", values]]) element.parentElement.style.setProperty(name, `${width}px`);
  element.classList.toggle("watching", story.watched.length > 0);
  element.replaceChildren(...watchedHead(story), ...[...rows.values()].map((row) => kmc.html("li", {}, row)), ...(closing ? [kmc.html("li", {}, closing)] : []));
  const update = (now) => {
    for (const [number, row] of rows) {
      const isCurrent = number === now.step;
      row.classList.toggle("current", isCurrent);
      row.classList.toggle("found", now.found?.has(number) ?? false);
      row.classList.toggle("dimmed", Boolean(now.found?.size) && !now.found.has(number));
      // One stop of the Tab key for the whole list; the arrow keys move inside it.
      row.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    }
  };
  update(view);
  return { update, row: (number) => rows.get(number) };
};

kmc.stepRow = (story, step, view) => {
  const { loop } = story;
  const classes = ["step"];
  if (!step.matters) classes.push("aside");
  if (loop !== null && step.number >= loop.backTo) classes.push("in-cycle");
  return kmc.html(
    "button",
    {
      class: classes.join(" "),
      type: "button",
      "data-step": step.number,
      title: step.note || step.doc,
      on: { click: () => view.onStep(step.number) },
    },
    kmc.html("span", { class: "number" }, String(step.number)),
    kmc.html(
      "span",
      { class: "what" },
      kmc.stepLabel(...story.title(step)),
      kmc.html("span", { class: "below" },
        kmc.html("span", { class: "summary" }, step.matters ? story.summary(step) : `not needed: ${step.note || story.summary(step)}`),
        // Below the name, which would be cut beside it.
        story.failsAt(step.number) && kmc.html("span", { class: "failed" }, loop === null ? "fails here" : "fails from here on")),
    ),
    step.actor !== null && kmc.lane(step.actor),
    watchedCells(story, (name) => [story.words(step.state[name]), step.number > 1 && story.place(step.number - 1, name) !== step.state[name]]),
  );
};

// ---- a column for each expression that a person watches

const WATCHED = { least: 34, most: 130, padding: 12, head: "400 12px", value: "600 14px" };

const watchedWidths = (story) => {
  story.watchedWidths ??= story.watched.map((name) => {
    const widest = story.steps.reduce((most, step) => Math.max(most, kmc.textWidth(kmc.shortened(story.words(step.state[name]), 40), WATCHED.value)), kmc.textWidth(name, WATCHED.head));
    return WATCHED.padding + Math.ceil(Math.max(WATCHED.least, Math.min(WATCHED.most, widest)));
  });
  return story.watchedWidths;
};

// `told(name)` is [text, whether it changed].
const watchedCells = (story, told) => {
  if (!story.watched.length) return null;
  return kmc.html("span", { class: "watched-values" }, story.watched.map((name, place) => {
    const [text, isChanged] = told(name);
    const cell = kmc.html("span", { class: isChanged ? "watched-value changed" : "watched-value", title: `${name} = ${text}` }, kmc.html("span", { class: "unseen" }, `${name}: `), text);
    cell.style.width = `${watchedWidths(story)[place]}px`;
    return cell;
  }));
};

const watchedHead = (story) => {
  if (!story.watched.length) return [];
  const names = story.watched.map((name, place) => {
    const cell = kmc.html("span", { class: "watched-value", title: name }, name);
    cell.style.width = `${watchedWidths(story)[place]}px`;
    return cell;
  });
  return [kmc.html("li", { class: "watched-head", "aria-hidden": "true" }, kmc.html("span", { class: "watched-values" }, names))];
};

// What happened, never cut: it breaks between the words of a name where the list is narrow.
kmc.stepLabel = (name, ends) => kmc.html("span", { class: "label" }, kmc.html("span", { class: "name-of-step" }, kmc.breakable(name)), ends && [" ", kmc.html("span", { class: "ends-of-message" }, ends)]);

const LIST = { least: 240, beside: 26 + 8 + 8 + 10 + 8, name: "600 14px", ends: "400 14px", lane: "600 14px" };

// How wide a name has to be to stand in one line, with the ends of its message.
kmc.wholeWidth = (name, ends) => kmc.textWidth(name, LIST.name) + kmc.textWidth(ends && ` ${ends}`, LIST.ends);

// How wide it has to be to stand in two.
kmc.leastWidth = (name, ends) => {
  const parts = (ends ? `${name} ${ends}` : name).split(/(?<=[a-z0-9])(?=[A-Z])|(?<= )/);
  const width = (some) => kmc.textWidth(some.join("").trimEnd(), LIST.name);
  return Math.min(...parts.map((_, place) => Math.max(width(parts.slice(0, place)), width(parts.slice(place)))));
};

// How wide the list of steps has to be so that every name has this room.
kmc.listWidth = (story, room = kmc.wholeWidth) => {
  const rows = story.steps.map((step) => {
    const [name, ends] = story.title(step);
    const lane = step.actor === null ? 0 : kmc.textWidth(step.actor, LIST.lane);
    return room(name, ends) + lane + LIST.beside;
  });
  return Math.ceil(Math.max(room === kmc.wholeWidth ? LIST.least : 0, ...rows));
};

kmc.closingRow = (story, view) => {
  const { backTo, closing } = story.loop;
  return kmc.html(
    "button",
    { class: "step closing in-cycle", type: "button", tabindex: -1, on: { click: () => view.onStep(backTo) } },
    kmc.html("span", { class: "number" }, "↩"),
    kmc.html(
      "span",
      { class: "what" },
      closing === null ? kmc.stepLabel("Nothing happens any more", "") : kmc.stepLabel(...story.title(closing)),
      kmc.html("span", { class: "summary" }, closing === null ? "for ever" : `for ever ${kmc.loopText(story.loop)}`),
    ),
    closing !== null && closing.actor !== null && kmc.lane(closing.actor),
    closing !== null && watchedCells(story, (name) => [story.words(closing.state[name]), story.place(story.count, name) !== closing.state[name]]),
  );
};

// The name of a process.
kmc.lane = (name) => kmc.html("span", { class: "lane" }, name);
