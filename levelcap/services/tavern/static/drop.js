// A place to drop a recipe on, or to choose one by hand; tells `file` with its name and text.
export default {
  props: { label: String, limit: Number },
  emits: ['file'],
  data() {
    return { over: false, problem: '' };
  },
  methods: {
    async take(files) {
      this.over = false;
      for (const file of files) {
        if (file.size > this.limit) {
          this.problem = `${file.name} has ${file.size} bytes; a recipe has at most ${this.limit}.`;
          continue;
        }
        this.problem = '';
        this.$emit('file', { name: file.name, text: await file.text() });
      }
    },
  },
  render() {
    const h = Vue.h;
    return h(
      'div',
      {
        class: ['drop', this.over ? 'over' : ''],
        onDragover: (e) => {
          e.preventDefault();
          this.over = true;
        },
        onDragleave: () => {
          this.over = false;
        },
        onDrop: (e) => {
          e.preventDefault();
          this.take(e.dataTransfer.files);
        },
      },
      [
        h('label', null, [
          this.label,
          h('input', {
            type: 'file',
            multiple: true,
            accept: '.yaml,.yml',
            onChange: (e) => {
              this.take([...e.target.files]);
              e.target.value = '';
            },
          }),
        ]),
        this.problem ? h('p', { class: 'problem', role: 'alert' }, this.problem) : null,
      ],
    );
  },
};
