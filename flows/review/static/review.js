// The review sheet: one text at a time, two questions. Served, it saves each answer at once and is told when that is on
// the disk; as a file it keeps answers in the browser until they are saved as a file. All texts go in as text, never as HTML.
"use strict";

const at = (id) => document.getElementById(id);
const QUESTIONS = ["natural", "coherent"];
const RETRY_MS = 2000;

class Refused extends Error {} // it would be refused again

class Server {
  constructor() {
    this.token = location.hash.slice(1);
    this.texts = new Map(); // id -> promise: the next text is there before it is asked for
  }
  async ask(path, options = {}) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json" };
    const answer = await fetch(path, { ...options, headers });
    if (answer.status === 401) throw new Refused("This link is not complete or not valid: open the whole link that you were given.");
    if (answer.status === 507) throw new Error("the disk is full");
    if (answer.status >= 400 && answer.status < 500) throw new Refused(`The server refused this (${answer.status}): load the page anew.`);
    if (!answer.ok) throw new Error(`the server failed (${answer.status})`);
    return answer.json();
  }
  sheet() {
    return this.ask("/api/sheet");
  }
  text({ id }) {
    if (!this.texts.has(id)) {
      const asked = this.ask(`/api/texts/${id}`).then((answer) => answer.text);
      asked.catch(() => this.texts.delete(id));
      this.texts.set(id, asked);
    }
    return this.texts.get(id);
  }
  save({ id, natural, coherent, comment }) {
    return this.ask(`/api/texts/${id}`, { method: "PUT", body: JSON.stringify({ natural, coherent, comment }), keepalive: true });
  }
  saved() {
    return "Saved";
  }
}

class InFile {
  kept = true; // a browser may refuse to keep anything of a file
  async sheet() {
    const sheet = JSON.parse(at("sheet").textContent);
    this.reviewer = sheet.reviewer;
    this.digest = sheet.sheet;
    try {
      this.said = JSON.parse(localStorage.getItem(this.name()) || "{}");
    } catch {
      this.said = {};
      this.kept = false;
    }
    for (const entry of sheet.entries) Object.assign(entry, this.said[entry.id]);
    return sheet;
  }
  name() {
    return `review ${this.digest} ${this.reviewer}`;
  }
  async text(entry) {
    return entry.text;
  }
  async save({ id, natural, coherent, comment }) {
    this.said[id] = { natural, coherent, comment, at: new Date().toISOString() };
    try {
      localStorage.setItem(this.name(), JSON.stringify(this.said));
      this.kept = true;
    } catch {
      this.kept = false;
    }
  }
  saved() {
    if (!this.kept) return "This browser keeps nothing: save the answers as a file before you close the page";
    return "Kept in this browser: save the answers as a file when you are done";
  }
  handIn() {
    const judgements = Object.entries(this.said).map(([item, said]) => ({ item, ...said }));
    const content = JSON.stringify({ version: 1, sheet: this.digest, reviewer: this.reviewer, judgements }, null, 1);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    link.download = `answers-${this.reviewer}-${this.digest}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }
}

const store = at("sheet") ? new InFile() : new Server();
let entries = [];
let place = 0;
let loading = false; // the next text is on its way: a key now would be meant for it
let asked = 0; // index of the marked question; past the last one when both are answered
const waiting = new Map(); // id -> entry whose last change is not saved yet
let sending = false;

const complete = (entry) => QUESTIONS.every((name) => entry[name] !== null);
const trouble = (message) => {
  at("trouble").textContent = message;
  at("trouble").hidden = !message;
};

function mark(question) {
  asked = question;
  QUESTIONS.forEach((name, index) => {
    const box = at(name);
    box.classList.toggle("asked", index === asked);
    for (const button of box.querySelectorAll("[data-answer]")) {
      const yes = button.dataset.answer === "yes";
      button.setAttribute("aria-pressed", String(entries[place][name] === yes));
      if (index === asked) button.dataset.key = yes ? "y" : "n";
      else delete button.dataset.key;
    }
  });
}

function answer(question, yes) {
  if (loading) return;
  const entry = entries[place];
  entry[QUESTIONS[question]] = yes;
  keep(entry);
  const open = QUESTIONS.findIndex((name) => entry[name] === null);
  mark(open < 0 ? QUESTIONS.length : open);
  if (open < 0) at("next").focus({ preventScroll: true });
}

function keep(entry) {
  waiting.set(entry.id, entry);
  count();
  send();
}

async function send() {
  if (sending) return;
  sending = true;
  while (waiting.size) {
    const [id, entry] = waiting.entries().next().value;
    waiting.delete(id);
    try {
      await store.save(entry);
      trouble("");
      at("saved").textContent = store.saved();
    } catch (error) {
      if (!waiting.has(id)) waiting.set(id, entry);
      at("saved").textContent = "Not saved yet";
      if (error instanceof Refused) {
        trouble(error.message);
        break;
      }
      trouble("Not saved yet: the server does not answer. It is tried again until it does; leave this page open.");
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  }
  sending = false;
}

function count() {
  const judged = entries.filter(complete).length;
  at("counted").textContent = `${judged} of ${entries.length} judged`;
  at("bar").max = entries.length;
  at("bar").value = judged;
  at("done").hidden = judged < entries.length;
  at("open").disabled = judged === entries.length;
  [...at("map").children].forEach((button, index) => {
    const entry = entries[index];
    const state = complete(entry) ? "judged" : QUESTIONS.some((name) => entry[name] !== null) ? "begun" : "open";
    button.className = state;
    button.setAttribute("aria-label", `Text ${index + 1}, ${state}`);
    if (index === place) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
}

async function show(index) {
  const before = entries[place];
  if (before && at("comment").value !== before.comment && !at("review").hidden) comment();
  const entry = entries[index];
  let text;
  if (loading) return;
  loading = true;
  try {
    text = await store.text(entry);
  } catch (error) {
    trouble(error instanceof Refused ? error.message : "The server does not answer: try again in a moment.");
    return;
  } finally {
    loading = false;
  }
  if (index + 1 < entries.length) Promise.resolve(store.text(entries[index + 1])).catch(() => {}); // asked for again when it is its turn
  if (!waiting.size) trouble("");
  place = index;
  at("place").textContent = `Text ${index + 1} of ${entries.length}`;
  at("name").textContent = entry.id;
  at("text").textContent = text;
  at("comment").value = entry.comment;
  at("back").disabled = index === 0;
  at("next").disabled = index === entries.length - 1;
  at("saved").textContent = complete(entry) ? store.saved() : "\u00a0";
  at("review").hidden = false;
  const open = QUESTIONS.findIndex((name) => entry[name] === null);
  mark(open < 0 ? QUESTIONS.length : open);
  count();
  scrollTo(0, 0);
  at("text").focus({ preventScroll: true });
}

function comment() {
  const entry = entries[place];
  if (entry.comment === at("comment").value) return;
  entry.comment = at("comment").value;
  keep(entry);
}

function nextOpen() {
  const order = [...entries.keys()].map((step) => (place + 1 + step) % entries.length);
  const found = order.find((index) => !complete(entries[index]));
  if (found !== undefined) show(found);
}

QUESTIONS.forEach((name, index) => {
  for (const button of at(name).querySelectorAll("[data-answer]"))
    button.addEventListener("click", () => answer(index, button.dataset.answer === "yes"));
});
at("back").addEventListener("click", () => show(Math.max(place - 1, 0)));
at("next").addEventListener("click", () => show(Math.min(place + 1, entries.length - 1)));
at("open").addEventListener("click", nextOpen);
at("comment").addEventListener("change", comment);
if (at("hand-in")) at("hand-in").addEventListener("click", () => store.handIn());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
  if (at("keys").open || at("review").hidden) return;
  if (event.key === "1" || event.key === "2") mark(Number(event.key) - 1);
  else if (event.key === "c") at("comment").focus();
  else if (event.key === "Enter" && !event.target.closest("button, summary, a")) at("next").click();
  else return;
  event.preventDefault();
});
addEventListener("beforeunload", (event) => {
  if (!at("review").hidden) comment(); // one that is being written
  const kept = store instanceof Server ? !sending && !waiting.size : store.kept;
  if (!kept) event.preventDefault();
});
addEventListener("hashchange", () => location.reload());

async function begin() {
  try {
    const sheet = await store.sheet();
    entries = sheet.entries;
    at("who").textContent = sheet.reviewer;
    if (at("hand-in")) at("then").textContent = " Save the answers now and hand the file in.";
    document.title = `${sheet.reviewer} · ${document.title}`;
  } catch (error) {
    trouble(error instanceof Refused ? error.message : "The server does not answer: is it running? Load the page anew.");
    return;
  }
  entries.forEach((_, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => show(index));
    at("map").append(button);
  });
  const open = entries.findIndex((entry) => !complete(entry));
  show(open < 0 ? 0 : open);
}
begin();
