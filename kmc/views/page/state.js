// The state at a step: what changed, the logs, the table of processes, messages on their way, everything else.
"use strict";

// `view`: { step, lanes, processed, variables, messages, onStep(number), onMessage(number) }.
kmc.statePanel = (element, story, view) => {
  // What a person has opened stays open, and the focus stays where it was, when the next step is drawn.
  const open = new Set([...element.querySelectorAll("details[open], [aria-expanded=true]")].map((opened) => opened.dataset.key));
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const step = story.step(view.step);
  element.replaceChildren(
    ...[
      stepHeading(story, step, view),
      changesPart(story, step),
      ...story.logs.map((log) => logsPart(story, step, log, view, open)),
      processTable(story, step, view),
      view.messages && networkPart(story, step, view),
      view.variables && othersPart(story, step, view, open),
    ].filter(Boolean),
  );
  // Whole already: nothing more to show.
  for (const button of element.querySelectorAll(".opens[aria-expanded=false]")) button.classList.toggle("whole", button.firstChild.scrollHeight <= button.firstChild.clientHeight + 1);
  if (focused) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
};

const part = (title, ...children) => kmc.html("section", { class: "part" }, kmc.html("h3", {}, title), ...children);

const stepHeading = (story, step, view) => {
  const { loop } = story;
  const leads = loop !== null && step.number === story.count;
  return kmc.html(
    "header",
    { class: "step-heading" },
    kmc.html("h2", {}, kmc.html("span", { class: "step-number" }, `Step ${step.number} of ${story.count}`), " ", kmc.arrows(step.label)),
    step.doc && kmc.html("p", { class: "doc" }, step.doc, step.place && kmc.html("span", { class: "place" }, ` ${step.place}`)),
    !step.matters && kmc.html("p", { class: "remark" }, `Not needed for the failure${step.note ? `: ${step.note}` : ""}`),
    step.majorities.map((majority) => kmc.html("p", { class: "remark" }, "A majority: ", kmc.html("b", {}, majority))),
    messageLine(story, step, view),
    leads && kmc.html("p", { class: "remark" }, loop.closing === null
      ? "From here on nothing happens any more."
      : `From here, ${kmc.arrows(loop.closing.label)} leads back to step ${loop.backTo}, and so on for ever.`),
  );
};

const messageLine = (story, step, view) => {
  const told = [["Receives", step.received === null ? [] : [step.received]], ["Sends", step.sent], ["Lost", step.lost]];
  const lines = told.filter(([, numbers]) => numbers.length).map(([verb, numbers]) =>
    kmc.html("li", {}, kmc.html("span", { class: "verb" }, verb), " ", numbers.map((n) => messageButton(story.message(n), view))));
  return lines.length ? kmc.html("ul", { class: "messages-of-step" }, lines) : null;
};

const messageButton = (message, view) =>
  kmc.html("button", { type: "button", class: "message-name", "data-key": `m${message.number}`, on: { click: () => view.onMessage(message.number) } },
    kmc.html("b", {}, `m${message.number}`), ` ${kmc.arrows(message.brief)}`);

// ---- what changed

const changesPart = (story, step) => {
  if (step.number === 1) return null;
  if (!step.changes.length) {
    const taken = story.taken(step).map((m) => `m${m.number}`);
    const isMoved = taken.length || step.sent.length || step.lost.length;
    return part("What changed", kmc.html("p", { class: "empty" }, !isMoved ? "Nothing." : taken.length ? `Only the network: ${taken.join(", ")} is taken from it.` : "Only the network."));
  }
  const changes = story.ordered(step);
  // Who acts comes first, what belongs to no process last.
  const place = (owner) => (owner === step.actor ? 0 : owner === null ? 2 : 1);
  const owners = [...new Set(changes.map((change) => change.lane))].sort((a, b) => place(a) - place(b));
  return part("What changed", kmc.html("dl", { class: "changes" }, owners.map((owner) => [
    kmc.html("dt", {}, owner === null ? story.lanes.length > 0 && kmc.html("span", { class: "where" }, "shared") : kmc.lane(story, owner)),
    changes.filter((change) => change.lane === owner).map((change) =>
      kmc.html("dd", {}, kmc.html("span", { class: "where" }, story.changePlace(change)), " ", oldAndNew(story.named(change.old), story.named(change.new)),
        story.isCompared(change) && kmc.html("span", { class: "decides" }, "the property looks at this"))),
  ])));
};

const oldAndNew = (old, now) => kmc.html("span", { class: "change" },
  old !== null && kmc.html("del", {}, old),
  old !== null && now !== null && " → ",
  now !== null && kmc.html("ins", {}, now),
  old === null && kmc.html("span", { class: "kind" }, " added"),
  now === null && kmc.html("span", { class: "kind" }, " removed"));

// ---- the table of processes

const processTable = (story, step, view) => {
  if (!view.lanes.length || !story.columns.length) return null;
  const wide = story.wideColumns();
  const columns = story.columns.filter((column) => !wide.includes(column));
  return part("Where everyone stands", kmc.html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of processes" },
    kmc.html("table", { class: "processes" },
      kmc.html("thead", {}, kmc.html("tr", {}, kmc.html("td", {}), columns.map((column) => kmc.html("th", { scope: "col" }, column.title)))),
      kmc.html("tbody", {}, view.lanes.map((lane) => [
        kmc.html("tr", { class: [lane === step.actor && "actor", wide.length && "goes-on"].filter(Boolean).join(" ") },
          kmc.html("th", { scope: "row", rowspan: 1 + wide.length }, kmc.lane(story, lane)),
          columns.map((column) => processCell(story, step, column, lane))),
        wide.map((column, place) => kmc.html("tr", { class: [lane === step.actor && "actor", place + 1 < wide.length && "goes-on"].filter(Boolean).join(" ") },
          wideCell(story, step, column, lane, columns.length))),
      ])))));
};

const processCell = (story, step, column, lane) => {
  const now = story.cell(step.number, column, lane);
  const before = step.number > 1 ? story.cell(step.number - 1, column, lane) : now;
  if (now === before) return kmc.html("td", {}, now);
  return kmc.html("td", { class: "changed" }, oldAndNew(before || null, now || null));
};

// A long value, over the width of the table. Of a record, only the fields that changed show what they were.
const wideCell = (story, step, column, lane, width) => {
  const index = story.inColumn(step.number, column, lane);
  const old = step.number > 1 ? story.inColumn(step.number - 1, column, lane) : index;
  const isRecord = index !== undefined && story.kind(index) === "rec" && !story.namesOfMessages.has(index);
  const before = new Map(isRecord && old !== undefined && story.kind(old) === "rec" ? story.fields(old) : []);
  const texts = isRecord
    ? story.fields(index).map(([name, now]) => [name, story.words(before.get(name) ?? now), story.words(now)])
    : [["", story.words(old), story.words(index)]];
  return kmc.html("td", { class: index === old ? "long" : "long changed", colspan: Math.max(1, width) }, kmc.html("span", { class: "where" }, column.title),
    texts.map(([name, was, now]) => kmc.html("span", { class: "piece" }, name && kmc.html("span", { class: "key" }, `${name} `), was === now ? now : oldAndNew(was || null, now || null))));
};

// ---- logs, a cell for each entry

const logsPart = (story, step, log, view, open) => {
  const there = view.lanes.filter((lane) => story.inColumn(step.number, log, lane) !== undefined);
  // What the step changed stands first, where it is seen.
  const isNew = (lane) => step.number > 1 && story.inColumn(step.number, log, lane) !== story.inColumn(step.number - 1, log, lane);
  const lanes = [...there.filter(isNew), ...there.filter((lane) => !isNew(lane))];
  const logs = new Map(lanes.map((lane) => [lane, entriesOf(story, step.number, log, lane)]));
  const before = new Map(lanes.map((lane) => [lane, step.number > 1 ? entriesOf(story, step.number - 1, log, lane) : logs.get(lane)]));
  const length = Math.max(0, ...[...logs.values(), ...before.values()].map((entries) => entries.length));
  if (!length) return null;
  const offsets = Array.from({ length }, (_, place) => place + 1);
  const committed = story.committed !== null && story.logs[0] === log;
  return part(story.logs.length > 1 || log.title !== "log" ? `Logs: ${log.title}` : "Logs",
    kmc.html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Logs, ${log.title}` },
      kmc.html("table", { class: "logs" },
        kmc.html("thead", {}, kmc.html("tr", {}, kmc.html("td", {}), offsets.map((offset) => kmc.html("th", { scope: "col" }, String(offset))))),
        kmc.html("tbody", {}, lanes.map((lane) => logRow(story, step, { lane, variable: log.title, entries: logs.get(lane), before: before.get(lane), open }, offsets, committed)))),
    ),
    committed && kmc.html("p", { class: "legend" }, kmc.html("span", { class: "limit-sample" }), ` ${columnTitle(story, story.committed)}`));
};

// A log or a limit that a column of the table shows, too, is called by that column's title.
const columnTitle = (story, place) => story.columns.find((column) => `${[column.variable, ...column.fields]}` === `${[place.variable, ...place.fields]}`)?.title ?? place.title;

const entriesOf = (story, number, log, lane) => {
  const index = story.inColumn(number, log, lane);
  return index !== undefined && story.kind(index) === "seq" ? story.values[index].slice(1) : [];
};

const logRow = (story, step, { lane, variable, entries, before, open }, offsets, committed) => {
  const key = (offset) => `entry ${variable} ${lane} ${offset}`;
  const limit = committed ? story.values[story.inColumn(step.number, story.committed, lane)] : null;
  return kmc.html("tr", {},
    kmc.html("th", { scope: "row" }, kmc.lane(story, lane)),
    offsets.map((offset) => {
      const classes = [offset === limit && "limit"];
      const now = entries[offset - 1];
      const old = before[offset - 1];
      if (now === undefined && old === undefined) return kmc.html("td", { class: classes.filter(Boolean).join(" ") });
      if (now === undefined) return kmc.html("td", { class: [...classes, "entry", "gone"].filter(Boolean).join(" ") }, entryTexts(story, old, key(offset), open), kmc.html("span", { class: "kind" }, "removed"));
      const { epoch } = entryParts(story, now);
      const kind = old === undefined ? "new" : old !== now ? "changed" : null;
      return kmc.html("td", { class: [...classes, "entry", epoch !== null && `epoch-${epoch % 6}`, kind && "fresh"].filter(Boolean).join(" "), title: story.words(now) },
        entryTexts(story, now, key(offset), open), kind && kmc.html("span", { class: "kind" }, kind));
    }));
};

// An entry is coloured by its first number, in all logs that we know its epoch; the rest is its text.
const entryParts = (story, index) => {
  if (story.kind(index) !== "rec") return { epoch: typeof story.values[index] === "number" ? story.values[index] : null, rest: [["", index]], name: "" };
  const fields = story.fields(index);
  const numbered = fields.find(([, value]) => typeof story.values[value] === "number");
  const rest = fields.filter((field) => field !== numbered && story.values[field[1]] !== NIL);
  return { epoch: numbered ? story.values[numbered[1]] : null, rest, name: numbered ? numbered[0] : "" };
};

const ENTRY = 36; // a longer text is cut until a person opens it

const entryTexts = (story, index, key, open) => {
  const { epoch, rest, name } = entryParts(story, index);
  const text = rest.map(([, value]) => story.words(value)).join(" ");
  const isLong = text.length > ENTRY;
  const toggle = ({ currentTarget }) => currentTarget.setAttribute("aria-expanded", String(currentTarget.getAttribute("aria-expanded") !== "true"));
  return [
    isLong
      ? kmc.html("button", { type: "button", class: "opens", "data-key": key, "aria-expanded": String(open.has(key)), on: { click: toggle } }, kmc.html("span", { class: "entry-value" }, kmc.breakable(text)))
      : kmc.html("span", { class: "entry-value" }, kmc.breakable(text)),
    name && kmc.html("span", { class: "entry-epoch" }, `${name} ${epoch}`),
  ];
};

// ---- messages on their way

const networkPart = (story, step, view) => {
  if (!story.networks.length) return null;
  const there = story.inFlight(step.number).filter((message) => view.processed || !story.isProcessed(message, step.number));
  const title = `Messages on their way (${there.length})`;
  if (!there.length) return part(title, kmc.html("p", { class: "empty" }, "None."));
  return part(title, kmc.html("ul", { class: "network" }, there.map((message) => kmc.html("li", { class: step.sent.includes(message.number) ? "fresh" : "" },
    messageButton(message, view),
    step.sent.includes(message.number) && kmc.html("span", { class: "kind" }, "new"),
    story.isProcessed(message, step.number) && kmc.html("span", { class: "kind" }, "already received once")))));
};

// ---- everything else, closed until asked for

const othersPart = (story, step, view, open) => {
  const shown = new Set([...story.networks, ...story.archives, ...[...story.logs, ...story.columns].filter((place) => !place.fields.length).map((place) => place.variable)]);
  const names = story.variables.filter((name) => !shown.has(name) && name in step.state);
  const archives = view.processed ? story.archives.filter((name) => name in step.state) : [];
  const rows = [...names, ...archives].map((name) => otherVariable(story, step, name, view, open));
  if (!rows.length) return null;
  const changed = [...names, ...archives].filter((name) => isChanged(story, step, name)).length;
  // Where there are no processes to show, the variables are all there is.
  const isOpen = open.has("others") || !view.lanes.length;
  return kmc.html("details", { class: "part", "data-key": "others", open: isOpen },
    kmc.html("summary", { "data-key": "others-summary" }, kmc.html("h3", {}, view.lanes.length ? "Other variables" : "Variables"), ` ${rows.length}${changed ? `, ${changed} changed` : ""}`),
    kmc.html("dl", { class: "variables" }, rows));
};

const isChanged = (story, step, name) => step.number > 1 && story.place(step.number - 1, name) !== step.state[name];

const otherVariable = (story, step, name, view) => {
  const changed = isChanged(story, step, name);
  const title = kmc.html("dt", { class: changed ? "fresh" : "" }, name, changed && kmc.html("span", { class: "kind" }, "changed"));
  const index = step.state[name];
  if (!story.ofLane.includes(name)) return [title, kmc.html("dd", {}, value(story, index, changed ? story.place(step.number - 1, name) : index))];
  return [title, kmc.html("dd", {}, kmc.html("table", { class: "by-process" }, kmc.html("tbody", {},
    view.lanes.filter((lane) => story.atLane(index, lane) !== undefined).map((lane) => kmc.html("tr", {},
      kmc.html("th", { scope: "row" }, kmc.lane(story, lane)),
      kmc.html("td", {}, value(story, story.atLane(index, lane), step.number > 1 ? story.place(step.number - 1, name, lane) : story.atLane(index, lane))))))))];
};

// A value over as many lines as it needs; a member or field is marked where the value before had another there.
const value = (story, index, before) => {
  const fresh = before !== index;
  const text = story.words(index);
  if (text.length <= 60 || !["set", "seq", "rec", "map"].includes(story.kind(index))) return kmc.html(fresh ? "ins" : "span", { class: "value" }, text);
  const known = new Set(before !== undefined && Array.isArray(story.values[before]) ? story.values[before].slice(1) : []);
  const parts = story.kind(index) === "rec" ? story.fields(index) : story.entries(index) ?? story.values[index].slice(1).map((element) => ["", element]);
  return kmc.html("ul", { class: "value" }, parts.map(([key, element]) =>
    kmc.html("li", {}, key && kmc.html("span", { class: "key" }, `${key}: `), kmc.html(fresh && !known.has(element) ? "ins" : "span", {}, story.words(element)))));
};
