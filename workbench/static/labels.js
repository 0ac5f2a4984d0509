// Keys for the buttons that carry data-key; one at a time, never while a label is on its way.
(() => {
  let away = false;
  const typing = (at) => at.closest("input, select, textarea, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const button = document.querySelector(`#item [data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!button) return;
    event.preventDefault();
    if (!away) button.click();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!event.target.closest("#item")) return;
    if (away) event.preventDefault();
    else away = true;
  });
  // A button that htmx does not know yet would leave the page, and its label would be lost.
  document.addEventListener("submit", (event) => {
    if (event.target.closest("#item")) event.preventDefault();
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "item") away = false;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target.id !== "item") return;
    const heading = document.getElementById("question");
    if (heading) heading.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    htmx.trigger(document.body, "labelled");
  });
  const lost = (words) => (event) => {
    away = false;
    const said = document.querySelector(".gone-through [role=status]");
    const answer = new DOMParser().parseFromString(event.detail.xhr.responseText || "", "text/html").querySelector(".said");
    if (said) said.textContent = answer ? answer.textContent : words;
  };
  document.addEventListener("htmx:responseError", lost("The last label was not kept. Reload the page and go on."));
  document.addEventListener("htmx:sendError", lost("The server does not answer; the last label may not be kept. Start it again, reload the page and go on."));
})();
