(() => {
  const rows = report.rows;
  const VERDICTS = ["FAIL", "ERROR", "PASS"];
  const FIELDS = ["text", "dataset", "tag", "blame", "change", "sort"];

  const words = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || []));

  // The dot of 0.7 ends none: a sign of Latin script does so before a blank, behind quotes or brackets too.
  const SENTENCE = /[^\s.!?。！？](?:[^.!?\n。！？]|[.!?](?!["'”»)\]]{0,3}(?:\s|$)))*[.!?。！？]*/gu;

  const sentences = (text) => matches(text, SENTENCE);

  // For each sentence of the answer the sentence of the contexts that has most of its words, if it has half of them.
  function supporting(row) {
    const places = row.contexts.flatMap((text, at) => sentences(text).map(([s, e]) => ({ at, s, e, words: words(text.slice(s, e)) })));
    const ranges = row.contexts.map(() => []);
    const seen = new Set();
    for (const [s, e] of sentences(row.answer || "")) {
      const wanted = words(row.answer.slice(s, e));
      let best = null;
      let most = 0;
      for (const place of places) {
        let hits = 0;
        for (const word of wanted) if (place.words.has(word)) hits += 1;
        if (hits > most) { most = hits; best = place; }
      }
      if (best && most >= 2 && most >= wanted.size / 2 && !seen.has(best)) {
        seen.add(best);
        ranges[best.at].push([best.s, best.e, "good", "has most words of a sentence of the answer"]);
      }
    }
    return ranges;
  }

  function scoreCells(row) {
    const cells = el("span", "scores");
    const names = Object.keys(row.thresholds).filter((name) => name in row.metrics);
    names.forEach((name, i) => {
      const value = row.metrics[name];
      const low = value < row.thresholds[name];
      if (i) cells.append(" · ");
      // What is too low must not look as if it were not.
      const same = low && number(value) === number(row.thresholds[name]);
      cells.append(`${name} `, el(low ? "b" : "span", "", same ? String(value) : number(value)));
    });
    return cells;
  }

  function summaryOf(row) {
    const what = el("span", "what", el("bdi", "asked", visible(row.question)));
    const notes = [`${report.several ? `${row.dataset}::` : ""}${row.id}`];
    if (row.change && row.change !== "as before") notes.push(row.change);
    if (row.xfailed && !row.finding) notes.push("tolerated");
    if (row.blame) notes.push(`blame: ${row.blame}`);
    if (row.tags.length) notes.push(row.tags.join(", "));
    what.append(el("span", "id", visible(notes.join(" · "))));
    const why = row.reason.trim().split("\n", 1)[0];
    if (why) what.append(el("bdi", "why", visible(why)));
    return el("summary", "", el("span", `badge ${row.verdict}`, row.verdict), what, scoreCells(row));
  }

  // A name that may go on in a new line after each of its underscores, for a narrow screen.
  function breakable(name) {
    const part = document.createDocumentFragment();
    name.split(/(?<=_)/).forEach((piece, i) => part.append(...(i ? [el("wbr")] : []), visible(piece)));
    return part;
  }

  const unrated = new Set(report.metrics.filter((metric) => !metric.higherIsBetter).map((metric) => metric.name));

  function scoreTable(row) {
    const before = row.before ? row.before.metrics : {};
    const names = [...new Set([...Object.keys(row.metrics), ...Object.keys(row.unscored)])];
    const table = el("table", "scores");
    const head = el("tr", "", el("th", "", "metric"), el("th", "", "score"), el("th", "", "minimum"));
    if (row.before) head.append(el("th", "", "baseline"), el("th", "", "change"));
    table.append(el("thead", "", head));
    const body = el("tbody");
    for (const name of names) {
      const value = row.metrics[name];
      const low = name in row.thresholds && value < row.thresholds[name];
      const line = el("tr", "", el("td", "", breakable(name)));
      line.append(el("td", low ? "FAIL" : "", value === undefined ? "not scored" : number(value)));
      line.append(el("td", "", name in row.thresholds ? limit(row.thresholds[name]) : ""));
      if (row.before) {
        let delta = value !== undefined && name in before ? value - before[name] : null;
        if (Math.abs(delta) < SAME && delta !== null) delta = 0;
        line.append(el("td", "", name in before ? number(before[name]) : ""));
        const colour = unrated.has(name) ? "" : delta > 0 ? "up" : delta < 0 ? "down" : "";
        line.append(el("td", colour, delta === null ? "" : (delta > 0 ? "+" : "") + number(delta)));
      }
      body.append(line);
    }
    table.append(body);
    // On a phone it may be wider than the screen: it then scrolls by itself, by keys too.
    const frame = el("div", "table", table);
    Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: "Scores" });
    return frame;
  }

  const isChanged = (row) => row.before && row.before.answer !== null && row.answer !== null && row.before.answer !== row.answer;

  function bodyOf(row) {
    const body = el("div", "body");
    const add = (title, ...nodes) => body.append(el("h3", "", title), ...nodes);
    if (row.reason) {
      const reason = paragraph(row.reason);
      reason.classList.add("reason");
      add(row.verdict === "ERROR" ? `Error: ${row.kind}` : "Why it failed", reason);
    }
    if (row.finding) body.append(el("p", "small", visible(`Gate: ${row.finding}`)));
    else if (row.xfailed) body.append(el("p", "small", visible(`Tolerated: ${row.xfailed}`)));
    row.turns.forEach((turn, at) => add(`Turn ${at + 1}`, paragraph(turn.question), turn.answer ? paragraph(turn.answer) : el("p", "small", "No answer.")));
    if (row.expected.length) add(row.expected.length > 1 ? "Expected, any of" : "Expected", ...row.expected.map((text) => paragraph(text)));
    if (!row.answerable) add("Expected", el("p", "text", "The system should decline to answer."));
    if (row.answer !== null) {
      const claims = row.unsupported.filter((part) => part && row.answer.includes(part));
      const unsupported = claims.map((part) => {
        const start = row.answer.indexOf(part);
        return [start, start + part.length, "bad", "the judge: not supported by the contexts"];
      });
      const loose = row.unsupported.filter((part) => !row.answer.includes(part));
      if (isChanged(row)) body.append(versus("Recorded answer", row.before.answer, "Answer", row.answer, unsupported));
      else add("Answer", row.answer.trim() ? paragraph(row.answer, unsupported) : el("p", "small", "The answer is empty."));
      if (loose.length) add("Not supported, says the judge", ...loose.map((text) => paragraph(text)));
    }
    if (row.answer !== null || Object.keys(row.metrics).length) {
      const good = supporting(row);
      const list = el("ol", "contexts");
      const further = el("ol", "contexts");
      further.start = CONTEXTS + 1;
      row.contexts.forEach((text, at) => {
        const item = el("li", "", paragraph(text, good[at]));
        if (row.sources && row.sources[at]) item.prepend(el("span", "small", visible(row.sources[at])));
        (at < CONTEXTS ? list : further).append(item);
      });
      add("Contexts", row.contexts.length ? list : el("p", "small", "No contexts were returned."));
      if (further.children.length) body.append(el("details", "fold", el("summary", "", `${further.children.length} more`), further));
      if (good.some((ranges) => ranges.length)) {
        body.append(el("p", "small", el("mark", "good", "Marked"), " are the sentences that have most words of a sentence of the answer: a match of words, not the judge's opinion."));
      }
    }
    if (row.verdict === "FAIL" && row.gold.length) add("Gold passages", ...row.gold.map((text) => paragraph(text)));
    if (Object.keys(row.metrics).length || Object.keys(row.unscored).length) add("Scores", scoreTable(row));
    for (const text of row.unstable) body.append(el("p", "small", visible(text)));
    for (const [name, why] of Object.entries(row.unscored)) body.append(el("p", "small", visible(`${name} could not be measured: ${why}`)));
    if (row.before) {
      body.append(el("p", "small", `In the baseline: ${row.before.verdict}${row.before.answer !== null && !isChanged(row) && row.answer !== null ? ", with the same answer" : ""}.`));
      if (row.answer === null && row.before.answer !== null) add("Recorded answer", paragraph(row.before.answer));
    }
    if (row.latency !== null) {
      const first = row.first_token === null ? "" : `, the first token in ${seconds(row.first_token)}`;
      body.append(el("p", "small", `Answered in ${seconds(row.latency)}${first}.`));
    }
    return body;
  }

  function card(row, list = "q") {
    const details = el("details", "q", summaryOf(row));
    details.id = `${list}-${row.number}`;
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".body")) details.append(bodyOf(row));
    });
    return details;
  }

  const CONTEXTS = 2;
  const SAME = 0.0005;
  const seconds = (value) => value < 0.1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`;
  const BROKEN = 20;

  // Newly failing questions come first, and those that pytest shows as xfailed last.
  function showBroken() {
    const rank = (row) => row.change === "newly failing" ? 0 : row.xfailed ? 2 : 1;
    const all = rows.filter((row) => row.verdict !== "PASS").sort((a, b) => rank(a) - rank(b) || a.number - b.number);
    const alike = new Map();
    for (const row of all) {
      const key = row.verdict === "ERROR" ? `${row.kind} ${row.reason}` : row;
      alike.set(key, [...alike.get(key) || [], row]);
    }
    const broken = [...alike.values()];
    byId("broken").hidden = all.length === 0;
    for (const [row, ...others] of broken.slice(0, BROKEN)) {
      byId("broken-list").append(card(row, "broken"));
      if (others.length) byId("broken-list").append(el("p", "small", `${count(others.length)} more ${others.length === 1 ? "question has" : "questions have"} the same ERROR.`));
    }
    const left = broken.slice(BROKEN).flat().length;
    byId("broken-rest").hidden = left === 0;
    byId("broken-rest").textContent = `${count(left)} more are among all questions below.`;
    const first = byId("broken-list").querySelector("details");
    const linked = location.hash.length > 1;
    if (first && !linked && all[0].verdict === "FAIL" && rank(all[0]) < 2) first.open = true;
    byId("questions").open = all.length === 0 || linked;
  }

  const haystacks = new Map();
  function haystack(row) {
    if (!haystacks.has(row)) haystacks.set(row, [row.id, row.question, row.answer || "", row.reason, ...row.expected, ...row.contexts].join("\n").toLowerCase());
    return haystacks.get(row);
  }

  const SORTS = {
    "failures first": (a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict),
    "as in the files": () => 0,
    "slowest first": (a, b) => (b.latency ?? -1) - (a.latency ?? -1),
  };
  for (const { name } of report.metrics) {
    SORTS[`${name}, lowest first`] = (a, b) => (a.metrics[name] ?? 2) - (b.metrics[name] ?? 2);
    if (report.baseline && !unrated.has(name)) SORTS[`change of ${name}, worst first`] = (a, b) => change(a, name) - change(b, name);
  }

  function change(row, name) {
    const before = row.before && row.before.metrics[name];
    return before === undefined || before === null || row.metrics[name] === undefined ? 2 : row.metrics[name] - before;
  }

  function chosen(text) {
    const verdicts = new Set([...document.querySelectorAll("#verdicts input:checked")].map((box) => box.value));
    const dataset = byId("dataset").value, tag = byId("tag").value, blame = byId("blame").value, changed = byId("change").value;
    const few = rows.filter((row) =>
      verdicts.has(row.verdict) && (!dataset || row.dataset === dataset) && (!tag || row.tags.includes(tag)) &&
      (!blame || row.blame === blame) && (!changed || row.change === changed) && (!text || haystack(row).includes(text)));
    const order = SORTS[byId("sort").value];
    remember(verdicts);
    return few.sort((a, b) => order(a, b) || a.number - b.number);
  }

  // The address says what is shown, so that a link to it can be sent; a link to one question opens it.
  function remember(verdicts) {
    const said = new URLSearchParams();
    if (verdicts.size < document.querySelectorAll("#verdicts input").length) said.set("outcome", [...verdicts].join(","));
    for (const id of FIELDS) if (byId(id).value && byId(id).value !== "failures first") said.set(id, byId(id).value);
    history.replaceState(null, "", said.size ? `#${said}` : location.pathname + location.search);
  }

  function recall() {
    const said = new URLSearchParams(location.hash.slice(1));
    const outcomes = said.get("outcome");
    if (outcomes !== null) for (const box of document.querySelectorAll("#verdicts input")) box.checked = outcomes.split(",").includes(box.value);
    for (const id of FIELDS) {
      const field = byId(id);
      if (said.has(id) && (field.type === "search" || [...field.options].some((option) => option.value === said.get(id)))) field.value = said.get(id);
    }
    return said.get("question");
  }

  function openQuestion(name) {
    const at = found.findIndex((row) => `${row.dataset}::${row.id}` === name);
    if (at < 0) return;
    byId("questions").open = true;
    if (at >= shown) more(at - shown + PAGE);  // with some below it, else the window could not be moved so far
    const details = byId(`q-${found[at].number}`);
    // A card that opens is filled in a task of its own.
    if (details.open) details.scrollIntoView();
    else details.addEventListener("toggle", () => details.scrollIntoView(), { once: true });
    details.open = true;
  }

  // A link of the gate's lines leads to its question, whatever the filters leave out.
  function show(name) {
    if (!name) return;
    byId("filters").reset();
    setTimeout(() => openQuestion(name));
  }

  function choices(id, values, all) {
    const select = byId(id);
    if (all !== null) select.append(new Option(all, ""));
    for (const value of values) select.append(new Option(value, value));
    const label = byId(`${id}-label`);
    if (label) label.hidden = values.length < 2 && all !== null && id === "dataset" || values.length === 0;
  }

  const distinct = (pick) => [...new Set(rows.flatMap(pick))].filter(Boolean);
  for (const verdict of VERDICTS.filter((v) => rows.some((row) => row.verdict === v))) {
    const box = el("input");
    Object.assign(box, { type: "checkbox", value: verdict, checked: true, defaultChecked: true });
    byId("verdicts").append(el("label", "", box, verdict));
  }
  byId("verdicts").parentElement.hidden = byId("verdicts").children.length < 2;
  choices("dataset", distinct((row) => [row.dataset]), "all");
  choices("tag", distinct((row) => row.tags).sort(), "all");
  choices("blame", distinct((row) => [row.blame]).sort(), "all");
  choices("change", report.baseline ? distinct((row) => [row.change]) : [], "all");
  choices("sort", Object.keys(SORTS), null);

  const { more, apply } = listing(card, chosen);
  new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting) && shown) more(); }, { rootMargin: "600px" }).observe(byId("more"));
  addEventListener("beforeprint", () => { byId("questions").open = true; });
  addEventListener("hashchange", () => show(new URLSearchParams(location.hash.slice(1)).get("question")));
  document.querySelector(".skip").addEventListener("click", () => { byId("questions").open = true; });
  const wanted = recall();
  showBroken();
  apply();
  if (wanted) openQuestion(wanted);
  if (rows.length === 0) byId("shown").textContent = "No question was asked.";
})();
