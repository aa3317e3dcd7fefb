// One labelled control; tells `changed` with its value when it is left, chosen or switched.
let count = 0;

export default {
  props: { label: String, kind: String, value: null, options: Array, hint: String, locked: Boolean },
  emits: ['changed'],
  // What is being typed lives here: a page that is redrawn meanwhile must not take it away.
  data() {
    return { current: this.value };
  },
  created() {
    this.uid = `field-${++count}`;
  },
  watch: {
    value(value) {
      this.current = value;
    },
  },
  methods: {
    note(event) {
      this.current = this.kind === 'switch' ? event.target.checked : event.target.value;
    },
    tell(event) {
      this.note(event);
      this.$emit('changed', this.current);
    },
  },
  render() {
    const h = Vue.h;
    const shared = { id: this.uid, disabled: this.locked, onInput: this.note, onChange: this.tell };
    if (this.hint) shared['aria-describedby'] = `${this.uid}-hint`;
    const label = h('label', { for: this.uid }, this.label);
    const hint = this.hint ? h('small', { id: `${this.uid}-hint` }, this.hint) : null;
    let control;
    if (this.kind === 'choice') {
      const options = this.options.map((o) =>
        h('option', { value: o.value, selected: o.value === this.current }, o.label),
      );
      control = h('select', { ...shared, value: this.current }, options);
    } else if (this.kind === 'area') {
      control = h('textarea', { ...shared, value: this.current, rows: 8, spellcheck: 'false' });
    } else if (this.kind === 'switch') {
      control = h('input', { ...shared, type: 'checkbox', role: 'switch', checked: !!this.current });
      return h('div', { class: 'switch' }, [control, label, hint]);
    } else {
      const type = this.kind === 'number' ? 'number' : 'text';
      control = h('input', { ...shared, type, step: 'any', value: this.current, autocomplete: 'off' });
    }
    return h('div', null, [label, control, hint]);
  },
};
