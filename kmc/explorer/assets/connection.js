// Talking to the server: one session, whose name stands in the link, so that a page loaded again shows the same one.
// Everything that the explorer adds hangs on `kmc.explorer`; each file is a block, so that its names stay its own.
"use strict";
{
  const explorer = (kmc.explorer = { session: null, frame: null, view: null });

  const ask = async (path, body) => {
    const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
    let answer;
    try {
      answer = await fetch(`api/${path}`, options);
    } catch {
      throw new explorer.Refusal({ message: "the server does not answer", help: "it has ended: start kmc explore again" });
    }
    const found = await answer.json().catch(() => ({ error: { message: `the server answers ${answer.status}`, help: "load the page again" } }));
    if (found.error) throw new explorer.Refusal(found.error, answer.status);
    return found;
  };

  explorer.Refusal = class extends Error {
    constructor(error, status = 0) {
      super(error.message);
      this.error = error;
      this.status = status;
    }
  };

  // A path below this session; `body` makes it a POST.
  explorer.ask = (path = "", body = undefined) => ask(`sessions/${explorer.session}${path}`, body);

  explorer.traceAddress = () => `api/sessions/${explorer.session}/trace.itf.json`;

  const begin = async () => {
    explorer.session = (await ask("sessions", {})).session;
    history.replaceState(null, "", `#session=${explorer.session}`);
  };

  // The session of the link, else a new one.
  explorer.connect = async () => {
    explorer.session = new URLSearchParams(location.hash.slice(1)).get("session");
    if (explorer.session === null) await begin();
    try {
      return await explorer.ask();
    } catch (error) {
      if (error.status !== 404) throw error;
      await begin();
      return explorer.ask();
    }
  };
}
