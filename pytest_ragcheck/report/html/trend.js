(() => {
  const { runs, rows, metrics } = report;
  const LETTERS = { P: "PASS", F: "FAIL", E: "ERROR" };
  const OUTCOME = "outcome";

  function header() {
    const line = el("tr", "", el("th", "name", "question"));
    runs.forEach((run, n) => {
      const cell = el("th", run.changed ? "changed" : "", run.changed ? `${n + 1}*` : n + 1);
      cell.title = run.title;
      line.append(cell);
    });
    line.querySelectorAll("th").forEach((cell) => { cell.scope = "col"; });
    return el("thead", "", line);
  }

  function cell(row, n) {
    const letter = row.outcomes[n];
    const chosen = byId("cells").value;
    const node = el("td");
    if (letter === " ") return node;
    node.title = `run ${n + 1}: ${LETTERS[letter]}`;
    const value = chosen === OUTCOME ? null : (row.scores[chosen] || [])[n];
    if (typeof value === "number") {
      node.className = `v${Math.min(4, Math.max(0, Math.floor(value * 5)))}`;
      node.append(number(value).replace(/^0\./, "."));
    } else if (chosen === OUTCOME || letter === "E") {
      node.className = LETTERS[letter];
      node.append(letter);
    }
    return node;
  }

  const nameOf = (row) => `${report.several ? `${row.dataset}::` : ""}${row.id}`;

  function line(row) {
    const note = row.bad === null ? row.state : row.state === "failing" ? `failing since run ${row.bad + 1}` : `${row.state}, failed in run ${row.bad + 1}`;
    const below = el("span", "id", `${note} `, el("span", "own", visible(`· ${nameOf(row)}`)));
    const button = el("button", "", el("span", "what", visible(row.question)), below);
    Object.assign(button, { type: "button", title: row.question });
    button.setAttribute("aria-expanded", "false");
    const head = el("th", "name", button);
    head.scope = "row";
    const node = el("tr", "", head);
    runs.forEach((_, n) => node.append(cell(row, n)));
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (open) node.nextSibling.remove();
      else node.after(detail(row));
    });
    return node;
  }

  function detail(row) {
    const body = el("div", "body", el("h3", "", "Question"), paragraph(row.question), el("p", "small", visible(nameOf(row))));
    const add = (title, ...nodes) => body.append(el("h3", "", title), ...nodes);
    if (row.bad !== null) {
      add("First bad run", el("p", "text", visible(`run ${runs[row.bad].title}`)));
      if (row.badReason) add("Why it failed then", paragraph(row.badReason));
    }
    if (row.reason && row.reason !== row.badReason) add("In the latest run", paragraph(row.reason));
    if (row.badAnswer !== null && row.goodAnswer !== null) {
      body.append(versus(`Last good answer, run ${row.good + 1}`, row.goodAnswer, `First bad answer, run ${row.bad + 1}`, row.badAnswer));
    } else if (row.badAnswer !== null) add("First bad answer", paragraph(row.badAnswer));
    if (row.reworded.length) body.append(el("p", "small", `Its text was changed in run ${row.reworded.map((n) => n + 1).join(", ")}.`));
    const frame = el("td", "", body);
    frame.colSpan = runs.length + 1;
    return el("tr", "detail", frame);
  }

  function chosen(text) {
    const state = byId("state").value;
    byId("legend").textContent = byId("cells").value === OUTCOME
      ? "P: PASS, F: FAIL, E: ERROR (not measured). A blank cell: the run does not have the question. *: a run with another judge, prompt or the like than before."
      : "The score of each run, from red (low) to blue (high). E: ERROR (not measured). A blank cell: the run does not have the question, or the score.";
    return rows.filter((row) => (!state || row.state === state) && (!text || `${row.id}\n${row.question}`.toLowerCase().includes(text)));
  }

  byId("table").append(header(), Object.assign(el("tbody"), { id: "list" }));
  byId("cells").append(...[OUTCOME, ...metrics].map((name) => new Option(name, name)));
  byId("state").append(new Option("all", ""), ...[...new Set(rows.map((row) => row.state))].map((name) => new Option(name, name)));
  listing(line, chosen).apply();
  // The latest runs are on the right.
  byId("map").scrollLeft = byId("map").scrollWidth;
})();
