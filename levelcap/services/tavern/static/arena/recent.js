// Matches that go on now, and recorded ones, as lists to choose from.

import { clockText, drop, el } from './dom.js';
import { shareRow } from './share.js';

export function liveMatches(live, act) {
  if (!live.length) return [];
  const row = (m) =>
    el(
      'button',
      'lobby-match',
      { type: 'button', onclick: () => act.open(m.id, m) },
      el('b', '', {}, sides(m.seats, m.world).join(' v ')),
      el('small', '', {}, `${m.show ? 'exhibition · ' : ''}${m.world} · ${clockText(m.seconds)}`),
    );
  return [el('h3', '', {}, 'Going on now'), el('ul', 'lobby-list', {}, ...live.map((m) => el('li', '', {}, row(m))))];
}

// Recorded matches with a field to search in; what is deleted is asked for twice.
export function recorded(replays, act) {
  if (!replays.length) return [el('p', 'empty', {}, 'No match has been recorded yet. Watch one, or play one.')];
  const list = el('ul', 'lobby-list', {}, ...replays.map((r) => row(r, act)));
  const none = el('p', 'empty', { hidden: true }, 'No recorded match has these words.');
  const search = el('input', 'lobby-search', {
    type: 'search',
    placeholder: 'search: a name, siege, won …',
    ariaLabel: 'Search recorded matches',
    oninput: () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const item of list.children) item.hidden = !words.every((word) => item.dataset.words.includes(word));
      none.hidden = [...list.children].some((item) => !item.hidden);
    },
  });
  return [search, list, none];
}

function row(r, act) {
  const who = sides(r.names, r.world),
    won = outcome(r, who),
    when = new Date(1000 * r.time).toLocaleString();
  const open = el(
    'button',
    'lobby-match',
    { type: 'button', 'data-replay': r.id, onclick: () => act.replay(r.id) },
    el('b', '', {}, who.join(r.world === 'lms' ? ', ' : ' v ')),
    el('span', 'lobby-won', {}, won),
    el('small', '', {}, `${r.world} · patch ${r.patch} · ${clockText(r.decisions / 10)} · ${when}`),
  );
  const item = el('li', '', {}, open, el('details', 'lobby-more', {}, el('summary', '', {}, 'share, delete')));
  item.dataset.words = `${who.join(' ')} ${r.names.join(' ')} ${won} ${r.world} ${r.patch} ${when}`.toLowerCase();
  // Made when it is opened: there may be hundreds.
  item.lastChild.addEventListener('toggle', ({ target }) => {
    if (target.children.length === 1) target.append(shareRow(null, r.id, true), deletion(r, item));
  });
  return item;
}

function deletion(r, item) {
  const said = el('small', 'muted', { role: 'status' });
  let sure = false;
  const button = el(
    'button',
    'btn small danger',
    {
      type: 'button',
      'data-delete': r.id,
      onclick: async () => {
        if (!sure) {
          sure = true;
          button.textContent = 'Delete for good';
          return;
        }
        try {
          await drop(`/arena/api/replays/${encodeURIComponent(r.id)}`);
          item.remove();
        } catch (error) {
          said.textContent = error.message;
        }
      },
    },
    'Delete …',
  );
  return el('div', 'share-row', {}, button, said);
}

function outcome(r, who) {
  if (!r.ended) return 'broken off';
  if (r.winner < 0) return 'a draw';
  const name = r.world === 'lms' ? r.names[r.winner] : who[r.winner];
  return `won by ${name}`;
}

function sides(names, world) {
  if (world.startsWith('lms')) return [...new Set(names)].slice(0, 3);
  const size = names.length / 2;
  return [names.slice(0, size), names.slice(size)].map((side) => [...new Set(side)].join(' + '));
}
