// Five things to look at, once a browser; it stands in the page and covers nothing.
const KEY = 'levelcap-tour';
let step = 0;

function end() {
  localStorage.setItem(KEY, 'done');
  for (const shown of document.querySelectorAll('.toured')) shown.classList.remove('toured');
  document.querySelector('#tour').hidden = true;
}

function show(tour) {
  const steps = JSON.parse(tour.dataset.steps);
  for (const shown of document.querySelectorAll('.toured')) shown.classList.remove('toured');
  if (step >= steps.length) {
    end();
    return;
  }
  const [where, title, words] = steps[step];
  tour.querySelector('[data-count]').textContent = `${step + 1} of ${steps.length}`;
  tour.querySelector('h2').textContent = title;
  tour.querySelector('[data-words]').textContent = words;
  tour.querySelector('[data-next]').textContent = step + 1 < steps.length ? 'Next' : 'Done';
  tour.hidden = false;
  document.querySelector(where)?.classList.add('toured');
}

// What is drawn again is marked again.
function drawn() {
  const tour = document.querySelector('#tour');
  if (tour?.hidden === false) show(tour);
  else begin();
}

function begin() {
  const tour = document.querySelector('#tour');
  if (!tour?.hidden || localStorage.getItem(KEY)) return;
  tour.querySelector('[data-next]').onclick = () => {
    step += 1;
    show(tour);
  };
  tour.querySelector('[data-leave]').onclick = end;
  show(tour);
}

export function guide() {
  begin();
  window.addEventListener('tavern-drawn', drawn);
}
