// The socket of this tab: header, announcements and the kinds of what happened, once a second.
import { morph, parse } from './morph.js';
import { follow, load } from './parts.js';
import { notify } from './notify.js';
import { play } from './sound.js';
import { toast } from './toast.js';

const AGAIN_MS = 1000;
let since = null; // which Tavern it was: another one is another process
let socket = null;

function away(is) {
  document.querySelector('#popup').setAttribute('aria-hidden', String(!is));
}

// What comes with the header: who trains, how far that is, and why nothing goes on, where that is shown.
function draw(header) {
  for (const name of ['#top', '#halt']) {
    const [shown, now] = [document.querySelector(name), header.querySelector(name)];
    if (shown && now) morph(shown, now);
  }
  window.dispatchEvent(new Event('tavern-drawn'));
  const { place } = document.body.dataset;
  const { doing } = header.querySelector('#top').dataset;
  document.title = doing ? `${doing} · ${place}` : `${place} · Realm of Training`;
}

function hear(told) {
  const renewed = since !== null && told.since !== since;
  // Another hero, or a Tavern that was started anew: everything is drawn from the beginning.
  if (renewed || told.hero !== document.body.dataset.hero) {
    window.location.reload();
    return;
  }
  if (since !== null && !window.__tavern.live) load().catch(() => {}); // what happened in between
  since = told.since;
  if (told.header) draw(parse(told.header));
  for (const one of told.news || []) {
    toast(one.title, one.text, one.tone);
    play(one.sound);
    notify(one);
  }
  if (told.kinds) follow(told.kinds);
  window.__tavern.live = true;
}

function connect() {
  const known = since === null ? '' : `?since=${since}`;
  socket = new WebSocket(`${window.location.origin.replace('http', 'ws')}/live${known}`);
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => away(false);
  socket.onmessage = (event) => hear(JSON.parse(new TextDecoder().decode(event.data)));
  socket.onclose = () => {
    away(true);
    window.__tavern.live = false;
    setTimeout(connect, AGAIN_MS);
  };
}

export function listen() {
  connect();
  window.addEventListener('pagehide', () => {
    socket.onclose = null; // leaving is no loss of the connection
    // One that is not open yet goes with the page; closed by us, the browser would complain.
    if (socket.readyState === WebSocket.OPEN) socket.close();
  });
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) connect(); // by the browser's back, out of its memory
  });
}
