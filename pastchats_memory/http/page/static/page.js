// Everything works without this file. It adds search as you type, details in place, keys and copying.
"use strict";

const form = document.querySelector("form.search");
const query = form?.elements.query;

async function load(address) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// --- search as you type ----------------------------------------------------------------------------------------------

let latest = 0;

async function refresh() {
  const mine = ++latest;
  const address = `${form.action}?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()))}`;
  const page = await load(address);
  const fresh = page.getElementById("results");
  if (mine !== latest) return; // a later letter was typed meanwhile
  if (!fresh || !query.value.trim()) { location.assign(address); return; }
  document.getElementById("results").replaceWith(fresh);
  const controls = page.querySelector("form.search .filters");
  if (controls && !form.contains(document.activeElement.closest("select"))) form.querySelector(".filters")?.replaceWith(controls);
  prepare(document);
  history.replaceState(null, "", address);
  document.title = page.title;
}

// A menu that is not set stays out of the address.
document.addEventListener("formdata", ({ target, formData }) => {
  if (target.method === "get") for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});

if (form) {
  let waiting;
  query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 180);
  });
  const set = form.querySelector(".filters .set")?.parentElement; // on a phone it can lie beyond the edge
  if (set) set.parentElement.scrollLeft = set.offsetLeft + set.offsetWidth - form.offsetLeft - form.offsetWidth;
}

// A menu acts when something is chosen in it.
document.addEventListener("change", (event) => {
  const menu = event.target.closest("select[data-sends]");
  if (menu) menu.form.requestSubmit();
});

// --- details that are read when they are opened ----------------------------------------------------------------------

document.addEventListener("toggle", async (event) => {
  const { target } = event;
  letKeysScroll(target); // code that was folded had no width
  const address = target.open ? target.dataset?.fetch : undefined;
  if (!address) return;
  delete target.dataset.fetch;
  const fresh = (await load(address)).getElementById("fetched");
  if (!fresh) return;
  fresh.removeAttribute("id");
  target.lastElementChild.replaceWith(fresh);
  prepare(fresh);
}, true);

// --- the episode that is read ----------------------------------------------------------------------------------------

const outline = document.querySelector(".outline ol");
if (outline) {
  const episodes = [...document.querySelectorAll(".episode")];
  const lines = new Map([...outline.querySelectorAll("li > a")].map((link) => [link.hash, link.parentElement]));
  const reading = new IntersectionObserver(() => {
    const read = episodes.findLast((one) => one.getBoundingClientRect().top < innerHeight / 5) ?? episodes[0];
    const line = lines.get(read.dataset.episode);
    if (!line) return;
    for (const one of outline.children) one.classList.toggle("here", one === line);
    outline.scrollTop = line.offsetTop - outline.offsetTop - outline.clientHeight / 3;
  }, { rootMargin: "-20% 0px -79% 0px" }); // it is called when an episode crosses this line of the window
  for (const one of episodes) reading.observe(one);
}

// --- menus ------------------------------------------------------------------------------------------------------------

function closeMenus(target) {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
}

document.addEventListener("click", (event) => closeMenus(event.target));

// --- copying ---------------------------------------------------------------------------------------------------------

function prepare(within) {
  for (const code of within.querySelectorAll("pre")) {
    if (code.parentElement.matches(".code")) continue;
    const place = document.createElement("div");
    place.className = "code";
    code.replaceWith(place);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "copy", textContent: "Copy" });
    place.append(code, button);
  }
  letKeysScroll(within);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const { copy, copyFrom } = button.dataset;
  const text = copy ?? (copyFrom ? await (await fetch(copyFrom)).text() : button.previousElementSibling.textContent);
  await navigator.clipboard.writeText(text);
  const words = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = words; }, 1500);
});

// --- keys ------------------------------------------------------------------------------------------------------------

const keys = document.getElementById("keys");
const help = document.getElementById("help");
const places = { h: "/", p: "/page/projects", t: "/page/tasks", l: "/page/lessons", m: "/page/log" };
let before = "";

function move(step) {
  const entries = [...document.querySelectorAll("[data-entry]")].filter((one) => one.checkVisibility());
  const at = entries.indexOf(document.activeElement);
  const next = entries[Math.max(at + step, 0)];
  if (next) next.focus();
}

// A card of the board goes to another column by its own form.
function changeStatus(card, column) {
  if (!card || !column || column.contains(card)) return;
  const form = card.querySelector(".status-form");
  form.elements.status.value = column.dataset.status;
  form.requestSubmit();
}

function moveCard(step) {
  const card = document.activeElement.closest("[data-task]");
  const columns = [...document.querySelectorAll("[data-status]")];
  changeStatus(card, columns[columns.findIndex((one) => one.contains(card)) + step]);
}

let dragged;
for (const card of document.querySelectorAll("[data-task]")) card.draggable = true;
document.addEventListener("dragstart", (event) => { dragged = event.target.closest?.("[data-task]"); });
document.addEventListener("dragover", (event) => {
  const column = event.target.closest("[data-status]");
  for (const one of document.querySelectorAll(".over")) if (one !== column) one.classList.remove("over");
  if (dragged && column) { event.preventDefault(); column.classList.add("over"); }
});
document.addEventListener("drop", (event) => {
  const column = event.target.closest("[data-status]");
  if (dragged && column) { event.preventDefault(); changeStatus(dragged, column); }
});

// A card that went to another column keeps the focus, so that the next key moves it again.
document.addEventListener("submit", ({ target }) => {
  if (target.matches("[data-task] form")) sessionStorage.setItem("moved", target.elements.key.value);
});
for (const key of document.querySelectorAll("[data-task] [name=key]")) {
  if (key.value === sessionStorage.getItem("moved")) key.closest("[data-task]").querySelector("a").focus();
}
if (document.querySelector("[data-task]")) sessionStorage.removeItem("moved");

const actions = {
  "<": () => moveCard(-1),
  ">": () => moveCard(1),
  "/": () => { if (query) { query.focus(); query.select(); } else location.assign("/"); },
  "?": () => keys.showModal(),
  j: () => move(1),
  k: () => move(-1),
  o: () => {
    const folds = [...document.querySelectorAll("main details")];
    const isOpen = folds.some((one) => one.open && one.matches(".calls"));
    for (const one of folds) if (one.matches(".calls")) one.open = !isOpen;
  },
  Escape: () => closeMenus(null),
  "[": () => document.querySelector("a[rel=prev]")?.click(),
  "]": () => document.querySelector("a[rel=next]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog[open]")) return;
  const place = before === "g" ? places[event.key] : undefined;
  before = event.key;
  if (place) location.assign(place);
  else if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
});

if (help) {
  help.addEventListener("click", () => keys.showModal());
  // Not scrollIntoView: the Tab key would go on from there, past the link to the content.
  const here = document.querySelector(".bar [aria-current]"), bar = here?.closest("nav");
  if (bar) bar.scrollLeft = here.offsetLeft + here.offsetWidth - bar.offsetLeft - bar.offsetWidth;
}

// Code and tables that are larger than their place scroll. Then the Tab key stops at them, and arrows move them.
function letKeysScroll(within) {
  for (const one of within.querySelectorAll?.("pre, .text table") ?? []) {
    const isLarger = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight;
    if (isLarger) one.tabIndex = 0; else one.removeAttribute("tabindex");
  }
}

addEventListener("resize", () => letKeysScroll(document));

prepare(document);
