// A dialogue window: the browser's own, so focus stays inside and Escape closes it.
export default {
  props: { title: String, shown: Boolean },
  emits: ['close'],
  mounted() {
    this.follow();
  },
  watch: {
    shown() {
      this.follow();
    },
  },
  methods: {
    follow() {
      if (this.shown && !this.$el.open) this.$el.showModal();
      if (!this.shown && this.$el.open) this.$el.close();
    },
    left() {
      if (this.shown) this.$emit('close');
    },
  },
  render() {
    const h = Vue.h;
    return h(
      'dialog',
      {
        class: 'window',
        'aria-label': this.title,
        onClose: this.left,
        onClick: (e) => {
          if (e.target === this.$el) this.$el.close();
        },
      },
      [
        h('header', null, [
          h('h2', null, this.title),
          h(
            'button',
            { type: 'button', class: 'btn bare', 'aria-label': 'Close', onClick: () => this.$el.close() },
            '×',
          ),
        ]),
        h('div', { class: 'window-body' }, this.$slots.default ? this.$slots.default() : []),
      ],
    );
  },
};
