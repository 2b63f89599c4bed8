// The space-time diagram: a line down for each process, a row for each step, an arrow for each message.
// Rows are as high as those of the list of steps, so that both can stand side by side.
"use strict";

kmc.ROW = 46;
const GUTTER = 34; // room for the numbers of the steps, on the left
const LEFT = 72; // room for what is written on the left of the first process, and on the right of the last one
const RIGHT = 118;
const NARROW = 480; // less room than this: nothing is written on the left of the first process
const NARROW_RIGHT = 84; // room on the right of the last process where there is little
const KINDS_MIN = 150; // room between two processes for the name of a message's kind
const SHORT_MAX = 130; // less room than this: `m15→n3`, not `m15 to n3`
const BOTTOM = 14; // room for what hangs below the last row
const DOT = 5;

// `view`: { step, steps, lanes, messages (whether they are drawn), processed, onStep(number), onMessage(number) }.
kmc.diagram = (element, story, view) => {
  const layout = new kmc.Layout(story, view, element.clientWidth || 600);
  const head = kmc.html("div", { class: "lane-names", "aria-hidden": "true" }, view.lanes.map((lane) => laneName(story, layout, lane)));
  const marks = new Map();
  // Before the arrows, whose names keep clear of what these take; drawn above them.
  const steps = layout.steps.map((number) => stepMark(story, story.step(number), layout));
  const drawing = kmc.svg(
    "svg",
    {
      class: layout.hasKinds ? "diagram with-kinds" : "diagram",
      role: "img",
      width: layout.width,
      height: layout.height,
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      "aria-label": `Space-time diagram: ${view.lanes.join(", ")}, ${kmc.plural(view.steps.length, "step")}. The list of steps and the state say the same.`,
    },
    cycleBand(story, layout),
    layout.steps.map((number) => rowBand(number, layout, view, marks)),
    view.lanes.map((lane) => laneLine(story, layout, lane)),
    view.messages ? story.messages.map((message) => messageMark(story, message, layout, view, marks)) : [],
    steps,
    closingMark(story, layout),
  );
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
    const left = GUTTER + (room > NARROW ? LEFT : LEFT / 2);
    const gaps = Math.max(1, view.lanes.length - 1);
    const right = room > NARROW ? RIGHT : NARROW_RIGHT;
    this.pitch = Math.max(room > NARROW ? 92 : 76, Math.min(240, (room - left - right) / gaps));
    this.taken = []; // boxes of texts and dots that names of messages keep clear of: [left, top, right, bottom]
    this.columns = new Map(view.lanes.map((lane, place) => [lane, left + this.pitch * place]));
    this.rows = new Map(view.steps.map((number, row) => [number, row]));
    this.width = Math.max(room, left + this.pitch * (view.lanes.length - 1) + right);
    // Where processes stand far enough apart, every arrow says what it carries; else those of the current step do.
    this.hasKinds = this.pitch >= KINDS_MIN;
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

const laneName = (story, layout, lane) => {
  const name = kmc.html("span", { class: `lane ${kmc.laneClass(story, lane)}` }, lane);
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

const laneLine = (story, layout, lane) => {
  const x = layout.x(lane);
  return kmc.svg("line", { class: `lane-line ${kmc.laneClass(story, lane)}`, x1: x, x2: x, y1: 0, y2: layout.rowsHeight });
};

// The dot of the process that acts, and what becomes of the role of any process.
const stepMark = (story, step, layout) => {
  const y = layout.y(step.number);
  const marks = [];
  for (const lane of layout.columns.keys()) {
    const x = layout.x(lane);
    const fails = story.loop === null && step.number === story.count && story.guilty.has(lane);
    const role = roleText(story, step, lane);
    if (fails) marks.push(kmc.svg("circle", { class: "fails", cx: x, cy: y, r: DOT + 5 }));
    if (lane === step.actor || role !== null) {
      const hollow = step.number > 1 && (lane !== step.actor || !step.matters);
      layout.take([x - DOT, y - DOT, x + DOT, y + DOT]);
      marks.push(kmc.svg("circle", { class: `dot ${kmc.laneClass(story, lane)}${hollow ? " hollow" : ""}`, cx: x, cy: y, r: step.number === 1 ? 3 : DOT }));
    }
    if (role !== null) {
      // Beside the dot, on the side that no arrow comes from.
      const sender = step.received === null ? null : story.message(step.received).source;
      const left = lane === step.actor && sender !== null && layout.x(sender) > x && x - GUTTER > textWidth(role);
      marks.push(besideDot(role, "role", layout, x, y, left));
    } else if (lane === step.actor && step.action !== null && step.received === null && !step.sent.length) {
      marks.push(besideDot(step.action, "deed", layout, x, y, false));
    }
  }
  return kmc.svg("g", { class: step.matters ? "mark" : "mark aside" }, marks);
};

const textWidth = (text) => 7.4 * text.length;

const besideDot = (text, kind, layout, x, y, left) => {
  const room = Math.min(Math.max(layout.pitch, 96) - 10, left ? layout.width : layout.width - x - 9);
  const letter = kind === "role" ? 8 : 7.8;
  const count = Math.floor(room / letter);
  // A role is cut, never its epoch.
  const [, word, epoch] = /^(.*?)( e\d+)?$/.exec(text);
  const shown = text.length > count ? `${kmc.shortenedInside(word, Math.max(2, count - (epoch ?? "").length))}${epoch ?? ""}` : text;
  const width = letter * shown.length;
  layout.take(left ? [x - 9 - width, y - 19, x - 9, y - 5] : [x + 9, y - 19, x + 9 + width, y - 5]);
  return kmc.svg("text", { class: kind, x: x + (left ? -9 : 9), y: y - 7, "text-anchor": left ? "end" : "start" }, shown, shown !== text && kmc.svg("title", {}, text));
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
  return kmc.svg(
    "g",
    { class: "mark" },
    x === null ? [] : kmc.svg("circle", { class: `dot ${kmc.laneClass(story, closing.actor)}`, cx: x, cy: y, r: DOT }),
    kmc.svg("text", { class: "row-number", x: 10, y: y + 4 }, "↩"),
    kmc.svg("text", { class: "again", x: layout.width - 8, y: y + 16, "text-anchor": "end" }, kmc.loopText(story.loop)),
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
    { class: `message ${kmc.laneClass(story, source)}`, on: { click: (event) => (event.stopPropagation(), view.onMessage(message.number)) } },
    kmc.svg("title", {}, `m${message.number} ${kmc.arrows(message.brief)}`),
    shapes,
  );
  marks.set(`m${message.number}`, { element: mark, steps: [message.sentAt, ...deliveries] });
  return mark;
};

// A line that is wide enough to be hit stands below the one that is seen.
const line = (d, kind) => [kmc.svg("path", { class: "hit", d }), kmc.svg("path", { class: kind, d })];

const label = (text, x, y, anchor, kind) => kmc.svg("text", { class: `name ${kind}`, x, y, "text-anchor": anchor }, text);

const deliveryShapes = (story, message, at, [x1, y1], layout) => {
  const dest = message.dest ?? story.step(at).actor;
  const x2 = layout.x(dest);
  const y2 = layout.y(at);
  if (x2 === undefined) return [];
  if (x1 === x2) {
    const bulge = x1 + Math.min(40, layout.pitch / 3);
    return [...line(`M${x1},${y1} C${bulge},${y1} ${bulge},${y2} ${x2 + DOT + 2},${y2}`, "arrow"), head(x2 + DOT + 1, y2, Math.PI), ...names(message, [bulge - 4, (y1 + y2) / 2], [bulge - 4, (y1 + y2) / 2], layout, "start")];
  }
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const [ex, ey] = [x2 - Math.cos(angle) * (DOT + 1), y2 - Math.sin(angle) * (DOT + 1)];
  return [...line(`M${x1},${y1} L${ex},${ey}`, "arrow"), head(ex, ey, angle), ...names(message, [x1, y1], [x2, y2], layout, "middle")];
};

const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.14, 0.86]; // along an arrow, for its name

// `m3`, and the kind where there is room or the step is the current one. The name lies along its line, above it, and is
// never upside down; on a steep line it stays level. It is cut where it would be longer than the line.
const names = (message, from, to, layout, anchor) => {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || layout.pitch;
  const upright = Math.abs(angle) > Math.PI / 2 ? angle - Math.sign(angle) * Math.PI : angle;
  const turn = Math.abs(upright) < 0.6 ? upright : 0;
  const long = kmc.shortenedInside(`m${message.number} ${message.kind}`, Math.max(5, Math.floor((length - 12) / 6.9)));
  const boxAt = (part, text) => {
    const half = 3.3 * text.length * Math.cos(turn);
    const tall = 6 + half * Math.abs(Math.tan(turn));
    const [px, py] = [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part - 9];
    return [px - (anchor === "start" ? 0 : half), py - tall, px + (anchor === "start" ? 2 * half : half), py + tall];
  };
  // In the middle of the line, or as near as nothing else stands in the way; without the kind where it has no place.
  const short = `m${message.number}`;
  const placeOf = (text) => PLACES.find((at) => layout.isClear(boxAt(at, text)));
  const longAt = layout.hasKinds ? placeOf(long) : undefined;
  const part = longAt ?? placeOf(short) ?? 0.5;
  layout.take(boxAt(part, longAt === undefined ? short : long));
  const crowded = layout.hasKinds && longAt === undefined ? " crowded" : "";
  const [x, y] = [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
  const place = `rotate(${((turn * 180) / Math.PI).toFixed(1)} ${x} ${y}) translate(0 -4)`;
  const texts = [[short, `short${crowded}`], [long, `long${crowded}`]];
  return texts.map(([text, kind]) => kmc.svg("text", { class: `name ${kind}`, x, y, "text-anchor": anchor, transform: place }, text));
};

const head = (x, y, angle) => {
  const corner = (turn) => `${x - 8 * Math.cos(angle + turn)},${y - 8 * Math.sin(angle + turn)}`;
  return kmc.svg("path", { class: "head", d: `M${x},${y} L${corner(0.42)} L${corner(-0.42)} Z` });
};

const lostShapes = (story, message, [x1, y1], layout) => {
  // Those that are lost at one place are named below each other.
  const isBeside = (m) => m.lostAt === message.lostAt && m.source === message.source && m.dest === message.dest;
  const above = story.messages.filter((m) => m.number < message.number && isBeside(m)).length;
  const dest = layout.x(message.dest);
  const x2 = dest === undefined ? x1 + layout.pitch / 2 : (x1 + dest) / 2;
  const y2 = layout.y(message.lostAt);
  const s = 5;
  return [
    ...line(`M${x1},${y1} L${x2},${y2}`, "arrow lost"),
    kmc.svg("path", { class: "cross", d: `M${x2 - s},${y2 - s} L${x2 + s},${y2 + s} M${x2 - s},${y2 + s} L${x2 + s},${y2 - s}` }),
    label(`m${message.number} lost`, x2, y2 + 17 + 12 * above, "middle", "both lost"),
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
  let y2 = y1 + (soon ? 27 : 5) + 13 * above;
  const anchor = side < 0 ? "end" : "start";
  const towards = message.dest === null ? "" : ` to ${message.dest}`;
  const long = `m${message.number} ${message.kind}${towards}`;
  const few = layout.pitch < SHORT_MAX ? `m${message.number}${towards.replace(" to ", "→")}` : `m${message.number}${towards}`;
  // The kind is told where it does not reach the next process.
  const many = textWidth(long) < layout.pitch - Math.abs(x2 - x1) ? long : few;
  const box = () => (side < 0 ? [x2 - 3 - textWidth(few), y2 - 6, x2 - 3, y2 + 6] : [x2 + 3, y2 - 6, x2 + 3 + textWidth(few), y2 + 6]);
  for (let tries = 0; tries < 2 && !layout.isClear(box()) && y2 + 17 < layout.height; tries += 1) y2 += 12;
  layout.take(box());
  return [
    ...line(`M${x1},${y1} L${x2},${y2}`, "arrow waiting"),
    label(few, x2 + side * 3, y2 + 4, anchor, "few"),
    label(many, x2 + side * 3, y2 + 4, anchor, "many"),
  ];
};
