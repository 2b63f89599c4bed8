// The story as scripts read it: values by index, texts for people, places by process. Everything that the page and the
// explorer share hangs on the one global `kmc`. Nothing here touches the document but `html` and `svg`, which build
// elements from text nodes: no value of a trace is ever parsed as markup.
"use strict";

const kmc = {};

const WIDE = 24; // a longer value does not stand in a column
const NIL = "Nil"; // how TLA+ writes what is not there

kmc.html = (tag, attributes = {}, ...children) => kmc.fill(document.createElement(tag), attributes, children);

kmc.svg = (tag, attributes = {}, ...children) =>
  kmc.fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Attributes that are null, undefined or false are left out; `on` is an object of listeners.
kmc.fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
};

// How a lasso goes on.
kmc.loopText = (loop) => (loop.closing === null ? "nothing happens any more" : `again from step ${loop.backTo}`);

// A button that changes the colours: as the system has them, light, dark.
kmc.themeButton = (button) => {
  const root = document.documentElement;
  const themes = ["auto", "light", "dark"];
  const set = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    button.textContent = `◐ ${theme}`;
    button.setAttribute("aria-label", `Colours: ${theme}`);
  };
  button.addEventListener("click", () => set(themes[(themes.indexOf(root.dataset.theme ?? "auto") + 1) % 3]));
  set("auto");
};

kmc.plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

// Labels come with ASCII arrows, as a terminal shows them.
kmc.arrows = (text) => text.replaceAll(/(?<!\|)->/g, "→"); // not the |-> of TLA+

// The parts between commas that stand in no brackets: a process may be a pair, {n1, n2}.
kmc.clauses = (text) => {
  const found = [""];
  let depth = 0;
  for (const part of text.split(/(, |[([{}\])])/)) {
    if (part === ", " && depth === 0) found.push("");
    else found[found.length - 1] += part;
    if (/^[([{]$/.test(part)) depth += 1;
    if (/^[)\]}]$/.test(part)) depth -= 1;
  }
  return found;
};

// The text with a place to break before each capital inside a word: InitCluster|Command.
kmc.breakable = (text) => text.split(/(?<=[a-z0-9])(?=[A-Z])/).flatMap((word, place) => (place ? [document.createElement("wbr"), word] : [word]));

// How wide a text is in this weight and size, in the type of the page.
kmc.textWidth = (text, font) => {
  kmc.canvas ??= document.createElement("canvas").getContext("2d");
  kmc.canvas.font = `${font} ${getComputedStyle(document.documentElement).fontFamily}`;
  return kmc.canvas.measureText(text).width;
};

// The text cut so that it is at most this wide; a name of two words or more is cut in its middle: Fet…Response.
kmc.cut = (text, width, font) => {
  const fits = (shown) => kmc.textWidth(shown, font) <= width;
  if (fits(text)) return text;
  const last = /^(?:m\d+ )?[A-Z]\w*?[a-z0-9]([A-Z][a-z0-9]*)$/.exec(text)?.[1] ?? "";
  for (const end of last ? [last, ""] : [""])
    for (let kept = text.length - end.length - 1; kept >= 3; kept -= 1) if (fits(`${text.slice(0, kept)}…${end}`)) return `${text.slice(0, kept)}…${end}`;
  return `${text.slice(0, 2)}…`;
};

kmc.shortened = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

kmc.Story = class {
  // `data` is what kmc/views/page/data.py writes.
  constructor(data) {
    Object.assign(this, data);
    this.count = data.steps.length;
    this.texts = new Map();
    // A state that holds a message's record shows its name: m3 FetchRequest. The first of equal ones gives it.
    this.namesOfMessages = new Map([...data.messages].reverse().map((m) => [m.value, `m${m.number} ${m.kind}`]));
    this.namesOfRecords = new Map(data.messages.map((m) => [this.worded(m.value), this.namesOfMessages.get(m.value)]));
    this.role = this.roleColumn();
    this.epoch = this.columns.find((column) => /^(epoch|term)$/i.test(column.title)) ?? null;
    this.guilty = new Set((this.why?.instance ?? []).map(([, value]) => value).filter((v) => this.lanes.includes(v)));
  }

  step(number) {
    return this.steps[number - 1];
  }

  // Where a reader begins: at the failure; in a lasso where the property begins to fail, else where the cycle begins.
  opensAt() {
    if (this.loop === null) return this.count;
    return Math.min(this.loop.failsFrom ?? this.loop.backTo, this.count);
  }

  // Whether the list marks a step: the last one of a trace, or the one from which on a lasso fails.
  failsAt(number) {
    return this.why !== null && number === (this.loop === null ? this.count : this.loop.failsFrom);
  }

  // The steps of the cycle, the one that closes it last.
  cycle() {
    if (this.loop === null) return [];
    return [...this.steps.slice(this.loop.backTo), ...(this.loop.closing === null ? [] : [this.loop.closing])];
  }

  // What recurs: [[lane, place, [[step, change], ...]], ...], every change of the cycle, those of one place together.
  recurring() {
    const places = new Map();
    for (const step of this.cycle())
      for (const change of this.ordered(step)) {
        const key = `${change.lane ?? ""} ${this.changePlace(change)}`;
        if (!places.has(key)) places.set(key, [change.lane, this.changePlace(change), []]);
        places.get(key)[2].push([step, change]);
      }
    return [...places.values()];
  }

  message(number) {
    return this.messages[number - 1];
  }

  // [[text of the key, index of the value], ...] of a function or a sequence; null for any other value.
  entries(index) {
    const value = this.values[index];
    if (!Array.isArray(value)) return null;
    const [kind, ...parts] = value;
    if (kind === "seq") return parts.map((part, place) => [String(place + 1), part]);
    if (kind !== "map") return null;
    const found = [];
    for (let i = 0; i < parts.length; i += 2) found.push([this.words(parts[i]), parts[i + 1]]);
    return found;
  }

  kind(index) {
    const value = this.values[index];
    return Array.isArray(value) ? value[0] : typeof value;
  }

  // [[name, index], ...] of a record.
  fields(index) {
    const parts = this.values[index].slice(1);
    return parts.flatMap((part, place) => (place % 2 ? [] : [[part, parts[place + 1]]]));
  }

  // What a step is called, in three parts: the action with its arguments; the ends of a message that it received, and
  // what else its label says of the message.
  title(step) {
    if (step.received === null || step.action === null || !step.label.startsWith(`${step.action} `)) return [kmc.arrows(step.label), "", ""];
    const [ends, ...details] = kmc.clauses(kmc.arrows(step.label.slice(step.action.length + 1)));
    return [step.action, ends, details.join(", ")];
  }

  // Whether the sentence that says why the property fails compares this place: `acked[v1]`, `log of n1`.
  isCompared(change) {
    const [variable, ...rest] = change.path;
    return (this.why?.compared ?? []).some(({ expression }) => {
      const words = expression.split(/[^\w-]+/).filter(Boolean);
      // The field of a record is called by its name alone: `epoch of n1`.
      const isField = rest.length > 1 && !this.lanes.includes(rest[1]) && words.includes(rest[1]);
      return (words.includes(variable) || isField) && (!rest.length || words.includes(rest[0]));
    });
  }

  // The changes of a step, those first that a reader looks for: what the failing property compares, then what the table
  // of processes shows, in its order; among these, entries of a log come last, for their texts are long.
  ordered(step) {
    const rank = (change) => {
      if (this.watched.includes(change.path[0])) return -2;
      const column = this.columns.findIndex((shown) => this.isIn(change, shown));
      const isEntry = this.logs.some((log) => this.isIn(change, log));
      if (column < 0) return this.isCompared(change) ? -1 : 2 * this.columns.length;
      return column + (isEntry ? this.columns.length : 0);
    };
    return step.changes.map((change) => [rank(change), change]).sort(([a], [b]) => a - b).map(([, change]) => change);
  }

  // The index of the value at a process, undefined where there is none.
  atLane(index, lane) {
    return this.entries(index)?.find(([key]) => key === lane)?.[1];
  }

  // The value of a variable in a state; with a lane, at that process.
  place(number, variable, lane = null) {
    const index = this.step(number)?.state[variable];
    return index === undefined || lane === null ? index : this.atLane(index, lane);
  }

  // A value as people read it: {epoch: 1}, [a, b], {n1, n2}, true; or in TLA+: [epoch |-> 1], <<a, b>>, {n1, n2}, TRUE.
  words(index) {
    if (index === undefined) return "";
    if (!this.texts.has(index)) this.texts.set(index, this.namesOfMessages.get(index) ?? this.worded(index));
    return this.texts.get(index);
  }

  worded(index) {
    const value = this.values[index];
    if (this.notation === "tla") return this.inTla(index);
    if (!Array.isArray(value)) return value === NIL ? "none" : String(value);
    const [kind, ...parts] = value;
    switch (kind) {
      case "set":
        return `{${parts.map((part) => this.words(part)).join(", ")}}`;
      case "seq":
        return `[${parts.map((part) => this.words(part)).join(", ")}]`;
      case "rec":
        return `{${this.fields(index).map(([name, part]) => `${name}: ${this.words(part)}`).join(", ")}}`;
      default:
        return `{${this.entries(index).map(([key, part]) => `${key}: ${this.words(part)}`).join(", ") || ":"}}`;
    }
  }

  // As TLC prints it; strings have their quotes already.
  inTla(index) {
    const value = this.values[index];
    if (!Array.isArray(value)) return typeof value === "boolean" ? String(value).toUpperCase() : String(value);
    const [kind, ...parts] = value;
    switch (kind) {
      case "set":
        return `{${parts.map((part) => this.words(part)).join(", ")}}`;
      case "seq":
        return `<<${parts.map((part) => this.words(part)).join(", ")}>>`;
      case "rec":
        return `[${this.fields(index).map(([name, part]) => `${name} |-> ${this.words(part)}`).join(", ")}]`;
      default:
        return `(${this.entries(index).map(([key, part]) => `${key} :> ${this.words(part)}`).join(" @@ ")})`;
    }
  }

  // The index of the value that a column shows of a process: that of its variable, or of a field of the record there.
  inColumn(number, column, lane) {
    return column.fields.reduce(
      (index, name) => (index !== undefined && this.kind(index) === "rec" ? this.fields(index).find(([field]) => field === name)?.[1] : undefined),
      this.place(number, column.variable, lane),
    );
  }

  // Whether a change is one of what a column shows, or of a part of it.
  isIn(change, column) {
    const inside = change.path.slice(2);
    return change.path[0] === column.variable && column.fields.every((field, place) => place >= inside.length || inside[place] === field);
  }

  // What a column of the table of processes shows: a length where it is declared so, else the value.
  cell(number, column, lane) {
    const index = this.inColumn(number, column, lane);
    if (index === undefined) return "";
    return column.length && this.kind(index) === "seq" ? String(this.values[index].length - 1) : this.words(index);
  }

  // The columns whose values are long somewhere in the trace: they stand below the others, not beside them.
  wideColumns() {
    this.wide ??= this.columns.filter((column) => this.steps.some((step) => this.lanes.some((lane) => this.cell(step.number, column, lane).length > WIDE)));
    return this.wide;
  }

  // The first column of names that are not processes: what a process is at the moment (its role), shown in the diagram.
  roleColumn() {
    const isRole = (column) =>
      this.lanes.every((lane) =>
        this.steps.every((step) => {
          const value = this.values[this.inColumn(step.number, column, lane)];
          return typeof value === "string" && !this.lanes.includes(value) && value !== NIL;
        }),
      );
    return this.lanes.length ? this.columns.find(isRole) ?? null : null;
  }

  // The messages that can still be delivered in a state.
  inFlight(number) {
    return this.messages.filter((m) => m.sentAt <= number && (m.goneAt === null || m.goneAt > number));
  }

  // The messages that a step takes from a network, delivered or not; not those that it is known to lose.
  taken(step) {
    return this.messages.filter((m) => m.goneAt === step.number && !step.lost.includes(m.number));
  }

  isProcessed(message, number) {
    return message.receivedAt.some((at) => at <= number);
  }

  // Where something changed: `log [2]`, with a column's title for its variable, and without the process.
  changePlace(change) {
    const [variable, ...rest] = change.path;
    const column = this.columns.find((shown) => !shown.length && rest.length > shown.fields.length && this.isIn(change, shown));
    let skipped = false;
    const parts = rest.filter((part) => {
      const isLane = !skipped && part === change.lane;
      skipped ||= isLane;
      return !isLane;
    });
    return column === undefined ? [variable, ...parts].join(" ") : [column.title, ...parts.slice(column.fields.length)].join(" ");
  }

  // The name of a message where a text is its whole record.
  named(text) {
    return this.namesOfRecords.get(text) ?? text;
  }

  changeText(change) {
    const [old, now] = [this.named(change.old), this.named(change.new)];
    if (old === null) return `gets ${now}`;
    if (now === null) return `loses ${old}`;
    return `${old} → ${now}`;
  }

  // What a row of the list says below the label: the changes that a reader looks for, then what the message said.
  summary(step) {
    if (step.number === 1) return this.lanes.length ? `${this.lanes.join(", ")} start` : "";
    // What is watched has a column of its own.
    const changes = this.ordered(step).filter((c) => !this.watched.includes(c.path[0]));
    const told = changes.filter((c) => this.columns.some((column) => this.isIn(c, column)) || this.isCompared(c));
    const chosen = (told.length ? told : changes).slice(0, 4);
    const texts = chosen.map((change) => {
      const owner = change.lane !== null && change.lane !== step.actor ? `${change.lane}: ` : "";
      return `${owner}${this.changePlace(change)} ${this.changeText(change)}`;
    });
    if (step.lost.length) texts.push(`${step.lost.map((n) => `m${n}`).join(", ")} lost`);
    if (!texts.length && step.sent.length) texts.push(`sends ${kmc.plural(step.sent.length, "message")}`);
    if (!texts.length) texts.push(...this.taken(step).map((m) => `takes m${m.number} from the network`));
    const [, , details] = this.title(step);
    return [...texts, details].filter(Boolean).join(" · ") || "nothing changes";
  }

  // What the search looks through.
  searched(step) {
    const numbers = [...step.sent, ...step.lost, ...(step.received === null ? [] : [step.received])];
    const messages = numbers.map((n) => `m${n} ${this.message(n).brief} ${this.message(n).fields.flat().join(" ")}`);
    const changes = step.changes.map((c) => `${c.path.join(" ")} ${c.old ?? ""} ${c.new ?? ""} ${c.old === null ? "added" : c.new === null ? "removed" : ""}`);
    const shown = step.matters ? this.summary(step) : `not needed: ${step.note}`;
    return [step.label, step.doc, shown, ...messages, ...changes].join("\n").toLowerCase();
  }
};
