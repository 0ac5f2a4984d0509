"use strict";
// j and k go down and up the list, or to the next and the previous query; what the list has is there without it, too.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  const step = { j: 1, k: -1 }[event.key];
  if (!step) return;
  const rows = [...document.querySelectorAll("table.queries tbody th a")];
  if (rows.length) {
    const at = rows.indexOf(document.activeElement);
    const next = rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  } else {
    document.querySelector(step > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
  }
});
// What was typed before the scripts were there, or put back by the browser, is asked for now.
window.addEventListener("load", () => {
  const typed = document.querySelector("form.filters input[type=search]");
  if (typed && typed.value !== typed.defaultValue) typed.dispatchEvent(new Event("input", { bubbles: true }));
});
