// Matches that go on now, and recorded ones, as lists to choose from.

import { clockText, el } from './dom.js';

export function liveMatches(live, act) {
  if (!live.length) return [];
  return [
    el('h3', '', {}, 'Going on now'),
    el(
      'ul',
      'lobby-list',
      {},
      ...live.map((m) =>
        el(
          'li',
          '',
          {},
          el(
            'button',
            'lobby-match',
            { type: 'button', onclick: () => act.open(m.id, m) },
            el('b', '', {}, sides(m.seats, m.world)),
            el('small', '', {}, `${m.world} · ${clockText(m.seconds)}`),
          ),
        ),
      ),
    ),
  ];
}

export function recorded(replays, act) {
  if (!replays.length) return [el('p', 'empty', {}, 'No match has been recorded yet. Watch one, or play one.')];
  return [
    el(
      'ul',
      'lobby-list',
      {},
      ...replays.map((r) =>
        el(
          'li',
          '',
          {},
          el(
            'button',
            'lobby-match',
            { type: 'button', 'data-replay': r.id, onclick: () => act.replay(r.id) },
            el('b', '', {}, sides(r.names, r.world)),
            el(
              'small',
              '',
              {},
              `${r.world} · patch ${r.patch} · ${clockText(r.decisions / 10)} · ${new Date(1000 * r.time).toLocaleString()}`,
            ),
          ),
        ),
      ),
    ),
  ];
}

function sides(names, world) {
  const size = world === 'lms' ? 1 : names.length / 2;
  if (world === 'lms') return [...new Set(names)].slice(0, 3).join(', ');
  return [names.slice(0, size), names.slice(size)].map((side) => [...new Set(side)].join(' + ')).join(' v ');
}
