// Everything works without this file. It adds search as you type, keys and copying.
"use strict";

// --- search as you type ----------------------------------------------------------------------------------------------

const form = document.querySelector("form.search");
let latest = 0;

async function refresh() {
  const mine = ++latest;
  const address = `${form.action}?${new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim()))}`;
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("results");
  if (mine !== latest) return; // a later letter was typed meanwhile
  if (!fresh) { location.assign(address); return; }
  document.getElementById("results").replaceWith(fresh);
  prepare(fresh);
  history.replaceState(null, "", address);
  document.title = page.title;
}

if (form) {
  let waiting;
  form.elements.query.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 180);
  });
}

// --- copying ---------------------------------------------------------------------------------------------------------

function prepare(within) {
  for (const button of within.querySelectorAll("button.copy")) button.hidden = false;
  letKeysScroll(within);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const text = button.dataset.copy ?? (await (await fetch(button.dataset.copyFrom)).text());
  await navigator.clipboard.writeText(text);
  const words = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = words; }, 1500);
});

// --- keys ------------------------------------------------------------------------------------------------------------

// "/" goes to the search, "j" and "k" to the next and the previous entry of a list; Enter opens it, as on every link.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  if (event.key === "/") {
    event.preventDefault();
    if (form) form.elements.query.focus(); else location.assign("/");
  } else if (event.key === "j" || event.key === "k") {
    const entries = [...document.querySelectorAll("[data-entry]")];
    const at = entries.indexOf(document.activeElement);
    const next = entries[event.key === "j" ? at + 1 : Math.max(at - 1, 0)];
    if (next) next.focus();
  }
});

// Code and tables that are larger than their place scroll. Then the Tab key stops at them, and arrows move them.
function letKeysScroll(within) {
  for (const one of within.querySelectorAll("pre, .text table")) {
    const isLarger = one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight;
    if (isLarger) one.tabIndex = 0; else one.removeAttribute("tabindex");
  }
}

addEventListener("resize", () => letKeysScroll(document));
document.addEventListener("toggle", (event) => letKeysScroll(event.target), true); // code that was folded had no width

prepare(document);
