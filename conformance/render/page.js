"use strict";
const at = id => document.getElementById(id);
const q = at("q"), st = at("st"), sev = at("sev"), idle = at("idle"), table = at("matrix"), rows = table.querySelectorAll("tbody tr");
function filter() {
  const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const hit = words.every(w => row.dataset.text.includes(w)) && (!st.value || row.dataset.status.split(" ").includes(st.value)) && (!sev.value || row.dataset.severity === sev.value) &&
      (idle.checked || !row.classList.contains("idle"));
    row.hidden = !hit;
    if (hit) shown++;
  }
  table.classList.toggle("less", !idle.checked);
  at("count").textContent = shown + " of " + rows.length + " cases";
}
// Where nothing was tried at all, that is what there is to see.
idle.checked = !table.querySelector("th.cell:not(.idle)");
for (const e of [q, st, sev, idle]) e.addEventListener("input", filter);
at("filters").addEventListener("submit", e => e.preventDefault());
filter();
