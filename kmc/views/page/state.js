// The state at a step: what changed, the logs, the table of processes, messages on their way, everything else.
"use strict";

// `view`: { step, lanes, processed, variables, messages, onStep(number), onMessage(number), onHide(expression) }; the last
// only where what is watched can be removed.
kmc.statePanel = (element, story, view) => {
  // What a person has opened stays open, and the focus stays where it was, when the next step is drawn.
  const open = new Set([...element.querySelectorAll("details[open], [aria-expanded=true]")].map((opened) => opened.dataset.key));
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const step = story.step(view.step);
  element.replaceChildren(
    ...[
      stepHeading(story, step, view),
      watchedPart(story, step, view),
      changesPart(story, step),
      recurringPart(story, step),
      ...story.logs.map((log) => logsPart(story, step, log, view, open)),
      processTable(story, step, view),
      view.messages && networkPart(story, step, view),
      view.variables && othersPart(story, step, view, open),
    ].filter(Boolean),
  );
  // Whole already: nothing more to show.
  for (const button of element.querySelectorAll(".opens[aria-expanded=false]")) button.classList.toggle("whole", !button.hasAttribute("data-hides") && button.firstChild.scrollHeight <= button.firstChild.clientHeight + 1);
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
    step.abstract && kmc.html("p", { class: "remark" }, "In the abstract spec, ", kmc.html("b", {}, kmc.arrows(step.abstract))),
    messageLine(story, step, view),
    leads && kmc.html("p", { class: "remark" }, loop.closing === null
      ? "From here on nothing happens any more."
      : `From here, ${kmc.arrows(loop.closing.label)} leads back to step ${loop.backTo}, and so on for ever.`),
  );
};

const messageLine = (story, step, view) => {
  const told = [["Receives", step.received === null ? [] : [step.received]], ["Sends", step.sent], ["Lost", step.lost]];
  const lines = told.filter(([, numbers]) => numbers.length).map(([verb, numbers]) =>
    kmc.html("li", {}, kmc.html("span", { class: "verb" }, verb), kmc.html("span", {}, numbers.map((n) => [messageButton(story.message(n), view), " "]))));
  return lines.length ? kmc.html("ul", { class: "messages-of-step" }, lines) : null;
};

const messageButton = (message, view) =>
  kmc.html("button", { type: "button", class: "message-name", "data-key": `m${message.number}`, on: { click: () => view.onMessage(message.number) } },
    kmc.html("b", {}, `m${message.number}`), ` ${kmc.arrows(message.brief)}`);

// What a message says: its ends and its fields.
kmc.messageParts = (story, message) => [
  kmc.html("p", { class: "ends" }, message.source === null ? "" : kmc.lane(message.source), " → ", message.dest === null ? "any process" : kmc.lane(message.dest)),
  kmc.html("table", { class: "fields" }, kmc.html("tbody", {}, message.fields.map(([name, text]) => kmc.html("tr", {}, kmc.html("th", { scope: "row" }, name), kmc.html("td", {}, story.named(text)))))),
];

// The expressions that a person watches.
const watchedPart = (story, step, view) => {
  if (!story.watched.length) return null;
  const texts = (name) => [step.number > 1 ? story.words(story.place(step.number - 1, name)) : null, story.words(step.state[name])];
  return part("Watched", kmc.html("dl", { class: "changes watched" }, story.watched.map((name) => {
    const [was, now] = texts(name);
    return [kmc.html("dt", { class: "where" }, name), kmc.html("dd", {}, was === null || was === now ? now : oldAndNew(was, now),
      view.onHide && [" ", kmc.html("button", { type: "button", class: "remove", "aria-label": `Remove ${name}`, title: "Remove", on: { click: () => view.onHide(name) } }, "×")])];
  })));
};

// ---- what changed

const changesPart = (story, step) => {
  if (step.number === 1) return null;
  const changes = story.ordered(step).filter((change) => !story.watched.includes(change.path[0]));
  if (!changes.length) {
    const taken = story.taken(step).map((m) => `m${m.number}`);
    const isMoved = taken.length || step.sent.length || step.lost.length;
    return part("What changed", kmc.html("p", { class: "empty" }, !isMoved ? "Nothing." : taken.length ? `Only the network: ${taken.join(", ")} is taken from it.` : "Only the network."));
  }
  // Who acts comes first, what belongs to no process last.
  const place = (owner) => (owner === step.actor ? 0 : owner === null ? 2 : 1);
  const owners = [...new Set(changes.map((change) => change.lane))].sort((a, b) => place(a) - place(b));
  return part("What changed", kmc.html("dl", { class: "changes" }, owners.map((owner) => [
    kmc.html("dt", {}, owner === null ? story.lanes.length > 0 && kmc.html("span", { class: "where" }, "shared") : kmc.lane(owner)),
    changes.filter((change) => change.lane === owner).map((change) =>
      kmc.html("dd", {}, kmc.html("span", { class: "where" }, story.changePlace(change)), " ", oldAndNew(story.named(change.old), story.named(change.new)),
        story.isCompared(change) && kmc.html("span", { class: "decides" }, "the property looks at this"))),
  ])));
};

// In a cycle, whatever it changes, and in which of its steps: a list of steps cuts long lines, and a change that undoes
// another is easily missed.
const recurringPart = (story, step) => {
  const recurring = story.loop !== null && step.number >= story.loop.backTo ? story.recurring() : [];
  if (!recurring.length) return null;
  const closing = story.loop.closing;
  const name = (one) => (one === closing ? `back to ${story.loop.backTo}` : `step ${one.number}`);
  const lost = story.cycle().flatMap((one) => [...one.lost.map((n) => [one, `m${n} lost`]), ...one.sent.map((n) => [one, `m${n} sent`])]);
  return part("What recurs in the cycle", kmc.html("dl", { class: "changes recurring" }, recurring.map(([lane, place, changes]) => [
    kmc.html("dt", {}, lane === null ? null : kmc.lane(lane)),
    kmc.html("dd", {}, kmc.html("span", { class: "where" }, place), " ", changes.map(([one, change], at) => [at > 0 && ", ",
      change.old !== null && at === 0 && `${story.named(change.old)} `, change.new === null ? "removed" : `→ ${story.named(change.new)}`, kmc.html("span", { class: "kind" }, name(one))])),
  ]), lost.length > 0 && [kmc.html("dt", {}), kmc.html("dd", {}, lost.map(([one, text], at) => [at > 0 && ", ", text, kmc.html("span", { class: "kind" }, name(one))]))]));
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
          kmc.html("th", { scope: "row", rowspan: 1 + wide.length }, kmc.lane(lane)),
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
  const lanes = view.lanes.filter((lane) => story.inColumn(step.number, log, lane) !== undefined);
  const alike = alikeInEntries(story, log);
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
        kmc.html("tbody", {}, lanes.map((lane) => logRow(story, step, { lane, variable: log.title, entries: logs.get(lane), before: before.get(lane), open, alike }, offsets, committed)))),
    ),
    committed && kmc.html("p", { class: "legend" }, kmc.html("span", { class: "limit-sample" }), ` ${columnTitle(story, story.committed)}`));
};

// A log or a limit that a column of the table shows, too, is called by that column's title.
const columnTitle = (story, place) => story.columns.find((column) => `${[column.variable, ...column.fields]}` === `${[place.variable, ...place.fields]}`)?.title ?? place.title;

const entriesOf = (story, number, log, lane) => {
  const index = story.inColumn(number, log, lane);
  return index !== undefined && story.kind(index) === "seq" ? story.values[index].slice(1) : [];
};

const logRow = (story, step, { lane, variable, entries, before, open, alike }, offsets, committed) => {
  const key = (offset) => `entry ${variable} ${lane} ${offset}`;
  const limit = committed ? story.values[story.inColumn(step.number, story.committed, lane)] : null;
  return kmc.html("tr", {},
    kmc.html("th", { scope: "row" }, kmc.lane(lane)),
    offsets.map((offset) => {
      const classes = [offset === limit && "limit"];
      const now = entries[offset - 1];
      const old = before[offset - 1];
      if (now === undefined && old === undefined) return kmc.html("td", { class: classes.filter(Boolean).join(" ") });
      if (now === undefined) return kmc.html("td", { class: [...classes, "entry", "gone"].filter(Boolean).join(" ") }, entryTexts(story, old, key(offset), open, alike), kmc.html("span", { class: "kind" }, "removed"));
      const { epoch } = entryParts(story, now);
      const kind = old === undefined ? "new" : old !== now ? "changed" : null;
      return kmc.html("td", { class: [...classes, "entry", epoch !== null && `epoch-${epoch % 4}`, kind && "fresh"].filter(Boolean).join(" "), title: story.words(now) },
        entryTexts(story, now, key(offset), open, alike), kind && kmc.html("span", { class: "kind" }, kind));
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

// The fields of an entry's value, [[name, index], ...]; [["", index]] for a value that is no record.
const entryFields = (story, rest) => {
  if (rest.length !== 1 || story.kind(rest[0][1]) !== "rec" || story.namesOfMessages.has(rest[0][1])) return rest;
  return story.fields(rest[0][1]);
};

// The names of fields that have one and the same value in all entries of this log, while others tell entries apart.
const alikeInEntries = (story, log) => {
  story.alike ??= new Map();
  if (story.alike.has(log)) return story.alike.get(log);
  const known = new Map();
  const entries = new Set(story.steps.flatMap((step) => story.lanes.flatMap((lane) => entriesOf(story, step.number, log, lane))));
  for (const entry of entries)
    for (const [name, index] of entryFields(story, entryParts(story, entry).rest)) known.set(name, (known.get(name) ?? new Set()).add(index));
  const alike = [...known].filter(([, values]) => values.size === 1).map(([name]) => name);
  story.alike.set(log, new Set(entries.size > 1 && alike.length < known.size ? alike : []));
  return story.alike.get(log);
};

// What differs between entries; opened, an entry shows all of it.
const entryTexts = (story, index, key, open, alike) => {
  const { epoch, rest, name } = entryParts(story, index);
  const fields = entryFields(story, rest);
  const different = fields.filter(([field]) => !alike.has(field));
  const texts = (shown) => shown.map(([field, value]) => `${shown.length > 1 && field ? `${field} ` : ""}${story.words(value)}`).join(", ");
  const [brief, whole] = [texts(different.length ? different : fields), texts(fields)];
  const toggle = ({ currentTarget }) => {
    const isOpen = currentTarget.getAttribute("aria-expanded") !== "true";
    currentTarget.setAttribute("aria-expanded", String(isOpen));
    currentTarget.firstChild.replaceChildren(...kmc.breakable(isOpen ? whole : brief));
  };
  const isOpen = open.has(key);
  const shown = [
    kmc.html("span", { class: "entry-value" }, kmc.breakable(isOpen ? whole : brief)),
    name && kmc.html("span", { class: "entry-epoch" }, `${name} ${epoch}`),
  ];
  if (whole.length <= ENTRY && brief === whole) return shown;
  return kmc.html("button", { type: "button", class: "opens", "data-key": key, "data-hides": brief !== whole, "aria-expanded": String(isOpen), on: { click: toggle } }, shown);
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
  const shown = new Set([...story.watched, ...story.networks, ...story.archives, ...[...story.logs, ...story.columns].filter((place) => !place.fields.length).map((place) => place.variable)]);
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
      kmc.html("th", { scope: "row" }, kmc.lane(lane)),
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
