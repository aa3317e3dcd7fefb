// A line of code and a button that copies it.
export default {
  props: { text: String },
  data() {
    return { done: false };
  },
  methods: {
    async copy() {
      await navigator.clipboard.writeText(this.text);
      this.done = true;
      setTimeout(() => {
        this.done = false;
      }, 1500);
    },
  },
  render() {
    const h = Vue.h;
    return h('div', { class: 'copy' }, [
      h('code', { tabindex: 0 }, this.text),
      h(
        'button',
        { type: 'button', class: 'btn small', onClick: this.copy, 'aria-label': `Copy: ${this.text}` },
        this.done ? 'Copied' : 'Copy',
      ),
    ]);
  },
};
