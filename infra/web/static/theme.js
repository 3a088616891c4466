// In the head, before anything is painted: a theme that a person chose before holds from the first pixel.
"use strict";
const THEMES = ["light", "dark"];
const chosen = localStorage.getItem("theme");
if (THEMES.includes(chosen)) document.documentElement.dataset.theme = chosen;
