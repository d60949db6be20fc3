"use strict";
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const rows = report.rows;
  const byId = (id) => document.getElementById(id);
  const PAGE = 50;
  const VERDICTS = ["FAIL", "ERROR", "PASS"];
  const FIELDS = ["text", "dataset", "tag", "blame", "change", "sort"];
  let found = rows;
  let shown = 0;

  // All of a model's text goes into the page as text, never as markup. What cannot be seen, or turns the direction of
  // what follows, is shown by its code.
  // Of joiners those within one emoji stay.
  const HIDDEN = /(?![\n\t\r]|(?<=\p{Emoji}\ufe0f?)\u200d(?=\p{Emoji}))[\p{Cc}\p{Cf}\p{Cs}\u034f\u115f\u1160\u3164\uffa0]/gu;

  function el(name, className, ...children) {
    const node = document.createElement(name);
    if (className) node.className = className;
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  function visible(text) {
    const part = document.createDocumentFragment();
    let from = 0;
    for (const match of text.matchAll(HIDDEN)) {
      part.append(text.slice(from, match.index));
      const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      part.append(el("span", "char", `U+${code}`));
      from = match.index + match[0].length;
    }
    part.append(text.slice(from));
    return part;
  }

  // The text with some of its ranges marked; of two that overlap the earlier one wins. What the reader looks for is
  // marked inside of the others too.
  function marked(text, ranges) {
    const part = document.createDocumentFragment();
    const hits = hitsIn(text);
    let from = 0;
    for (const [start, end, kind, title] of ranges.sort((a, b) => a[0] - b[0])) {
      if (start < from) continue;
      part.append(withHits(text, from, start, hits));
      const mark = el("mark", kind, withHits(text, start, end, hits));
      if (title) mark.title = title;
      part.append(mark);
      from = end;
    }
    part.append(withHits(text, from, text.length, hits));
    return part;
  }

  function withHits(text, from, to, hits) {
    const part = document.createDocumentFragment();
    for (const [start, end] of hits) {
      if (end <= from || start >= to) continue;
      const first = Math.max(from, start);
      const last = Math.min(end, to);
      part.append(visible(text.slice(from, first)), el("mark", "hit", visible(text.slice(first, last))));
      from = last;
    }
    part.append(visible(text.slice(from, to)));
    return part;
  }

  function hitsIn(text) {
    const wanted = byId("text").value.trim().toLowerCase();
    const lower = text.toLowerCase();
    // Where lower case has another length, places would be wrong.
    if (!wanted || lower.length !== text.length) return [];
    const hits = [];
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + wanted.length)) hits.push([at, at + wanted.length]);
    return hits;
  }

  function paragraph(text, ranges = []) {
    const node = el("p", "text", marked(text, ranges));
    node.dir = "auto";
    return node;
  }

  const count = (value) => value.toLocaleString("en");
  const number = (value) => value.toFixed(value !== 0 && Math.abs(value) < 0.1 ? 3 : 2);

  function occurrences(text, parts, kind, title) {
    const ranges = [];
    for (const part of parts) {
      const start = part ? text.indexOf(part) : -1;
      if (start >= 0) ranges.push([start, start + part.length, kind, title]);
    }
    return ranges;
  }

  const words = (text) => new Set((text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) || []));

  // The dot of 0.7 ends none: a sign of Latin script does so before a blank, behind quotes or brackets too.
  const SENTENCE = /[^\s.!?。！？](?:[^.!?\n。！？]|[.!?](?!["'”»)\]]{0,3}(?:\s|$)))*[.!?。！？]*/gu;

  function sentences(text) {
    const ranges = [];
    for (const match of text.matchAll(SENTENCE)) ranges.push([match.index, match.index + match[0].length]);
    return ranges;
  }

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
    const what = el("span", "what", visible(row.question));
    const notes = [`${report.several ? `${row.dataset}::` : ""}${row.id}`];
    if (row.change && row.change !== "as before") notes.push(row.change);
    if (row.xfailed) notes.push("xfailed");
    if (row.blame) notes.push(`blame: ${row.blame}`);
    if (row.tags.length) notes.push(row.tags.join(", "));
    what.append(el("span", "id", visible(notes.join(" · "))));
    const why = row.reason.trim().split("\n", 1)[0];
    if (why) what.append(el("span", "why", visible(why)));
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
      line.append(el("td", "", name in row.thresholds ? number(row.thresholds[name]) : ""));
      if (row.before) {
        const delta = value !== undefined && name in before ? value - before[name] : null;
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

  const WORDS = 600;

  // The words of both texts that are not in their longest common subsequence.
  function differences(old, now) {
    const split = (text) => [...text.matchAll(/\S+/g)].map((match) => [match.index, match.index + match[0].length]);
    const [a, b] = [split(old), split(now)];
    if (a.length > WORDS || b.length > WORDS) return [[], []];
    const same = (i, j) => old.slice(...a[i]) === now.slice(...b[j]);
    const most = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i -= 1) {
      for (let j = b.length - 1; j >= 0; j -= 1) most[i][j] = same(i, j) ? most[i + 1][j + 1] + 1 : Math.max(most[i + 1][j], most[i][j + 1]);
    }
    const gone = [];
    const added = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && same(i, j)) { i += 1; j += 1; }
      else if (j < b.length && (i === a.length || most[i][j + 1] > most[i + 1][j])) { added.push([...b[j], "new", "only in the answer now"]); j += 1; }
      else { gone.push([...a[i], "old", "only in the recorded answer"]); i += 1; }
    }
    return [gone, added];
  }

  function versus(row, unsupported) {
    const [gone, added] = differences(row.before.answer, row.answer);
    const side = (title, text, ranges) => el("div", "", el("h3", "", title), text.trim() ? paragraph(text, ranges) : el("p", "small", "The answer is empty."));
    return el("div", "versus", side("Recorded answer", row.before.answer, gone), side("Answer", row.answer, [...unsupported, ...added]));
  }

  function bodyOf(row) {
    const body = el("div", "body");
    const add = (title, ...nodes) => body.append(el("h3", "", title), ...nodes);
    if (row.reason) {
      const reason = paragraph(row.reason);
      reason.classList.add("reason");
      add(row.verdict === "ERROR" ? `Error: ${row.kind}` : "Why it failed", reason);
    }
    if (row.xfailed) body.append(el("p", "small", visible(`pytest shows it as xfailed: ${row.xfailed}`)));
    if (row.expected.length) add(row.expected.length > 1 ? "Expected, any of" : "Expected", ...row.expected.map((text) => paragraph(text)));
    if (!row.answerable) add("Expected", el("p", "text", "The system should decline to answer."));
    if (row.answer !== null) {
      const unsupported = occurrences(row.answer, row.unsupported, "bad", "the judge: not supported by the contexts");
      const loose = row.unsupported.filter((part) => !row.answer.includes(part));
      if (isChanged(row)) body.append(versus(row, unsupported));
      else add("Answer", row.answer.trim() ? paragraph(row.answer, unsupported) : el("p", "small", "The answer is empty."));
      if (loose.length) add("Not supported, says the judge", ...loose.map((text) => paragraph(text)));
    }
    if (row.answer !== null || Object.keys(row.metrics).length) {
      const good = supporting(row);
      const list = el("ol", "contexts");
      row.contexts.forEach((text, at) => {
        const item = el("li", "", paragraph(text, good[at]));
        if (row.sources && row.sources[at]) item.prepend(el("span", "small", visible(row.sources[at])));
        list.append(item);
      });
      add("Contexts", row.contexts.length ? list : el("p", "small", "No contexts were returned."));
      if (good.some((ranges) => ranges.length)) {
        body.append(el("p", "small", el("mark", "good", "Marked"), " are the sentences that have most words of a sentence of the answer: a match of words, not the judge's opinion."));
      }
    }
    if (Object.keys(row.metrics).length || Object.keys(row.unscored).length) add("Scores", scoreTable(row));
    for (const [name, why] of Object.entries(row.unscored)) body.append(el("p", "small", visible(`${name} could not be measured: ${why}`)));
    if (row.before) {
      body.append(el("p", "small", `In the baseline: ${row.before.verdict}${row.before.answer !== null && !isChanged(row) && row.answer !== null ? ", with the same answer" : ""}.`));
      if (row.answer === null && row.before.answer !== null) add("Recorded answer", paragraph(row.before.answer));
    }
    if (row.latency !== null) body.append(el("p", "small", answeredIn(row)));
    return body;
  }

  function answeredIn(row) {
    const first = row.first_token === null ? "" : `, the first token in ${row.first_token.toFixed(2)} s`;
    return `Answered in ${row.latency.toFixed(2)} s${first}.`;
  }

  function card(row, list = "q") {
    const details = el("details", "q", summaryOf(row));
    details.id = `${list}-${row.number}`;
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".body")) details.append(bodyOf(row));
    });
    return details;
  }

  function more(rowsMore = PAGE) {
    const list = byId("list");
    list.append(...found.slice(shown, shown + rowsMore).map((row) => card(row)));
    shown = Math.min(found.length, shown + rowsMore);
    byId("more").hidden = shown >= found.length;
    byId("more-button").textContent = `Show more (${count(found.length - shown)} left)`;
  }

  const BROKEN = 20;

  // Newly failing questions come first, and those that pytest shows as xfailed last.
  function showBroken() {
    const rank = (row) => row.change === "newly failing" ? 0 : row.xfailed ? 2 : 1;
    const broken = rows.filter((row) => row.verdict !== "PASS").sort((a, b) => rank(a) - rank(b) || a.number - b.number);
    byId("broken").hidden = broken.length === 0;
    byId("broken-list").append(...broken.slice(0, BROKEN).map((row) => card(row, "broken")));
    byId("broken-rest").hidden = broken.length <= BROKEN;
    byId("broken-rest").textContent = `${count(broken.length - BROKEN)} more are among all questions below.`;
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
    if (report.baseline) SORTS[`change of ${name}, worst first`] = (a, b) => change(a, name) - change(b, name);
  }

  function change(row, name) {
    const before = row.before && row.before.metrics[name];
    return before === undefined || before === null || row.metrics[name] === undefined ? 2 : row.metrics[name] - before;
  }

  function apply() {
    const verdicts = new Set([...document.querySelectorAll("#verdicts input:checked")].map((box) => box.value));
    const text = byId("text").value.trim().toLowerCase();
    const dataset = byId("dataset").value, tag = byId("tag").value, blame = byId("blame").value, changed = byId("change").value;
    found = rows.filter((row) =>
      verdicts.has(row.verdict) && (!dataset || row.dataset === dataset) && (!tag || row.tags.includes(tag)) &&
      (!blame || row.blame === blame) && (!changed || row.change === changed) && (!text || haystack(row).includes(text)));
    const order = SORTS[byId("sort").value];
    found = [...found].sort((a, b) => order(a, b) || a.number - b.number);
    shown = 0;
    byId("list").replaceChildren();
    remember(verdicts);
    byId("shown").textContent = `${found.length === rows.length ? "" : `${count(found.length)} of `}${count(rows.length)} ${rows.length === 1 ? "question" : "questions"}`;
    more();
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
    if (at >= shown) more(at + 1 - shown);
    const details = byId(`q-${found[at].number}`);
    details.open = true;
    details.scrollIntoView();
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

  let waiting = 0;
  // Of what is typed the next letter may follow at once; a choice is final.
  byId("filters").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, event.target === byId("text") ? 60 : 0);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(apply));
  byId("more-button").addEventListener("click", () => more());
  new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting) && shown) more(); }, { rootMargin: "600px" }).observe(byId("more"));
  addEventListener("beforeprint", () => more(1000));
  byId("filters").hidden = rows.length === 0;
  const wanted = recall();
  apply();
  showBroken();
  if (wanted) openQuestion(wanted);
  if (rows.length === 0) byId("shown").textContent = "No question was asked.";
})();
