// The arena as an element of a page; `base` is where its modules lie.

export default {
  props: { base: String },
  async mounted() {
    const { mount } = await import(`${this.base}/main.js`);
    if (this.$el?.isConnected) this.arena = mount(this.$el);
  },
  unmounted() {
    this.arena?.close();
  },
  render() {
    return Vue.h('div', { class: 'arena' });
  },
};
