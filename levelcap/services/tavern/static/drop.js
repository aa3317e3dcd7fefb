// A place to drop recipes and lessons on, or to choose them by hand: each goes to the server by its name.
import { order, send } from './orders.js';

async function take(place, files) {
  const problem = place.querySelector('.problem');
  place.classList.remove('over');
  for (const file of files) {
    const lessons = /\.jsonl$/i.test(file.name);
    const most = Number(lessons ? place.dataset.lessonsLimit : place.dataset.limit);
    const big = file.size > most;
    problem.hidden = !big;
    const name = encodeURIComponent(file.name.slice(0, 200));
    if (big) {
      const kind = lessons ? 'a lesson file' : 'a recipe';
      problem.textContent = `${file.name} has ${file.size} bytes; ${kind} has at most ${most}.`;
    } else if (lessons) await send(`${place.dataset.lessons}?name=${name}`, file, 'application/x-ndjson');
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
