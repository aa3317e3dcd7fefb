// What is pressed, chosen or sent: orders go to the server as JSON, addresses of this page are drawn.
//   data-order="/vault/pin" data-id="…" data-values='{…}'   a button, a choice or a form
//   data-ask="Are you sure …?"                               beside data-order: asked once before
//   data-go="?sort=step"                                     another view of the same page
import { ask } from './ask.js';
import { load } from './parts.js';
import { toast } from './toast.js';

export function order(path, id, values) {
  return send(path, JSON.stringify({ ...(id ? { id } : {}), ...(values ? { values } : {}) }), 'application/json');
}

export async function send(path, body, kind) {
  let said;
  try {
    const answer = await fetch(path, { method: 'POST', headers: { 'content-type': kind }, body });
    said = await answer.json();
    if (!answer.ok) said = { refused: said.message };
  } catch {
    said = { refused: 'The Tavern does not answer; nothing was done. Try again when it is back.' };
  }
  // Done is said when it is seen: who presses the next button then presses what is drawn.
  if (!said.refused) await load().catch(() => {});
  toast(said.refused || said.said, said.text, said.refused ? 'error' : said.tone);
  return !said.refused;
}

function valuesOf(form) {
  const values = JSON.parse(form.dataset.values || '{}');
  for (const field of form.elements) {
    if (field.name && !field.disabled) values[field.name] = field.type === 'checkbox' ? field.checked : field.value;
  }
  return values;
}

function valuesFor(element) {
  const values = element.dataset.values ? JSON.parse(element.dataset.values) : null;
  if (element.nodeName !== 'SELECT' || 'byId' in element.dataset) return values;
  return { ...values, [element.name]: element.value };
}

async function change(field) {
  const done = await order(
    field.dataset.order,
    'byId' in field.dataset ? field.value : field.dataset.id,
    valuesFor(field),
  );
  const before = [...field.options].find((option) => option.defaultSelected);
  if (!done && before) field.value = before.value;
}

// clears: a field whose usual value depends on the one that was changed.
function asked(form, clears) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(valuesOf(form))) if (name !== clears) given.set(name, value);
  return `?${given}`;
}

async function copy(pressed) {
  await navigator.clipboard.writeText(pressed.dataset.copy);
  pressed.textContent = 'Copied';
  setTimeout(() => {
    pressed.textContent = 'Copy';
  }, 1500);
}

async function give(pressed) {
  const { order: path, id, ask: question } = pressed.dataset;
  const values = valuesFor(pressed);
  if (!question || (await ask(question))) order(path, id, values);
}

function clicked(event) {
  const pressed = event.target.closest('button');
  if (!pressed) return;
  if (pressed.dataset.fill) document.querySelector(pressed.dataset.into).value = pressed.dataset.fill;
  if (pressed.dataset.go) load(pressed.dataset.go);
  else if (pressed.dataset.order) give(pressed);
  else if ('shut' in pressed.dataset) pressed.closest('dialog').close();
  else if ('dismiss' in pressed.dataset) pressed.closest('.card').remove();
  else if (pressed.dataset.copy) copy(pressed);
}

async function sent(event) {
  const form = event.target;
  if ('asks' in form.dataset) {
    event.preventDefault();
    load(asked(form));
  }
  if (!form.dataset.order) return;
  event.preventDefault();
  const done = await order(form.dataset.order, form.dataset.id, valuesOf(form));
  if (done && 'reset' in form.dataset) form.reset();
}

// A choice orders something itself, or it belongs to a form that asks for another view of the page.
function changed(event) {
  const field = event.target;
  if (field.dataset.order) change(field);
  else if (field.form && 'asks' in field.form.dataset) {
    load(asked(field.form, field.dataset.clears));
  }
}

export function takeOrders() {
  document.addEventListener('click', clicked);
  document.addEventListener('submit', sent);
  document.addEventListener('change', changed);
  document.addEventListener(
    'close',
    (event) => {
      if (event.target.dataset.close) load(event.target.dataset.close);
    },
    true,
  );
}
