// The front page: who serves here. It needs no token.

const shown = [
  ["instance", "Instance"],
  ["epoch", "Epoch"],
  ["serving", "Serving"],
];

const owner = await (await fetch("/lease")).json();
const list = document.getElementById("owner");
for (const [key, label] of shown) {
  const term = document.createElement("dt");
  term.textContent = label;
  const value = document.createElement("dd");
  value.textContent = String(owner[key]);
  list.append(term, value);
}
