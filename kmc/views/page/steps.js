// The list of steps: a button for each, with its number, what happened, who acted and what changed.
"use strict";

// `view`: { step, steps (numbers that are shown), onStep(number) }. Returns { update(view) }.
kmc.stepList = (element, story, view) => {
  const rows = new Map(view.steps.map((number) => [number, kmc.stepRow(story, story.step(number), view)]));
  const closing = story.loop === null ? null : kmc.closingRow(story, view);
  element.replaceChildren(...[...rows.values()].map((row) => kmc.html("li", {}, row)), ...(closing ? [kmc.html("li", {}, closing)] : []));
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
      kmc.html("span", { class: "label" }, kmc.html("span", {}, kmc.halves(story.title(step)[0])[0]), kmc.html("span", { class: "last-word" }, kmc.halves(story.title(step)[0])[1]), story.title(step)[1] && kmc.html("span", { class: "ends-of-message" }, ` ${story.title(step)[1]}`)),
      kmc.html("span", { class: "below" },
        kmc.html("span", { class: "summary" }, step.matters ? story.summary(step) : `not needed: ${step.note || story.summary(step)}`),
        // Below the name, which would be cut beside it.
        story.why !== null && loop === null && step.number === story.count && kmc.html("span", { class: "failed" }, "fails here")),
    ),
    step.actor !== null && kmc.lane(story, step.actor),
  );
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
      kmc.html("span", { class: "label" }, kmc.html("span", {}, closing === null ? "Nothing happens any more" : kmc.arrows(closing.label))),
      kmc.html("span", { class: "summary" }, closing === null ? "for ever" : `for ever ${kmc.loopText(story.loop)}`),
    ),
    closing !== null && closing.actor !== null && kmc.lane(story, closing.actor),
  );
};

// A process: its name beside its colour.
kmc.lane = (story, name) => kmc.html("span", { class: `lane ${kmc.laneClass(story, name)}` }, name);

kmc.laneClass = (story, name) => `lane-${story.lanes.indexOf(name) % 8}`;
