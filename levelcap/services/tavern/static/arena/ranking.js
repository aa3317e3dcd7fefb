// The table at the end of a match: who struck most.

import { el } from './dom.js';
import { TEAMS } from './shapes.js';

export function bestPlayers(header, result, me) {
  const order = result.tally
    .map(([kills, deaths], p) => ({ p, kills, deaths }))
    .sort((a, b) => b.kills - a.kills || a.deaths - b.deaths)
    .slice(0, 5);
  return el(
    'table',
    'banner-table',
    {},
    el(
      'thead',
      '',
      {},
      el('tr', '', {}, el('th', '', {}, 'player'), el('th', '', {}, 'kills'), el('th', '', {}, 'deaths')),
    ),
    el(
      'tbody',
      '',
      {},
      ...order.map(({ p, kills, deaths }) =>
        el(
          'tr',
          '',
          {},
          el('td', '', { style: `color:${TEAMS[header.seats[p].team]}` }, p === me ? 'you' : header.seats[p].name),
          el('td', '', {}, `${kills}`),
          el('td', '', {}, `${deaths}`),
        ),
      ),
    ),
  );
}
