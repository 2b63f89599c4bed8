// What stands around the walk: verdicts, the search with its progress, bookmarks, saving, errors.
"use strict";
{
  const explorer = kmc.explorer;
  const by = (id) => document.getElementById(id);
  const POLL_MS = 250;

  // ---- verdicts

  const WRONG = ["fails", "error", "outside"];

  explorer.drawVerdicts = (shown) => {
    const verdicts = shown.verdicts ?? [];
    const wrong = verdicts.filter((found) => WRONG.includes(found.outcome));
    const checked = verdicts.filter((found) => ["holds", "fails", "error"].includes(found.outcome));
    const broken = wrong.filter((found) => found.outcome !== "outside");
    const reached = verdicts.filter((found) => found.outcome === "reached");
    const verdict = by("verdict");
    verdict.className = broken.length ? "broken" : "";
    verdict.textContent = !verdicts.length ? "" : broken.length
      ? `${broken.map((found) => found.name).join(", ")} ${broken.length === 1 ? "does" : "do"} not hold here`
      : `${checked.length > 1 ? `All ${checked.length} properties hold here` : checked.length ? `${checked[0].name} holds here` : "Nothing is checked"}${reached.length ? `; ${kmc.plural(reached.length, "goal")} reached` : ""}`;
    const open = by("verdicts").querySelector("details")?.open;
    by("verdicts").replaceChildren(
      ...wrong.map((found) => kmc.html("div", { class: "because" }, kmc.html("b", {}, `${found.name} ${found.outcome === "fails" ? "fails here" : found.outcome === "error" ? "cannot be evaluated here" : "is false: a check does not explore further from here"}`),
        found.doc && kmc.html("span", {}, ` — ${found.doc}`), kmc.html("span", { class: "place" }, ` ${found.place}`), whyParts(found.why), found.error && explorer.errorParts(found.error))),
      verdicts.length ? kmc.html("details", { open }, kmc.html("summary", {}, "All verdicts on this state"), verdictTable(verdicts)) : "",
    );
  };

  const whyParts = (why) => why && [
    why.sentence && kmc.html("p", {}, why.sentence),
    why.pairs.length > 0 && kmc.html("dl", { class: "compared" }, why.pairs.map(([name, value]) => kmc.html("div", {}, name !== "" && kmc.html("dt", {}, name), kmc.html("dd", {}, value)))),
  ];

  const verdictTable = (verdicts) =>
    kmc.html("table", { class: "verdicts" }, kmc.html("tbody", {}, verdicts.map((found) => kmc.html("tr", { class: WRONG.includes(found.outcome) ? "broken" : found.outcome },
      kmc.html("th", { scope: "row" }, found.name), kmc.html("td", {}, found.kind), kmc.html("td", { class: "outcome" }, found.text), kmc.html("td", { class: "doc" }, found.doc)))));

  // ---- run until

  explorer.fillConditions = () => {
    const { properties, goals, actions } = explorer.frame;
    const group = (label, what, names, text) => names.length
      ? kmc.html("optgroup", { label }, names.map((name) => kmc.html("option", { value: `${what} ${name}` }, text(name)))) : null;
    by("until").replaceChildren(...[
      kmc.html("option", { value: "property " }, "any property fails"),
      group("A property fails", "property", properties, (name) => `${name} fails`),
      group("A goal is reached", "goal", goals, (name) => `${name} is reached`),
      group("An action is enabled", "action", actions, (name) => `${name} can happen`),
      kmc.html("option", { value: "expression " }, "an expression is true…"),
    ].filter(Boolean));
    by("until").addEventListener("change", () => (by("expression-row").hidden = !by("until").value.startsWith("expression")));
  };

  // What an expression is depends on the language of the model.
  explorer.speakOfExpressions = () => {
    const { kind, example } = explorer.frame.expressions;
    by("watch").setAttribute("aria-label", `Show the value of ${kind}, such as ${example}, in every state of the path`);
    by("watch").title = `Show its value in every state of the path: ${kind}`;
    for (const place of document.querySelectorAll(".expression-kind")) place.textContent = kind;
  };

  const started = async (command) => {
    by("running").close();
    if (await explorer.act(command)) poll();
  };

  explorer.runUntil = () => {
    const [what, name] = by("until").value.split(" ");
    const wanted = what === "expression" ? by("expression").value : name;
    return started({ do: "until", what, name: wanted, how: by("how").value, states: Number(by("limit").value), seed: Number(by("seed").value) });
  };

  explorer.walk = () => started({ do: "walk", steps: Number(by("count").value), seed: Number(by("seed").value) });

  // One loop polls. A search that starts while the loop shows the end of the one before is polled in another round.
  let polls = false;
  let again = false;
  const poll = async () => {
    again = true;
    if (polls) return;
    polls = true;
    try {
      while (again) {
        let search = (await explorer.ask("/search")).search;
        while (search && !search.over) {
          explorer.drawSearch(search);
          await new Promise((done) => setTimeout(done, POLL_MS));
          search = (await explorer.ask("/search")).search;
        }
        again = false;
        explorer.show((await explorer.ask()).view);
      }
    } catch (error) {
      explorer.tell(error);
    } finally {
      polls = false;
    }
  };

  let dismissed = 0;
  explorer.drawSearch = (search) => {
    const place = by("searching");
    place.hidden = search === null || search.number <= dismissed;
    if (place.hidden) return;
    const seen = `${kmc.plural(search.states, "state")} seen, ${kmc.plural(search.depth, "step")} deep`;
    const ended = search.error ? search.error.message : search.end === "found" ? `found after ${kmc.plural(search.steps, "step")}` : search.text;
    const cancel = kmc.html("button", { type: "button", on: { click: () => explorer.ask("/cancel", {}).catch(explorer.tell) } }, "Cancel");
    const close = kmc.html("button", { type: "button", on: { click: () => ((dismissed = search.number), (place.hidden = true)) } }, "Dismiss");
    place.replaceChildren(kmc.html("span", {}, kmc.html("b", {}, kmc.shortened(search.sentence, 160)), search.over ? `: ${ended} (${seen}).` : `: ${search.activity || seen}…`), search.over ? close : cancel,
      search.error?.help ? kmc.html("span", { class: "doc" }, search.error.help) : "");
    if (!search.over) poll();
  };

  // ---- bookmarks

  explorer.nameState = () => {
    const here = explorer.view.tree[explorer.view.at];
    if (here === undefined) return;
    const dialog = by("naming");
    by("name").value = here.bookmark;
    by("name-remove").hidden = !here.bookmark;
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      const name = { set: by("name").value.trim() || `state ${here.level}`, remove: "" }[dialog.returnValue];
      if (name !== undefined) explorer.act({ do: "bookmark", of: here.number, name });
    }, { once: true });
    dialog.showModal();
    by("name").select();
  };

  // ---- saving

  explorer.save = async () => {
    try {
      const saved = await explorer.ask("/save", {});
      by("saved-body").replaceChildren(
        kmc.html("p", {}, "The path to this state is in ", kmc.html("code", {}, saved.file)),
        kmc.html("ul", { class: "commands" }, saved.commands.map((words) => command(words.map(quoted).join(" ")))),
        kmc.html("p", {}, kmc.html("a", { href: explorer.traceAddress(), download: "" }, "Download it as ITF")),
      );
      by("saved").showModal();
    } catch (error) {
      explorer.tell(error);
    }
  };

  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

  const command = (text) => {
    const button = kmc.html("button", { type: "button", on: { click: async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } } }, "Copy");
    return kmc.html("li", {}, kmc.html("code", {}, text), " ", button);
  };

  // ---- errors

  explorer.tell = (error) => {
    const place = by("trouble");
    const told = error instanceof explorer.Refusal ? error.error : { message: String(error), help: "load the page again" };
    place.hidden = false;
    place.replaceChildren(kmc.html("div", {}, explorer.errorParts(told)), kmc.html("button", { type: "button", on: { click: () => (place.hidden = true) } }, "Dismiss"));
  };
}
