// Keys and the theme, shared by all pages. A page says with data attributes what there is:
//   data-key="x"         a link or button that the key x follows
//   data-search          the field that / goes to
//   data-rows            a table or list whose rows j and k walk through; Enter opens the row's first link
"use strict";

const typing = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
}

function toggleKeys() {
  const dialog = document.getElementById("keys");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function walk(step) {
  const list = document.querySelector("[data-rows]");
  const links = list ? [...list.querySelectorAll("[data-row] a[href]:first-of-type")] : [];
  const firsts = links.filter((link) => link === link.closest("[data-row]").querySelector("a[href]"));
  if (!firsts.length) return false;
  const row = document.activeElement.closest("[data-row]");
  const at = row ? firsts.findIndex((link) => row.contains(link)) : step > 0 ? -1 : firsts.length;
  const next = firsts[Math.min(Math.max(at + step, 0), firsts.length - 1)];
  next.focus();
  next.closest("[data-row]").scrollIntoView({ block: "nearest" });
  return true;
}

function follow(key) {
  const named = document.querySelector(`[data-key~="${CSS.escape(key)}"]`);
  if (!named) return false;
  named.click();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.getElementById("keys").open && event.key !== "?") return;
  const search = document.querySelector("[data-search]");
  let done = true;
  if (event.key === "?") toggleKeys();
  else if (event.key === "t") toggleTheme();
  else if (event.key === "/" && search) search.select();
  else if (follow(event.key)) done = true;
  else if (event.key === "j") done = walk(1);
  else if (event.key === "k") done = walk(-1);
  else done = false;
  if (done) event.preventDefault();
});

document.querySelector("[data-theme-toggle]").addEventListener("click", toggleTheme);
document.querySelector("[data-keys]").addEventListener("click", toggleKeys);
document.getElementById("keys").addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close(); // beside it
});
for (const field of document.querySelectorAll("[data-submits]"))
  field.addEventListener("change", () => field.form.requestSubmit());
