// Ask text heroes: one prompt, up to two checkpoints that answer side by side, as they write.
// Everything a hero or a person wrote is a text node, never HTML.
const SIDES = ['Left', 'Right'];
const NOBODY = '';
const DIGITS = ['⓪', '①'];

// Few fonts have a circled zero: the sign stays in the text, its picture is drawn by the style sheet.
function drawn(text) {
  return text
    .split(/([⓪①])/)
    .map((part) =>
      DIGITS.includes(part) ? Vue.h('span', { class: 'ring', 'data-digit': DIGITS.indexOf(part) }, part) : part,
    );
}

export default {
  props: { base: String },
  data() {
    return {
      ready: false,
      trouble: '',
      checkpoints: [],
      skills: [],
      models: [NOBODY, NOBODY],
      logs: [[], []],
      going: [null, null],
      prompt: '',
      temperature: '0',
      longest: '256',
      skill: 'bin',
      level: '1',
      problem: null,
    };
  },
  async mounted() {
    try {
      this.oracle = Vue.markRaw(await import(`${this.base}/answers.js`));
      const found = await this.oracle.json('/checkpoints');
      this.checkpoints = found.checkpoints;
      this.skills = found.skills;
      const ids = found.checkpoints.map((row) => row.id);
      this.models = [found.champion || ids[0] || NOBODY, NOBODY];
    } catch (error) {
      this.trouble = error.message;
    }
    this.ready = true;
  },
  unmounted() {
    this.stop();
  },
  computed: {
    busy() {
      return this.going.some((one) => one !== null);
    },
  },
  methods: {
    async draw() {
      this.trouble = '';
      const seed = Math.floor(Math.random() * 2 ** 52);
      const asked = { skill: this.skill, level: Number(this.level), seed };
      try {
        const found = await this.oracle.json(`/problem?${new URLSearchParams(asked)}`);
        this.prompt = found.prompt;
        this.problem = { ...asked, prompt: found.prompt };
      } catch (error) {
        this.trouble = error.message;
      }
    },
    ask() {
      const words = this.prompt.trimEnd();
      if (!words || this.busy) return;
      this.trouble = '';
      const problem = this.problem && this.problem.prompt === this.prompt ? this.problem : null;
      const sides = this.models.map((model, side) => (model === NOBODY ? null : side)).filter((s) => s !== null);
      if (!sides.length) {
        this.trouble = 'Choose who shall answer.';
        return;
      }
      for (const side of sides) this.answer(side, problem ? this.prompt : words, problem);
    },
    async answer(side, prompt, problem) {
      const abort = new AbortController();
      this.going[side] = abort;
      this.logs[side].push({ who: 'you', text: prompt });
      const line = Vue.reactive({ who: 'hero', text: '', note: '', tone: '' });
      this.logs[side].push(line);
      const body = {
        checkpoint: this.models[side],
        prompt,
        temperature: Number(this.temperature) || 0,
        max_tokens: Math.round(Number(this.longest)) || 256,
      };
      try {
        const finish = await this.oracle.listen(body, abort.signal, (text) => {
          line.text += text;
          this.follow(side);
        });
        line.note = finish === 'length' ? 'cut at the longest answer' : line.text ? '' : 'an empty answer';
        if (problem) await this.judge(line, problem);
      } catch (error) {
        line.note = error.name === 'AbortError' ? 'stopped' : error.message;
        line.tone = error.name === 'AbortError' ? '' : 'bad';
      }
      this.going[side] = null;
      this.follow(side);
    },
    async judge(line, { skill, level, seed }) {
      const said = await this.oracle.json('/judge', { skill, level, seed, answer: line.text });
      line.tone = said.right ? 'good' : 'bad';
      line.note = said.right ? 'right' : `wrong; right is:\n${said.wanted}`;
    },
    follow(side) {
      this.$nextTick(() => {
        const log = this.$refs[`log${side}`];
        if (log) log.scrollTop = log.scrollHeight;
      });
    },
    stop() {
      for (const one of this.going) one?.abort();
    },
    clear() {
      this.stop();
      this.logs = [[], []];
    },
    type(text) {
      const area = this.$refs.prompt;
      const [from, to] = [area.selectionStart, area.selectionEnd];
      this.prompt = this.prompt.slice(0, from) + text + this.prompt.slice(to);
      this.$nextTick(() => {
        area.focus();
        area.setSelectionRange(from + text.length, from + text.length);
      });
    },
    key(event) {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.ask();
      } else if (event.key === 'Escape') this.stop();
    },
    field(label, id, control) {
      return Vue.h('div', { class: 'field' }, [Vue.h('label', { for: id }, label), control]);
    },
    select(id, value, rows, set) {
      const options = rows.map((row) => Vue.h('option', { value: row.id, selected: row.id === value }, row.label));
      return Vue.h('select', { id, value, onChange: (e) => set(e.target.value) }, options);
    },
    number(id, value, limits, set) {
      return Vue.h('input', { id, type: 'number', value, ...limits, onInput: (e) => set(e.target.value) });
    },
    pane(side) {
      const h = Vue.h;
      const rows = [...this.checkpoints];
      if (side === 1) rows.unshift({ id: NOBODY, label: 'nobody' });
      const id = `who-${side}`;
      const lines = this.logs[side].map((line, number) =>
        h('li', { key: number, class: ['line', line.who, line.tone] }, [
          h('span', { class: 'who' }, line.who === 'you' ? 'You' : 'Hero'),
          h('pre', { class: 'said' }, drawn(line.text || (line.who === 'hero' && !line.note ? '…' : ''))),
          line.note ? h('pre', { class: 'note' }, drawn(line.note)) : null,
        ]),
      );
      const empty = h(
        'li',
        { class: 'empty' },
        this.models[side] === NOBODY ? 'Choose a second checkpoint to compare.' : 'Nothing asked yet.',
      );
      return h('section', { class: 'card pane', 'aria-label': `${SIDES[side]} hero` }, [
        this.field(
          `${SIDES[side]} hero`,
          id,
          this.select(id, this.models[side], rows, (v) => {
            this.models[side] = v;
          }),
        ),
        h(
          'ol',
          {
            class: 'log',
            ref: `log${side}`,
            role: 'log',
            'aria-live': 'polite',
            tabindex: '0',
            'aria-label': `${SIDES[side]}: what was said`,
          },
          lines.length ? lines : [empty],
        ),
      ]);
    },
    problems() {
      const h = Vue.h;
      const names = this.skills.map((skill) => ({ id: skill.id, label: `${skill.id.toUpperCase()} · ${skill.name}` }));
      const most = (this.skills.find((skill) => skill.id === this.skill) || { levels: 1 }).levels;
      return h('div', { class: 'problems' }, [
        this.field(
          'Skill',
          'p-skill',
          this.select('p-skill', this.skill, names, (v) => {
            this.skill = v;
            this.level = '1';
          }),
        ),
        this.field(
          `Level (1 to ${most})`,
          'p-level',
          this.number('p-level', this.level, { min: 1, max: most, step: 1 }, (v) => {
            this.level = v;
          }),
        ),
        h('button', { type: 'button', class: 'btn', onClick: this.draw }, 'Draw a problem'),
      ]);
    },
    composer() {
      const h = Vue.h;
      const signs = DIGITS.map((sign) =>
        h(
          'button',
          { type: 'button', class: 'btn small sign', 'aria-label': `Insert ${sign}`, onClick: () => this.type(sign) },
          drawn(sign),
        ),
      );
      const circled = DIGITS.some((sign) => this.prompt.includes(sign));
      return h('section', { class: 'card composer', 'aria-label': 'Ask' }, [
        this.problems(),
        h('div', { class: 'field' }, [
          h('label', { for: 'prompt' }, 'Prompt'),
          h('textarea', {
            id: 'prompt',
            ref: 'prompt',
            rows: 4,
            value: this.prompt,
            maxlength: 8000,
            spellcheck: 'false',
            onInput: (e) => {
              this.prompt = e.target.value;
            },
            onKeydown: this.key,
            'aria-describedby': 'prompt-hint',
          }),
          circled ? h('pre', { class: 'preview', 'aria-hidden': 'true' }, drawn(this.prompt)) : null,
          h(
            'small',
            { id: 'prompt-hint' },
            'Enter asks, Shift+Enter begins a new line, Esc stops. A hero reads this prompt alone, not what was said before.',
          ),
        ]),
        h('div', { class: 'composer-row' }, [
          ...signs,
          this.field(
            'Temperature (0 = likeliest)',
            'p-temp',
            this.number('p-temp', this.temperature, { min: 0, max: 10, step: 0.1 }, (v) => {
              this.temperature = v;
            }),
          ),
          this.field(
            'Longest answer (characters)',
            'p-long',
            this.number('p-long', this.longest, { min: 1, max: 1024, step: 1 }, (v) => {
              this.longest = v;
            }),
          ),
          h('div', { class: 'row' }, [
            h('button', { type: 'button', class: 'btn', onClick: this.clear }, 'Clear'),
            this.busy
              ? h('button', { type: 'button', class: 'btn danger', onClick: this.stop }, 'Stop')
              : h(
                  'button',
                  { type: 'button', class: 'btn primary', disabled: !this.prompt.trim(), onClick: this.ask },
                  'Ask',
                ),
          ]),
        ]),
      ]);
    },
  },
  render() {
    const h = Vue.h;
    const trouble = this.trouble ? h('p', { class: 'problem', role: 'alert' }, this.trouble) : null;
    if (!this.ready) return h('div', { class: 'oracle' }, [h('p', { class: 'empty' }, 'The Oracle is being asked …')]);
    if (!this.checkpoints.length) {
      const words = 'No text hero has a checkpoint yet. Choose DIO in the header: its first one is saved after school.';
      return h('div', { class: 'oracle' }, [
        h('section', { class: 'card' }, [trouble || h('p', { class: 'empty' }, words)]),
      ]);
    }
    return h('div', { class: 'oracle' }, [
      trouble,
      h('div', { class: 'split panes' }, [this.pane(0), this.pane(1)]),
      this.composer(),
    ]);
  },
};
