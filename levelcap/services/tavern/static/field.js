// One labelled control; tells `changed` with its value when it is left, chosen or switched.
let count = 0;

export default {
  props: { label: String, kind: String, value: null, options: Array, hint: String, locked: Boolean },
  emits: ["changed"],
  created() { this.uid = `field-${++count}`; },
  methods: {
    tell(event) {
      const box = this.kind === "switch";
      this.$emit("changed", box ? event.target.checked : event.target.value);
    },
  },
  render() {
    const h = Vue.h;
    const shared = { id: this.uid, disabled: this.locked, onChange: this.tell };
    if (this.hint) shared["aria-describedby"] = `${this.uid}-hint`;
    const label = h("label", { for: this.uid }, this.label);
    const hint = this.hint ? h("small", { id: `${this.uid}-hint` }, this.hint) : null;
    let control;
    if (this.kind === "choice") {
      const options = this.options.map((o) => h("option", { value: o.value, selected: o.value === this.value }, o.label));
      control = h("select", { ...shared, value: this.value }, options);
    } else if (this.kind === "area") {
      control = h("textarea", { ...shared, value: this.value, rows: 8, spellcheck: "false" });
    } else if (this.kind === "switch") {
      control = h("input", { ...shared, type: "checkbox", role: "switch", checked: !!this.value });
      return h("div", { class: "switch" }, [control, label, hint]);
    } else {
      const type = this.kind === "number" ? "number" : "text";
      control = h("input", { ...shared, type, step: "any", value: this.value, autocomplete: "off" });
    }
    return h("div", null, [label, control, hint]);
  },
};
