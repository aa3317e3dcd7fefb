// The page fetched again, whole or in parts, and put in place of what is shown without a jump.
import { morph, parse } from './morph.js';

let newest = 0; // number of the last whole page that was asked for
const going = new Map(); // part -> is it asked for once more when it has come?

async function fetched(url) {
  const answer = await fetch(url, { headers: { accept: 'text/html' } });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return parse(await answer.text());
}

function settle() {
  for (const shown of document.querySelectorAll('dialog[data-close]')) if (!shown.open) shown.showModal();
  window.dispatchEvent(new Event('tavern-drawn'));
}

// Draws the content of an address of this page; what is asked for behind the ? becomes the page's own.
export async function load(url = window.location.href) {
  const mine = ++newest;
  const found = await fetched(url);
  if (mine !== newest) return; // somebody has chosen something else meanwhile
  const own = new URL(url, window.location.href);
  // Another thing (`/vault/<id>`) is another step of the browser's back; another order of the same is not.
  const step = own.pathname === window.location.pathname ? 'replaceState' : 'pushState';
  if (own.href !== window.location.href) window.history[step](null, '', own);
  document.title = found.title;
  morph(document.querySelector('#content'), found.querySelector('#content'));
  settle();
}

async function part(name) {
  if (going.has(name)) {
    going.set(name, true);
    return;
  }
  going.set(name, false);
  try {
    const url = new URL(window.location.href);
    url.searchParams.set('part', name);
    const before = window.location.search;
    const found = await fetched(url);
    const shown = document.querySelector(`[data-part=${name}]`);
    if (shown && before === window.location.search) morph(shown, found.body.firstElementChild);
    settle();
  } finally {
    const again = going.get(name);
    going.delete(name);
    if (again) part(name);
  }
}

// Something happened: fetches the parts whose `data-on` names the beginning of its kind; `any` follow
// everything that happens, `beat` every second.
export function follow(kinds) {
  if (document.hidden) return;
  for (const shown of document.querySelectorAll('[data-part][data-on]')) {
    const wanted = shown.dataset.on.split(' ');
    const meant = kinds.some((kind) => wanted.some((start) => start === 'any' || kind.startsWith(start)));
    if (meant || wanted.includes('beat')) part(shown.dataset.part).catch(() => {}); // the socket says when the Tavern is away
  }
}

export function watch() {
  settle();
  window.addEventListener('popstate', () => load());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) load().catch(() => {});
  });
}
