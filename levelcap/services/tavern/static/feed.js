// A list of events, newest first: one element for the whole list, redrawn as one.
// The frame of every page has icons, so their element is known here.
const icon = () => Vue.resolveComponent('nicegui-icon');

export default {
  props: { lines: Array, label: String },
  methods: {
    line(row) {
      const h = Vue.h;
      return h('li', { key: row.id, class: ['event', row.severity] }, [
        h(icon(), { name: row.icon, class: 'icon' }),
        h('div', { class: 'event-words' }, [
          h('span', { class: 'event-title' }, row.title),
          h('span', { class: 'event-text' }, row.text),
        ]),
        h('time', { class: 'event-time', title: row.title_time }, row.time),
      ]);
    },
  },
  render() {
    return Vue.h('ol', { class: 'feed', 'aria-live': 'polite', 'aria-label': this.label }, this.lines.map(this.line));
  },
};
