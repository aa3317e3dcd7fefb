// The live battle: the hero's blade against the training dummy, numbers floating up at every hit.
const KEPT = 10;

export default {
  props: { hits: Array, resting: Boolean },
  data() {
    return { floating: [], seen: 0 };
  },
  mounted() {
    window.__battle = this;
  },
  watch: {
    hits(list) {
      const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
      const fresh = list.filter((hit) => hit.id > this.seen);
      if (!fresh.length) return;
      this.seen = fresh[fresh.length - 1].id;
      if (still) {
        this.floating = [{ ...fresh[fresh.length - 1], left: 58 }];
        return;
      }
      for (const [i, hit] of fresh.entries()) setTimeout(() => this.strike(hit), i * 140);
    },
  },
  methods: {
    strike(hit) {
      const left = 48 + ((hit.id * 37) % 34);
      this.floating = [...this.floating, { ...hit, left }].slice(-KEPT);
      this.$el.classList.remove('struck');
      void this.$el.offsetWidth;
      this.$el.classList.add('struck');
      setTimeout(() => {
        this.floating = this.floating.filter((f) => f.id !== hit.id);
      }, 1700);
      window.dispatchEvent(new CustomEvent('tavern-sound', { detail: 'hit' }));
    },
    floats() {
      return this.floating.map((hit) =>
        Vue.h('div', { key: hit.id, class: 'float', style: { left: `${hit.left}%` } }, [
          Vue.h('b', null, hit.damage),
          hit.xp ? Vue.h('i', null, `+${hit.xp} XP`) : null,
        ]),
      );
    },
    scene() {
      const h = Vue.h;
      const shape = (tag, props, inside) => h(tag, props, inside);
      return h('svg', { viewBox: '0 0 320 120', class: 'scene', 'aria-hidden': 'true' }, [
        shape('path', { d: 'M0 104h320', class: 'ground' }),
        shape('g', { class: 'fighter' }, [
          shape('path', { d: 'M92 104l8-30 8 30M100 74V52M100 52l-13 12M100 56l18 4', class: 'limb' }),
          shape('circle', { cx: 100, cy: 42, r: 10, class: 'head' }),
          shape('path', { d: 'M91 40q9-16 18 0', class: 'helm' }),
          shape('path', { d: 'M87 54q-9 3-9 13q8 4 11-2z', class: 'guard' }),
          shape('g', { class: 'blade' }, [shape('path', { d: 'M118 60l44-22 6-1-3 5-44 23zM115 66l8-13' })]),
        ]),
        shape('g', { class: 'dummy' }, [
          shape('path', { d: 'M226 104V50M200 66h52M214 104h24', class: 'post' }),
          shape('circle', { cx: 226, cy: 40, r: 12, class: 'sack' }),
          shape('path', { d: 'M213 58h26v30h-26z', class: 'sack' }),
          shape('path', { d: 'M221 38l10 4M231 38l-10 4M219 68h14M219 76h14', class: 'seam' }),
        ]),
        this.resting ? shape('g', { class: 'zzz' }, [shape('path', { d: 'M118 34h8l-8 8h8M130 22h6l-6 6h6' })]) : null,
      ]);
    },
  },
  render() {
    return Vue.h('div', { class: ['battle', this.resting ? 'resting' : ''] }, [this.scene(), ...this.floats()]);
  },
};
