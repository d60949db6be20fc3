"use strict";
const report = JSON.parse(document.getElementById("report").textContent);
const byId = (id) => document.getElementById(id);

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

// The text with some of its ranges marked; where two overlap, the mark has the kinds of both. What the reader looks for
// is marked inside of the others too.
function marked(text, ranges) {
  const part = document.createDocumentFragment();
  const hits = hitsIn(text);
  const edges = [...new Set([0, text.length, ...ranges.flatMap(([start, end]) => [start, end])])].sort((a, b) => a - b);
  edges.slice(1).forEach((to, at) => {
    const from = edges[at];
    const over = ranges.filter(([start, end]) => start <= from && end >= to);
    const words = withHits(text, from, to, hits);
    if (!over.length) { part.append(words); return; }
    const mark = el("mark", [...new Set(over.map((range) => range[2]))].join(" "), words);
    mark.title = [...new Set(over.map((range) => range[3]).filter(Boolean))].join("; ");
    part.append(mark);
  });
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

const AROUND = 1000;
const FOLDED = 10000;
const MARKS = 20;

// A text whose long stretches are folded, except its beginning and what is around its first marks and search matches.
function paragraph(text, ranges = []) {
  const edges = [0];
  const cut = (at) => {
    const blank = text.slice(at, at + 40).search(/\s/);
    return blank < 0 && /[\udc00-\udfff]/.test(text[at] || "") ? at - 1 : at + Math.max(0, blank);
  };
  const places = [...ranges, ...hitsIn(text)].sort((a, b) => a[0] - b[0]).slice(0, MARKS);
  let end = 0;
  for (const [from, to] of [...places, [text.length + AROUND, Infinity]]) {
    if (from - end > FOLDED + 2 * AROUND) edges.push(cut(end + AROUND), cut(from - AROUND));
    end = Math.max(end, to);
  }
  const node = el(edges.length > 1 ? "div" : "p", "text");
  [...edges, text.length].slice(1).forEach((to, at) => {
    const from = edges[at];
    const inside = ranges.map(([s, e, ...more]) => [Math.max(s, from) - from, Math.min(e, to) - from, ...more]).filter(([s, e]) => s < e);
    const part = marked(text.slice(from, to), inside);
    const marks = inside.length ? `, ${count(inside.length)} ${inside.length === 1 ? "mark" : "marks"}` : "";
    node.append(at % 2 ? el("details", "fold", el("summary", "", `${count(to - from)} more characters${marks}`), el("div", "", part)) : part);
  });
  node.dir = "auto";
  return node;
}

const matches = (text, pattern) => [...text.matchAll(pattern)].map((match) => [match.index, match.index + match[0].length]);

const CHANGES = 1200;

// The words that only one of the texts has, by Myers' greedy algorithm; null if they are too many.
function differences(old, now) {
  const [a, b] = [matches(old, /\S+/g), matches(now, /\S+/g)];
  const [before, after] = [a.map((range) => old.slice(...range)), b.map((range) => now.slice(...range))];
  // For each number of changes, how far in `before` they reach, by the lead of `before` over `after`.
  const steps = [];
  const isAdded = (lead, n) => lead === -n || (lead !== n && steps[n - 1].get(lead - 1) < steps[n - 1].get(lead + 1));
  const reaches = (n) => {
    const reach = new Map();
    steps.push(reach);
    for (let lead = -n; lead <= n; lead += 2) {
      let i = n === 0 ? 0 : isAdded(lead, n) ? steps[n - 1].get(lead + 1) : steps[n - 1].get(lead - 1) + 1;
      while (i < a.length && i - lead < b.length && before[i] === after[i - lead]) i += 1;
      reach.set(lead, i);
    }
    return reach.get(a.length - b.length) === a.length;
  };
  let n = 0;
  while (!reaches(n)) if ((n += 1) > CHANGES) return null;
  const gone = [];
  const added = [];
  for (let lead = a.length - b.length; n > 0; n -= 1) {
    const isNew = isAdded(lead, n);
    lead += isNew ? 1 : -1;
    const i = steps[n - 1].get(lead);
    if (isNew) added.unshift([...b[i - lead], "new", "only in the later answer"]);
    else gone.unshift([...a[i], "old", "only in the earlier answer"]);
  }
  return [joined(gone, old), joined(added, now)];
}

// The ranges, with one for all neighbours that nothing but blanks stand between.
function joined(ranges, text) {
  const whole = [];
  for (const range of ranges) {
    const last = whole[whole.length - 1];
    if (last && !text.slice(last[1], range[0]).trim()) last[1] = range[1];
    else whole.push(range);
  }
  return whole;
}

// Two answers side by side, with the words marked that only one of them has.
function versus(oldTitle, old, newTitle, now, ranges = []) {
  const found = differences(old, now);
  const [gone, added] = found || [[], []];
  const side = (title, text, marks) => el("div", "", el("h3", "", title), text.trim() ? paragraph(text, marks) : el("p", "small", "The answer is empty."));
  const sides = el("div", "versus", side(oldTitle, old, gone), side(newTitle, now, [...ranges, ...added]));
  if (!found) sides.append(el("p", "small", `The difference is not marked: more than ${count(CHANGES)} words are in one answer only.`));
  return sides;
}

const PAGE = 50;
let found = report.rows;
let shown = 0;

// The questions that *choose* returns for the filters and the lower-case text, in steps; *show* makes a question's element.
function listing(show, choose) {
  const { rows } = report;

  function more(rowsMore = PAGE) {
    byId("list").append(...found.slice(shown, shown + rowsMore).map((row) => show(row)));
    shown = Math.min(found.length, shown + rowsMore);
    byId("more").hidden = shown >= found.length;
    byId("more-button").textContent = `Show more (${count(found.length - shown)} left)`;
  }

  function apply() {
    found = choose(byId("text").value.trim().toLowerCase());
    shown = 0;
    byId("list").replaceChildren();
    byId("shown").textContent = `${found.length === rows.length ? "" : `${count(found.length)} of `}${count(rows.length)} ${rows.length === 1 ? "question" : "questions"}`;
    more();
  }

  let waiting = 0;
  // Of what is typed the next letter may follow at once; a choice is final.
  byId("filters").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, event.target === byId("text") ? 60 : 0);
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(apply));
  byId("more-button").addEventListener("click", () => more());
  addEventListener("beforeprint", () => more(1000));
  byId("filters").hidden = rows.length === 0;
  return { more, apply };
}

const count = (value) => value.toLocaleString("en");
// A small value must not look like 0.
const number = (value) => {
  const size = Math.abs(value);
  return size && size < 0.0005 ? String(Number(value.toFixed(6))) : value.toFixed(size && size < 0.1 ? 3 : 2);
};
const limit = (value) => Number(number(value)) === value ? number(value) : String(value);

