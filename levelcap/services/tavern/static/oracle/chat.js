// Ask text heroes: one prompt, up to two checkpoints that answer side by side, as they write.
// Everything a hero or a person wrote is a text node, never HTML.
import { json, listen } from './answers.js';

const DIGITS = ['⓪', '①'];
const KEY = 'levelcap-oracle'; // what was said, in this browser
const KEPT = 40; // lines a side

// Few fonts have a circled zero: the sign stays in the text, its picture is drawn by the style sheet.
function draw(place, text) {
  const pieces = text.split(/([⓪①])/).map((part) => {
    if (!DIGITS.includes(part)) return part;
    const ring = document.createElement('span');
    ring.className = 'ring';
    ring.dataset.digit = DIGITS.indexOf(part);
    ring.textContent = part;
    return ring;
  });
  place.replaceChildren(...pieces);
}

function made(name, look) {
  const element = document.createElement(name);
  element.className = look;
  return element;
}

function option(value, label) {
  return Object.assign(document.createElement('option'), { value, textContent: label });
}

// One thing that was said; `say` and `note` change it.
class Line {
  constructor(log, who) {
    this.log = log;
    this.text = '';
    this.row = made('li', `line ${who}`);
    this.said = made('pre', 'said');
    this.noted = made('pre', 'note');
    this.noted.hidden = true;
    const name = made('span', 'who');
    name.textContent = who === 'you' ? 'You' : 'Hero';
    this.row.append(name, this.said, this.noted);
    log.querySelector('.empty')?.remove();
    log.append(this.row);
  }

  say(text) {
    this.text += text;
    draw(this.said, this.text || '…');
    this.log.scrollTop = this.log.scrollHeight;
  }

  note(words, tone = '') {
    [this.words, this.tone] = [words, tone];
    this.noted.hidden = !words;
    draw(this.noted, words);
    if (!this.text) draw(this.said, '');
    if (tone) this.row.classList.add(tone);
    this.log.scrollTop = this.log.scrollHeight;
  }
}

class Oracle extends HTMLElement {
  async connectedCallback() {
    this.going = [null, null];
    let found = null;
    let trouble = '';
    try {
      found = await json('/checkpoints');
    } catch (error) {
      trouble = error.message;
    }
    const some = found?.checkpoints.length;
    this.replaceChildren(document.querySelector(some ? '#conversation' : '#nobody').content.cloneNode(true));
    if (some) this.begin(found);
    else if (trouble) Object.assign(this.querySelector('p'), { className: 'problem', textContent: trouble });
  }

  disconnectedCallback() {
    this.stop();
  }

  begin({ checkpoints, champion, skills }) {
    this.skills = skills;
    this.who = [...this.querySelectorAll('.pane select')];
    this.logs = [...this.querySelectorAll('.log')];
    this.prompt = this.querySelector('#prompt');
    for (const choice of this.who) choice.append(...checkpoints.map((row) => option(row.id, row.label)));
    this.who[0].value = champion || checkpoints[0].id;
    this.skill = this.querySelector('#p-skill');
    this.skill.append(...skills.map((row) => option(row.id, `${row.id.toUpperCase()} · ${row.name}`)));
    this.skill.onchange = () => this.chooseSkill();
    this.who[1].onchange = () => this.sayNothing(1);
    this.prompt.oninput = () => this.typed();
    this.prompt.onkeydown = (event) => this.key(event);
    this.onclick = (event) => {
      const pressed = event.target.closest('button');
      if (pressed?.dataset.type) this.type(pressed.dataset.type);
      if (pressed?.dataset.act) this[pressed.dataset.act]();
    };
    this.chooseSkill();
    this.remember();
  }

  // What was said before a reload.
  remember() {
    this.said = JSON.parse(localStorage.getItem(KEY) || '[[],[]]');
    for (const [side, lines] of this.said.entries()) {
      this.sayNothing(side);
      for (const [who, text, words, tone] of lines) {
        const line = new Line(this.logs[side], who);
        line.say(text);
        if (words) line.note(words, tone);
      }
    }
  }

  keep(side, ...lines) {
    this.said[side] = [...this.said[side], ...lines].slice(-KEPT);
    localStorage.setItem(KEY, JSON.stringify(this.said));
  }

  trouble(words) {
    Object.assign(this.querySelector('.problem'), { hidden: !words, textContent: words });
  }

  chooseSkill() {
    const { levels } = this.skills.find((row) => row.id === this.skill.value);
    this.querySelector('label[for=p-level]').textContent = `Level (1 to ${levels})`;
    Object.assign(this.querySelector('#p-level'), { max: levels, value: 1 });
  }

  async draw() {
    this.trouble('');
    const seed = Math.floor(Math.random() * 2 ** 52);
    const asked = { skill: this.skill.value, level: Number(this.querySelector('#p-level').value), seed };
    try {
      const { prompt } = await json(`/problem?${new URLSearchParams(asked)}`);
      this.problem = { ...asked, prompt };
      this.prompt.value = prompt;
      this.typed();
    } catch (error) {
      this.trouble(error.message);
    }
  }

  typed() {
    const text = this.prompt.value;
    const preview = this.querySelector('.preview');
    preview.hidden = !DIGITS.some((sign) => text.includes(sign));
    draw(preview, text);
    this.querySelector('[data-act=ask]').disabled = !text.trim();
  }

  ask() {
    const words = this.prompt.value.trimEnd();
    if (!words || this.going.some((one) => one)) return;
    const sides = [0, 1].filter((side) => this.who[side].value);
    this.trouble(sides.length ? '' : 'Choose who shall answer.');
    const problem = this.problem?.prompt === this.prompt.value ? this.problem : null;
    for (const side of sides) this.answer(side, problem ? problem.prompt : words, problem);
  }

  async answer(side, prompt, problem) {
    const abort = new AbortController();
    this.go(side, abort);
    new Line(this.logs[side], 'you').say(prompt);
    const line = new Line(this.logs[side], 'hero');
    line.say('');
    const body = {
      checkpoint: this.who[side].value,
      prompt,
      temperature: Number(this.querySelector('#p-temp').value) || 0,
      max_tokens: Math.round(Number(this.querySelector('#p-long').value)) || 256,
    };
    try {
      const finish = await listen(body, abort.signal, (text) => line.say(text));
      line.note(finish === 'length' ? 'cut at the longest answer' : line.text ? '' : 'an empty answer');
      if (problem) await this.judge(line, problem);
      else await this.judgeTyped(line, prompt);
    } catch (error) {
      if (error.name === 'AbortError') line.note('stopped');
      else line.note(error.message, 'bad');
    }
    this.keep(side, ['you', prompt], ['hero', line.text, line.words, line.tone]);
    this.go(side, null);
  }

  async judge(line, { skill, level, seed }) {
    const said = await json('/judge', { skill, level, seed, answer: line.text });
    line.note(said.right ? 'right' : `wrong; right is:\n${said.wanted}`, said.right ? 'good' : 'bad');
  }

  // A problem that a person typed is judged, too, if the guild can solve it.
  async judgeTyped(line, prompt) {
    if (prompt.length > 2000) return;
    const said = await json('/judge_typed', { prompt, answer: line.text });
    if (said.by) line.note(said.right ? 'right' : `wrong; right is:\n${said.wanted}`, said.right ? 'good' : 'bad');
  }

  go(side, abort) {
    this.going[side] = abort;
    const busy = this.going.some((one) => one);
    this.querySelector('[data-act=stop]').hidden = !busy;
    this.querySelector('[data-act=ask]').hidden = busy;
  }

  stop() {
    for (const one of this.going) one?.abort();
  }

  clear() {
    this.stop();
    this.said = [[], []];
    localStorage.removeItem(KEY);
    for (const side of [0, 1]) {
      this.logs[side].replaceChildren();
      this.sayNothing(side);
    }
  }

  sayNothing(side) {
    if (this.logs[side].querySelector('.line')) return;
    const nothing = made('li', 'empty');
    nothing.textContent = this.who[side].value ? 'Nothing asked yet.' : 'Choose a second checkpoint to compare.';
    this.logs[side].replaceChildren(nothing);
  }

  type(text) {
    const { selectionStart: from, selectionEnd: to } = this.prompt;
    this.prompt.setRangeText(text, from, to, 'end');
    this.typed();
    this.prompt.focus();
  }

  key(event) {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.ask();
    } else if (event.key === 'Escape') this.stop();
  }
}

customElements.define('tavern-oracle', Oracle);
