"use strict";
const q = document.getElementById("q"), st = document.getElementById("st"), sev = document.getElementById("sev"), count = document.getElementById("count");
function filter() {
  const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of document.querySelectorAll("#matrix tbody tr")) {
    const hit = words.every(w => row.dataset.text.includes(w)) && (!st.value || row.dataset.status.split(" ").includes(st.value)) && (!sev.value || row.dataset.severity === sev.value);
    row.hidden = !hit;
    if (hit) shown++;
  }
  count.textContent = shown + " cases";
}
for (const e of [q, st, sev]) e.addEventListener("input", filter);
document.getElementById("filters").addEventListener("submit", e => e.preventDefault());
filter();
