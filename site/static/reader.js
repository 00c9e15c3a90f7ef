// What a page does for its reader: it remembers guesses and compares them (site/predictions.py),
// and a box that scrolls can be reached with the keyboard. Nothing leaves the browser.
"use strict";

const guesses = {
  read(key) {
    try { return localStorage.getItem("guess:" + key); } catch { return null; }
  },
  write(key, value) {
    try {
      if (value === null) localStorage.removeItem("guess:" + key);
      else localStorage.setItem("guess:" + key, value);
    } catch { /* a browser that keeps nothing: the comparison shows all the same */ }
  },
};

// As Python's "%.2g" and "%.3g".
function digits(number, count) {
  const text = number.toPrecision(count);
  if (!text.includes("e")) return String(Number(text));
  const [mantissa, exponent] = text.split("e");
  return `${Number(mantissa)}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}

// As _apart of autograder/notebook.py; a test compares the two.
function apart(guess, value, unit) {
  if (!Number.isFinite(guess) || !Number.isFinite(value)) return "";
  const side = guess > value ? "high" : "low";
  if (/^(%|percent)/.test(unit)) {
    const points = Math.abs(guess - value);
    return points >= 1 ? ` ${digits(points, 3)} percentage points too ${side}.` : " Nearly right.";
  }
  if (Math.min(guess, value) <= 0) return "";
  const ratio = guess / value;
  if (ratio >= 0.9 && ratio <= 1.1) return " Within 10 %.";
  return ` ${digits(Math.max(ratio, 1 / ratio), 2)} times too ${side}.`;
}

function comparison(said, unit, answer) {
  const guess = `${said} ${unit}`.trim();
  if (!answer) return `You said ${guess}. No answer came out where this page was made; further down it says why.`;
  return `You said ${guess}; it is ${answer}.${apart(Number(said), parseFloat(answer), unit)}`;
}

function showPrediction(box) {
  const { key, unit, answer } = box.dataset;
  const said = guesses.read(key) ?? box.dataset.said ?? null;
  const text = said === null ? "" : comparison(said, unit, answer);
  box.querySelector("form").hidden = said !== null;
  box.querySelector("details").hidden = said !== null;
  box.querySelector(".again").hidden = said === null;
  box.querySelector(".said").textContent = text;
  for (const place of document.querySelectorAll(`.answer[data-key="${key}"]`)) {
    place.textContent = text || `It is ${answer}.`;
  }
}

function ask(box) {
  const form = box.querySelector("form");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = form.querySelector("input").value;
    box.dataset.said = said;
    guesses.write(box.dataset.key, said);
    showPrediction(box);
    box.querySelector(".again").focus();
  });
  box.querySelector(".again").addEventListener("click", () => {
    delete box.dataset.said;
    guesses.write(box.dataset.key, null);
    showPrediction(box);
    form.querySelector("input").focus();
  });
  showPrediction(box);
}

// A box whose content is wider than itself can be scrolled with the arrow keys, if Tab reaches it.
const WIDE = ".cell_output .output, .pst-scrollable-table-container, figure.cl, figure.cl *, "
  + "div.math, .highlight pre, .verdict pre, .verdict figure";
function reachable() {
  for (const box of document.querySelectorAll(".bd-article :is(" + WIDE + ")")) {
    const scrolls = box.scrollWidth > box.clientWidth + 1
      && ["auto", "scroll"].includes(getComputedStyle(box).overflowX);
    if (scrolls && !box.hasAttribute("tabindex")) {
      box.tabIndex = 0;
      box.dataset.scrolls = "";
    } else if (!scrolls && "scrolls" in box.dataset) {
      box.removeAttribute("tabindex");
      delete box.dataset.scrolls;
    }
  }
}

document.querySelectorAll(".prediction").forEach(ask);
window.addEventListener("load", reachable);
let waiting;
window.addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(reachable, 200);
});
document.addEventListener("toggle", reachable, true);
