// What can be done when a match is over: again, its replay, a quest of it, give it away.

import { ask, el } from './dom.js';
import { shareRow } from './share.js';

const button = (text, classes, onclick, id) =>
  el('button', classes, { type: 'button', onclick, ...(id ? { id } : {}) }, text);

// act: {again, replay, restart, close}.
export function endings(stage, act) {
  const { tape } = stage,
    { header, saved } = tape,
    parts = [];
  if (saved?.outcome !== undefined && saved.outcome !== null)
    parts.push(el('p', 'muted', {}, 'Counted as a match of a person.'));
  for (const recipe of saved?.recipes ?? []) parts.push(questButton(saved, recipe));
  if (header.show) parts.push(el('p', 'muted', {}, 'The next match begins in a moment.'));
  const buttons = [];
  if (header.live && !header.show)
    buttons.push(button(stage.me === null ? 'Another match' : 'Play again', 'btn primary', act.again));
  if (saved?.replay) buttons.push(button('See the replay', 'btn', () => act.replay(saved.replay), 'arena-replay'));
  if (!header.live) buttons.push(button('From the start', 'btn primary', act.restart));
  buttons.push(button('Close', 'btn', act.close));
  parts.push(el('div', 'row', {}, ...buttons));
  if (saved?.replay || !header.live) parts.push(shareRow(stage, header.match, true));
  return parts;
}

function questButton(saved, recipe) {
  const { length } = recipe.shards,
    single = length === 1;
  const said = el('span', 'muted', { role: 'status' });
  const order = async () => {
    made.disabled = true;
    try {
      const quest = await ask('/arena/api/quests', { match: saved.match, recipe });
      said.textContent = `On the board: ${quest.title}`;
    } catch (error) {
      made.disabled = false;
      said.textContent = error.message;
    }
  };
  const words = single ? 'Make a quest of this match: imitate me' : `Make a quest of all my ${length} matches`;
  const made = button(words, 'btn', order, single ? 'arena-quest' : 'arena-quest-all');
  return el('p', '', {}, made, ' ', said);
}
