// Tables sort by a click on a column's head: up, down, then as they were. Without this script they are simply tables.
"use strict";

// Where the contents would stand above the page, not beside it, they begin folded.
if (!matchMedia("(min-width: 64rem), print").matches) {
  document.querySelector(".contents details").open = false;
}

const collator = new Intl.Collator("en");

function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(text.replace(/(?<=\d),(?=\d{3})/g, "")); // thousands are set apart: 10,240
  return text === "" ? null : Number.isNaN(number) ? text : number;
}

// Numbers within text count as numbers, decimals and all: σ = 0.05 comes before σ = 0.2.
function compareTexts(a, b) {
  const [left, right] = [a, b].map((text) => String(text).split(/(\d+(?:\.\d+)?)/));
  for (let place = 0; place < Math.min(left.length, right.length); place += 1) {
    const numbers = place % 2 === 1;
    const order = numbers ? left[place] - right[place] : collator.compare(left[place], right[place]);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

// What is undefined comes last in either direction.
function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  const both = typeof a === "number" && typeof b === "number";
  return direction * (both ? a - b : compareTexts(a, b));
}

function sortBy(table, heads, column) {
  const next = { ascending: "descending", descending: "none" };
  const order = next[heads[column].getAttribute("aria-sort")] ?? "ascending";
  heads.forEach((head) => head.setAttribute("aria-sort", "none"));
  heads[column].setAttribute("aria-sort", order);
  const rows = [...table.original];
  if (order !== "none") {
    const direction = order === "ascending" ? 1 : -1;
    rows.sort((a, b) => compare(valueOf(a, column), valueOf(b, column), direction));
  }
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  table.original = [...table.tBodies[0].rows];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, heads, column));
    head.append(button);
    head.setAttribute("aria-sort", "none");
  });
}
