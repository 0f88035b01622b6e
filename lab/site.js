// Sorts a table by a column, figures by their size whatever their unit, what is empty last; and copies it.
const UNITS = {
  ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
};

function figure(text) {
  const found = /^[!±]?(-?[0-9][0-9,]*\.?[0-9]*(?:e[+-]?[0-9]+)?)\s*([a-zA-Zµ]*)/.exec(text);
  return found && parseFloat(found[1].replaceAll(",", "")) * (UNITS[found[2]] ?? 1);
}

function order(a, b) {
  return a.figure !== null && b.figure !== null ? a.figure - b.figure : a.text.localeCompare(b.text);
}

function sort(table, column, head) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row, place) => {
    const text = row.cells[column].textContent.trim();
    return { row, place, text, figure: figure(text), empty: text === "" || text === "–" };
  });
  rows.sort((a, b) => a.empty - b.empty || (down ? order(b, a) : order(a, b)) || a.place - b.place);
  table.tBodies[0].append(...rows.map((one) => one.row));
}

function lines(table) {
  const cells = (row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t");
  return [...table.rows].map(cells).join("\n");
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea"); // a page from disk may have no clipboard of its own
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

function button(text, pressed) {
  const made = document.createElement("button");
  made.textContent = text;
  made.onclick = () => pressed(made);
  return made;
}

document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

for (const table of document.querySelectorAll("table.lab")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    head.replaceChildren(button(head.textContent || "·", () => sort(table, column, head)));
  });
  const copier = button("copy", async (own) => {
    own.textContent = (await copy(lines(table))) ? "copied" : "not copied";
    setTimeout(() => { own.textContent = "copy"; }, 1500);
  });
  copier.className = "copy";
  table.caption.append(copier);
}
