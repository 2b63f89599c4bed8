// The space-time diagram: a line down for each process, a row for each step, an arrow for each message.
// Rows are as high as those of the list of steps, so that both can stand side by side.
"use strict";

kmc.ROW = 46;
const GUTTER = 34; // room for the numbers of the steps, on the left
const LEFT = 40; // room for what is written on the left of the first process
const RIGHT = 96; // the least room for what is written on the right of the last one
const NARROW = 480; // less room than this: nothing is written on the left of the first process
const NARROW_RIGHT = 84; // room on the right of the last process where there is little
const BOTTOM = 14; // room for what hangs below the last row
const DOT = 5;

// `view`: { step, steps, lanes, messages (whether they are drawn), processed, onStep(number), onMessage(number) }.
kmc.diagram = (element, story, view) => {
  const layout = new kmc.Layout(story, view, element.clientWidth || 600);
  const head = kmc.html("div", { class: "lane-names", "aria-hidden": "true" }, view.lanes.map((lane) => laneName(layout, lane)));
  const marks = new Map();
  // Before the arrows, whose names keep clear of what these take; drawn above them.
  const closing = closingMark(story, layout);
  const steps = layout.steps.map((number) => {
    const mark = stepMark(story, story.step(number), layout);
    marks.set(`step${number}`, { element: mark, steps: [number] });
    return mark;
  });
  const drawing = kmc.svg(
    "svg",
    {
      class: "diagram",
      role: "img",
      width: layout.width,
      height: layout.height,
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      "aria-label": `Space-time diagram: ${view.lanes.join(", ")}, ${kmc.plural(view.steps.length, "step")}. The list of steps and the state say the same.`,
    },
    cycleBand(story, layout),
    layout.steps.map((number) => rowBand(number, layout, view, marks)),
    view.lanes.map((lane) => laneLine(layout, lane)),
    view.messages ? story.messages.map((message) => messageMark(story, message, layout, view, marks)) : [],
    steps,
    closing,
  );
  placeNames(layout);
  element.replaceChildren(head, drawing);
  head.style.width = `${layout.width}px`;

  const update = (now) => {
    for (const [key, { element: mark, steps }] of marks) {
      mark.classList.toggle("current", steps.includes(now.step));
      mark.classList.toggle("chosen", key === `m${now.message}`);
    }
  };
  update(view);
  return { update };
};

// Where things are: x of a process, y of a step.
kmc.Layout = class {
  constructor(story, view, room) {
    this.steps = view.steps;
    const left = GUTTER + Math.max(room > NARROW ? LEFT : LEFT / 2, nameWidth(view.lanes[0]) / 2);
    const gaps = Math.max(1, view.lanes.length - 1);
    // What stands beside a dot reaches neither the next process nor the edge; nor does a process's name at the top.
    const beside = view.lanes.map((lane) => besideWidth(story, view, lane));
    const right = Math.max(room > NARROW ? RIGHT : NARROW_RIGHT, beside.at(-1), nameWidth(view.lanes.at(-1)) / 2 + 8);
    const least = Math.max(76, ...beside.slice(0, -1), ...view.lanes.map((lane) => nameWidth(lane) + 14));
    this.pitch = Math.max(least, Math.min(240, (room - left - right) / gaps));
    this.taken = []; // boxes of texts and dots that names of messages keep clear of: [left, top, right, bottom]
    this.columns = new Map(view.lanes.map((lane, place) => [lane, left + this.pitch * place]));
    this.rows = new Map(view.steps.map((number, row) => [number, row]));
    this.width = Math.max(room, left + this.pitch * (view.lanes.length - 1) + right);
    this.names = []; // of arrows, which find their places last
    this.rowsHeight = kmc.ROW * (view.steps.length + (story.loop === null ? 0 : 1));
    this.height = this.rowsHeight + BOTTOM;
  }

  x(lane) {
    return this.columns.get(lane);
  }

  // Nothing drawn later stands on a box that is taken, where it can stand elsewhere.
  take(box) {
    this.taken.push(box);
  }

  release(box) {
    this.taken = this.taken.filter((other) => other !== box);
  }

  isInside([left, top, right, bottom]) {
    return left >= GUTTER - 8 && right <= this.width && top >= 0 && bottom <= this.height;
  }

  isClear([left, top, right, bottom]) {
    return this.taken.every(([l, t, r, b]) => right <= l || r <= left || bottom <= t || b <= top);
  }

  // Whether a message is sent, received or lost between the first and the last step that are drawn, or crosses them all.
  isInSight({ sentAt, receivedAt, lostAt }) {
    const ends = [...receivedAt, ...(lostAt === null ? [] : [lostAt])];
    const [first, last] = [this.steps[0], this.steps.at(-1)];
    return sentAt <= last && (sentAt >= first || ends.some((at) => at >= first));
  }

  // A step that is hidden lies where the next one that is shown does.
  y(number) {
    let row = this.rows.get(number);
    if (row === undefined) {
      const next = this.steps.find((shown) => shown >= number);
      row = next === undefined ? this.steps.length : this.rows.get(next);
    }
    return kmc.ROW * (row + 0.5);
  }
};

const FONTS = { role: "600 12px", deed: "400 12px", name: "400 12px", marked: "600 12px", lane: "600 14px" };
const BESIDE_MAX = 150; // a longer text beside a dot is cut

const nameWidth = (lane) => kmc.textWidth(lane, FONTS.lane);

// The widest of the texts beside the dots of a process, with the dot.
const besideWidth = (story, view, lane) => {
  const texts = view.steps.map((number) => besideText(story, story.step(number), lane)).filter(Boolean);
  return 9 + 8 + Math.min(BESIDE_MAX, Math.max(0, ...texts.map(([text, kind]) => kmc.textWidth(text, FONTS[kind]))));
};

const laneName = (layout, lane) => {
  const name = kmc.lane(lane);
  name.style.left = `${layout.x(lane)}px`;
  return name;
};

const rowBand = (number, layout, view, marks) => {
  const top = layout.y(number) - kmc.ROW / 2;
  const band = kmc.svg(
    "g",
    { class: "row", on: { click: () => view.onStep(number) } },
    kmc.svg("rect", { x: 0, y: top, width: layout.width, height: kmc.ROW }),
    kmc.svg("text", { class: "row-number", x: 10, y: top + kmc.ROW / 2 + 4 }, String(number)),
  );
  marks.set(`row${number}`, { element: band, steps: [number] });
  return band;
};

const cycleBand = (story, layout) => {
  if (story.loop === null) return [];
  const top = layout.y(story.loop.backTo) - kmc.ROW / 2;
  return kmc.svg("rect", { class: "cycle", x: 0, y: top, width: layout.width, height: layout.rowsHeight - top });
};

const laneLine = (layout, lane) => {
  const x = layout.x(lane);
  return kmc.svg("line", { class: "lane-line", x1: x, x2: x, y1: 0, y2: layout.rowsHeight });
};

// The dot of the process that acts, and what becomes of the role of any process.
const stepMark = (story, step, layout) => {
  const y = layout.y(step.number);
  const marks = [];
  for (const lane of layout.columns.keys()) {
    const x = layout.x(lane);
    const fails = story.loop === null && step.number === story.count && story.guilty.has(lane);
    const told = besideText(story, step, lane);
    if (fails) {
      marks.push(kmc.svg("circle", { class: "fails", cx: x, cy: y, r: DOT + 5 }));
      layout.take([x - DOT - 5, y - DOT, x + DOT + 5, y + DOT + 5]);
    }
    if (lane === step.actor || told !== null) {
      const hollow = step.number > 1 && (lane !== step.actor || !step.matters);
      layout.take([x - DOT, y - DOT, x + DOT, y + DOT]);
      marks.push(kmc.svg("circle", { class: hollow ? "dot hollow" : "dot", cx: x, cy: y, r: step.number === 1 ? 3 : DOT }));
    }
    if (told !== null) marks.push(besideDot(...told, layout, x, y));
  }
  const isInCycle = story.loop !== null && step.number >= story.loop.backTo;
  return kmc.svg("g", { class: ["mark", !step.matters && "aside", isInCycle && "in-cycle"].filter(Boolean).join(" ") }, marks);
};

// What stands beside the dot of a process in a step, and which kind of text it is: its new role, or what it does.
const besideText = (story, step, lane) => {
  const role = roleText(story, step, lane);
  if (role !== null) return [role, "role"];
  const isDeed = lane === step.actor && step.action !== null && step.received === null && !step.sent.length;
  return isDeed ? [step.action, "deed"] : null;
};

const besideDot = (text, kind, layout, x, y) => {
  // A role is cut, never its epoch.
  const [, word, epoch] = /^(.*?)( e\d+)?$/.exec(text);
  const shown = `${kmc.cut(word, BESIDE_MAX - kmc.textWidth(epoch ?? "", FONTS[kind]), FONTS[kind])}${epoch ?? ""}`;
  layout.take([x + 9, y - 19, x + 9 + kmc.textWidth(shown, FONTS[kind]), y - 5]);
  return kmc.svg("text", { class: kind, x: x + 9, y: y - 7 }, shown, shown !== text && kmc.svg("title", {}, text));
};

// The role that a process takes in this step, and its epoch: `Leader e2`, or `e2` alone where only that is new. Null where
// it keeps both.
const roleText = (story, step, lane) => {
  const [role, isNewRole] = standing(story, story.role, step, lane);
  const [epoch, isNewEpoch] = standing(story, story.epoch, step, lane);
  const isNumber = epoch !== undefined && typeof story.values[epoch] === "number";
  const parts = [isNewRole && story.words(role), isNumber && (isNewRole || isNewEpoch) && `e${story.words(epoch)}`];
  return parts.filter(Boolean).join(" ") || null;
};

// The value of a column at a process, and whether the step made it.
const standing = (story, column, step, lane) => {
  const now = column === null ? undefined : story.inColumn(step.number, column, lane);
  const before = column !== null && step.number > 1 ? story.inColumn(step.number - 1, column, lane) : undefined;
  return [now, now !== undefined && now !== before];
};

const closingMark = (story, layout) => {
  if (story.loop === null) return [];
  const y = layout.rowsHeight - kmc.ROW / 2;
  const closing = story.loop.closing;
  const x = closing !== null && layout.x(closing.actor) !== undefined ? layout.x(closing.actor) : null;
  const again = kmc.loopText(story.loop);
  layout.take([layout.width - 8 - kmc.textWidth(again, FONTS.role), y + 4, layout.width - 8, y + 20]);
  return kmc.svg(
    "g",
    { class: "mark" },
    x === null ? [] : kmc.svg("circle", { class: "dot", cx: x, cy: y, r: DOT }),
    kmc.svg("text", { class: "row-number", x: 10, y: y + 4 }, "↩"),
    kmc.svg("text", { class: "again", x: layout.width - 8, y: y + 16, "text-anchor": "end" }, again),
  );
};

// A message: an arrow for each delivery, a line to an × where it was lost, a dashed end where it is still on its way.
const messageMark = (story, message, layout, view, marks) => {
  const actor = story.step(message.sentAt)?.actor ?? null;
  const source = message.source ?? actor;
  const from = layout.x(source);
  const deliveries = message.receivedAt.filter((at) => at <= story.count);
  if (from === undefined || message.sentAt > story.count || !layout.isInSight(message)) return [];
  if (deliveries.length && !view.processed) return [];
  const start = [from, layout.y(message.sentAt)];
  const shapes = deliveries.flatMap((at) => deliveryShapes(story, message, at, start, layout));
  if (message.lostAt !== null && message.lostAt <= story.count) shapes.push(...lostShapes(story, message, start, layout));
  else if (!deliveries.length) shapes.push(...waitingShapes(story, message, start, layout));
  const mark = kmc.svg(
    "g",
    { class: "message", on: { click: (event) => (event.stopPropagation(), view.onMessage(message.number)) } },
    kmc.svg("title", {}, `m${message.number} ${kmc.arrows(message.brief)}`),
    shapes,
  );
  marks.set(`m${message.number}`, { element: mark, steps: [message.sentAt, ...deliveries] });
  return mark;
};

// A line that is wide enough to be hit stands below the one that is seen.
const line = (d, kind) => [kmc.svg("path", { class: "hit", d }), kmc.svg("path", { class: kind, d })];

const deliveryShapes = (story, message, at, [x1, y1], layout) => {
  const dest = message.dest ?? story.step(at).actor;
  const x2 = layout.x(dest);
  const y2 = layout.y(at);
  if (x2 === undefined) return [];
  if (x1 === x2) {
    const bulge = x1 + Math.min(40, layout.pitch / 3);
    return [...line(`M${x1},${y1} C${bulge},${y1} ${bulge},${y2} ${x2 + DOT + 2},${y2}`, "arrow"), head(x2 + DOT + 1, y2, Math.PI), lineName(message, [bulge - 4, (y1 + y2) / 2], [bulge - 4, (y1 + y2) / 2], layout, "start")];
  }
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const [ex, ey] = [x2 - Math.cos(angle) * (DOT + 1), y2 - Math.sin(angle) * (DOT + 1)];
  return [...line(`M${x1},${y1} L${ex},${ey}`, "arrow"), head(ex, ey, angle), lineName(message, [x1, y1], [x2, y2], layout, "middle")];
};

const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86]; // along an arrow, for its name

// The name of a message along a line, above it, and never upside down; on a steep line it stays level.
class LineName {
  constructor(message, from, to, anchor) {
    Object.assign(this, { message, from, to, anchor });
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const upright = Math.abs(angle) > Math.PI / 2 ? angle - Math.sign(angle) * Math.PI : angle;
    this.turn = Math.abs(upright) < 0.6 ? upright : 0;
    this.group = kmc.svg("g");
  }

  at(part) {
    return [0, 1].map((axis) => this.from[axis] + (this.to[axis] - this.from[axis]) * part);
  }

  box(part, text) {
    const width = kmc.textWidth(text, FONTS.marked);
    const half = (width * Math.cos(this.turn)) / 2 + 7 * Math.abs(Math.sin(this.turn));
    const tall = 7 + (width / 2) * Math.abs(Math.sin(this.turn));
    const [x, y] = this.at(part);
    const middle = this.anchor === "start" ? x + half : x + 9 * Math.sin(this.turn);
    const level = y - 9 * Math.cos(this.turn);
    return [middle - half, level - tall, middle + half, level + tall];
  }

  // Stand where nothing else does; false where there is no such place.
  place(text, layout) {
    const old = this.taken;
    if (old !== undefined) layout.release(old);
    const part = PLACES.find((place) => layout.isClear(this.box(place, text)) && layout.isInside(this.box(place, text)));
    if (part === undefined) {
      if (old !== undefined) layout.take(old);
      return false;
    }
    this.taken = this.box(part, text);
    layout.take(this.taken);
    const [x, y] = this.at(part);
    const turned = `rotate(${((this.turn * 180) / Math.PI).toFixed(1)} ${x} ${y}) translate(0 -4)`;
    this.group.replaceChildren(kmc.svg("text", { class: "name", x, y, "text-anchor": this.anchor, transform: turned }, text));
    return true;
  }
}

// First every arrow gets its number, `m3`, then its kind where that is not longer than the line. What has no place in the
// drawing stands in the list and in the state.
const placeNames = (layout) => {
  for (const name of layout.names) name.place(`m${name.message.number}`, layout);
  for (const name of layout.names) {
    const long = `m${name.message.number} ${name.message.kind}`;
    const length = Math.hypot(name.to[0] - name.from[0], name.to[1] - name.from[1]) || layout.pitch;
    // On a steep line, a long name would stand across other lines.
    if (name.turn !== 0 && kmc.textWidth(long, FONTS.marked) <= length - 20) name.place(long, layout);
  }
};

const lineName = (message, from, to, layout, anchor) => {
  const name = new LineName(message, from, to, anchor);
  layout.names.push(name);
  return name.group;
};

// The first of these texts that has a place beside a point, at some height below it.
const besidePoint = (texts, kind, x, y, anchor, layout) => {
  for (const text of texts)
    for (const below of [0, 12, 24, -12, 36]) {
      const width = kmc.textWidth(text, FONTS.marked);
      const left = anchor === "middle" ? x - width / 2 : anchor === "end" ? x - width : x;
      const box = [left, y + below - 11, left + width, y + below + 3];
      if (!layout.isClear(box) || !layout.isInside(box)) continue;
      layout.take(box);
      return [kmc.svg("text", { class: `name ${kind}`, x, y: y + below, "text-anchor": anchor }, text)];
    }
  return [];
};

const head = (x, y, angle) => {
  const corner = (turn) => `${x - 8 * Math.cos(angle + turn)},${y - 8 * Math.sin(angle + turn)}`;
  return kmc.svg("path", { class: "head", d: `M${x},${y} L${corner(0.42)} L${corner(-0.42)} Z` });
};

const lostShapes = (story, message, [x1, y1], layout) => {
  const dest = layout.x(message.dest);
  const x2 = dest === undefined ? x1 + layout.pitch / 2 : (x1 + dest) / 2;
  const y2 = layout.y(message.lostAt);
  const s = 5;
  return [
    ...line(`M${x1},${y1} L${x2},${y2}`, "arrow lost"),
    kmc.svg("path", { class: "cross", d: `M${x2 - s},${y2 - s} L${x2 + s},${y2 + s} M${x2 - s},${y2 + s} L${x2 + s},${y2 - s}` }),
    besidePoint([`m${message.number} lost`], "lost", x2, y2 + 17, "middle", layout),
  ];
};

// Still on its way at the end: a dashed stub towards its destination. Those of one step to one side stand below each other.
const waitingShapes = (story, message, [x1, y1], layout) => {
  const dest = layout.x(message.dest);
  const side = dest !== undefined && dest < x1 ? -1 : 1;
  const beside = story.messages.filter((m) => m.sentAt === message.sentAt && (layout.x(m.dest) < x1 ? -1 : 1) === side);
  const above = beside.filter((m) => m.number < message.number && !m.receivedAt.length && m.lostAt === null).length;
  // Below an arrow that leaves to the same side and is soon received.
  const soon = beside.some((m) => m.receivedAt.some((at) => layout.y(at) - y1 <= 2 * kmc.ROW));
  const x2 = x1 + side * layout.pitch * (soon ? 0.12 : 0.3);
  const y2 = y1 + (soon ? 27 : 5) + 13 * above;
  const towards = message.dest === null ? "" : ` to ${message.dest}`;
  const short = `m${message.number}${towards}`;
  // The longest text that does not reach the next process.
  const long = `m${message.number} ${message.kind}${towards}`;
  const room = layout.pitch - Math.abs(x2 - x1) - 8;
  const texts = [long, short, short.replace(" to ", "→")].filter((text) => kmc.textWidth(text, FONTS.marked) < room);
  return [
    ...line(`M${x1},${y1} L${x2},${y2}`, "arrow waiting"),
    besidePoint([...texts, `m${message.number}`], "", x2 + side * 3, y2 + 4, side < 0 ? "end" : "start", layout),
  ];
};
