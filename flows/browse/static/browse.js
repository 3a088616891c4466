// What only the data browser does: the tab at hand in sight, groups that light up their marks, an index that grows, a list narrowed by name.
"use strict";

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

for (const item of document.querySelectorAll("[data-lights]")) {
  const marks = [...document.querySelectorAll(".marks mark[data-group]")];
  const light = (on) => {
    const sheet = document.querySelector(".marks");
    sheet.classList.toggle("lit", on);
    for (const mark of marks) mark.classList.toggle("on", on && mark.dataset.group.split(" ").includes(item.dataset.lights));
  };
  for (const event of ["mouseenter", "focus"]) item.addEventListener(event, () => light(true));
  for (const event of ["mouseleave", "blur"]) item.addEventListener(event, () => light(false));
}

const progress = document.querySelector("[data-progress]");
if (progress) {
  let seen = Number(progress.querySelector("progress").value);
  const look = async () => {
    const answer = await fetch(progress.dataset.progress);
    if (!answer.ok) return;
    const now = await answer.json();
    progress.querySelector("progress").value = now.done;
    progress.querySelector("[data-done]").textContent = now.done.toLocaleString("en");
    const typing = document.activeElement && /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
    if (now.complete && !typing) location.reload();
    else setTimeout(look, now.done === seen ? 3000 : 1000);
    seen = now.done;
  };
  setTimeout(look, 1000);
}

for (const field of document.querySelectorAll("[data-narrows]"))
  field.addEventListener("input", () => {
    for (const row of document.querySelectorAll(`${field.dataset.narrows} [data-row]`))
      row.hidden = !row.dataset.name.includes(field.value.trim().toLowerCase());
  });
