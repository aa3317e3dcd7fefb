// A match to give away: its link, a film, a picture, the file that plays it again.

import { addressOf } from './address.js';
import { clockText, el, setText } from './dom.js';

const STRIP = 34; // px below a picture, for the words

// stage: whose canvas is the picture; null: none is shown. recorded: is there a file of the match yet?
export function shareRow(stage, id, recorded) {
  const said = el('small', 'muted share-said', { role: 'status' });
  const button = (name, text, act) =>
    el('button', 'btn small', { type: 'button', 'data-share': name, onclick: act }, text);
  const film = button('gif', 'GIF', async () => {
    film.disabled = true;
    setText(said, 'The film is drawn …');
    try {
      const answer = await fetch(`/arena/replays/${encodeURIComponent(id)}.gif`);
      if (!answer.ok) throw new Error((await answer.json()).message);
      save(await answer.blob(), `${id}.gif`);
      setText(said, 'The film is saved.');
    } catch (error) {
      setText(said, error.message);
    }
    film.disabled = false;
  });
  const link = button('link', 'Copy link', async () => {
    const address = location.origin + addressOf(id);
    try {
      await navigator.clipboard.writeText(address);
      setText(said, 'The link is copied.');
    } catch {
      setText(said, address); // where a page may not write to the clipboard, people can
    }
  });
  const file = el(
    'a',
    'btn small',
    { href: `/arena/replays/${encodeURIComponent(id)}.lcr`, download: `${id}.lcr`, 'data-share': 'lcr' },
    '.lcr',
  );
  const shot = button('png', 'PNG', () => picture(stage).toBlob((blob) => save(blob, `${id}.png`)));
  return el('div', 'share-row', {}, link, ...(stage ? [shot] : []), ...(recorded ? [film, file] : []), said);
}

function save(blob, name) {
  const href = URL.createObjectURL(blob);
  el('a', '', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

// What the canvas shows, with who plays below it.
function picture(stage) {
  const { canvas, tape } = stage,
    { header } = tape;
  const made = el('canvas', '', { width: canvas.width, height: canvas.height + STRIP }),
    g = made.getContext('2d');
  g.drawImage(canvas, 0, 0);
  g.fillStyle = '#14110e';
  g.fillRect(0, canvas.height, made.width, STRIP);
  g.fillStyle = '#f1e7d6';
  g.font = '600 16px system-ui, sans-serif';
  const sides = [...new Set(header.seats.map((seat) => seat.name))].slice(0, 4).join(' v ');
  const words = `${sides} · ${header.world} · ${clockText(stage.report.tick / header.ticks_per_s)} · levelcap`;
  g.fillText(words, 12, canvas.height + 22, made.width - 24);
  return made;
}
