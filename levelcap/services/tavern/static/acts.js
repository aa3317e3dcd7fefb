// The buttons of one row: a list of {name, label, icon}; tells `act` with the name of the pressed one.
// The frame of every page has icons, so their element is known here.
const icon = () => Vue.resolveComponent('nicegui-icon');

export default {
  props: { acts: Array },
  emits: ['act'],
  methods: {
    shown(act) {
      const h = Vue.h;
      const inside = [h(icon(), { name: act.icon, class: 'icon' })];
      const shared = {
        key: act.name,
        class: ['btn', 'bare', act.picked ? 'picked' : ''],
        title: act.title || act.label,
        'aria-label': act.label,
      };
      if (act.href) return h('a', { ...shared, href: act.href, download: '' }, inside);
      return h('button', { ...shared, type: 'button', onClick: () => this.$emit('act', act.name) }, inside);
    },
  },
  render() {
    return Vue.h('div', { class: 'row acts' }, this.acts.map(this.shown));
  },
};
