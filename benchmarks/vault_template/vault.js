// The page asks for its ledger again when an event comes, or when a button was pressed.
const ledger = document.getElementById('ledger');
const said = document.getElementById('said');
const dialog = document.getElementById('comparison');
let chosen = [];

async function reload() {
  const query = new URLSearchParams(location.search);
  query.set('part', 'ledger');
  const answer = await fetch(`/trial/vault?${query}`);
  if (answer.ok) ledger.innerHTML = await answer.text(); // escaped by the server's templates
  show();
}

function show() {
  const tray = document.getElementById('tray');
  if (chosen.length) tray.textContent = chosen.join(' and ');
}

async function compare(checkpoint) {
  chosen = chosen.includes(checkpoint)
    ? chosen.filter((one) => one !== checkpoint)
    : [...chosen.slice(-1), checkpoint];
  show();
  if (chosen.length < 2) return;
  const query = new URLSearchParams({ a: chosen[0], b: chosen[1] });
  dialog.innerHTML = await (await fetch(`/trial/vault/compare?${query}`)).text();
  dialog.showModal();
}

ledger.addEventListener('click', async (event) => {
  const pressed = event.target.closest('[data-order]');
  if (!pressed) return;
  const { order, checkpoint, hero } = pressed.dataset;
  if (order === 'compare') {
    await compare(checkpoint);
    return;
  }
  const answer = await fetch(`/trial/vault/${order}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(hero ? { hero } : { checkpoint }),
  });
  const told = await answer.json();
  said.textContent = answer.ok ? told.problem || 'Done' : told.message;
  await reload();
});

setInterval(() => {
  for (const clock of ledger.querySelectorAll('[data-left]')) {
    clock.dataset.left = Math.max(0, clock.dataset.left - 1);
    clock.textContent = `goes in ${clock.dataset.left} s`;
  }
}, 1000);

new EventSource('/trial/vault/events').onmessage = reload;
document.documentElement.dataset.live = 'yes';
