// A place to drop recipes on, or to choose them by hand: each goes to the server by its name and text.
import { order } from './orders.js';

async function take(place, files) {
  const problem = place.querySelector('.problem');
  place.classList.remove('over');
  for (const file of files) {
    const big = file.size > Number(place.dataset.limit);
    problem.hidden = !big;
    if (big) problem.textContent = `${file.name} has ${file.size} bytes; a recipe has at most ${place.dataset.limit}.`;
    else await order(place.dataset.drop, null, { name: file.name.slice(0, 200), text: await file.text() });
  }
}

export function listenForFiles() {
  const placeOf = (event) => event.target.closest?.('[data-drop]');
  document.addEventListener('change', (event) => {
    if (event.target.type !== 'file' || !placeOf(event)) return;
    take(placeOf(event), [...event.target.files]);
    event.target.value = '';
  });
  document.addEventListener('dragover', (event) => {
    if (!placeOf(event)) return;
    event.preventDefault();
    placeOf(event).classList.add('over');
  });
  document.addEventListener('dragleave', (event) => placeOf(event)?.classList.remove('over'));
  document.addEventListener('drop', (event) => {
    if (!placeOf(event)) return;
    event.preventDefault();
    take(placeOf(event), [...event.dataTransfer.files]);
  });
}
