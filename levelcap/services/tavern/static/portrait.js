// The hero in armour: a kestrel fights, owls read. What it wears grows with its level.
const TIERS = [1, 3, 6, 10, 20, 40, 80]; // levels at which something is added

const ROBES = ['#5b4636', '#6b4a2f', '#7a3f2a', '#6a2f3c', '#3f4a78', '#2f5f6e', '#6e5a1e', '#4d2f74'];

// Feathers, face, brow, beak, iris, wings.
const BIRDS = {
  kestrel: { wings: '#8c4f28' },
  dio: { wings: '#5d5a6b', feathers: '#7b6f86', face: '#efe2cb', brow: '#4c4458', beak: '#d9a441', iris: '#f2a037' },
  flo: { wings: '#c9d3da', feathers: '#e6ebee', face: '#fbf7ee', brow: '#8fa3b0', beak: '#4a4f57', iris: '#f2d037' },
};

function tierOf(level) {
  return TIERS.filter((at) => level >= at).length;
}

export default {
  props: { bird: String, level: Number, champion: Boolean, resting: Boolean, label: String },
  methods: {
    wings(h) {
      const fill = BIRDS[this.bird].wings;
      return h('g', { class: 'p-wings' }, [
        h('path', { d: 'M64 150C28 132 14 96 20 62c10 20 18 26 30 34-8-14-10-24-8-38 12 26 26 44 38 58z', fill }),
        h('path', { d: 'M136 150c36-18 50-54 44-88-10 20-18 26-30 34 8-14 10-24 8-38-12 26-26 44-38 58z', fill }),
      ]);
    },
    rays(h) {
      const lines = [];
      for (let i = 0; i < 16; i++) {
        const a = (i * Math.PI) / 8;
        const at = (r) => `${(100 + r * Math.cos(a)).toFixed(1)} ${(96 + r * Math.sin(a)).toFixed(1)}`;
        lines.push(`M${at(70)}L${at(i % 2 ? 84 : 94)}`);
      }
      return h('path', { d: lines.join(''), stroke: '#f0b95b', 'stroke-width': 2.5, class: 'p-rays' });
    },
    body(h, tier) {
      return h('g', null, [
        h('path', {
          d: 'M24 216c2-38 26-58 54-62h44c28 4 52 24 54 62z',
          fill: ROBES[tier],
          stroke: '#1a1410',
          'stroke-width': 2,
        }),
        h('path', { d: 'M100 156v60', stroke: '#1a1410', 'stroke-width': 1.5, opacity: 0.5 }),
        tier >= 2
          ? h('path', {
              d: 'M68 158c10 14 54 14 64 0l4 10c-14 16-58 16-72 0z',
              fill: '#9aa3ad',
              stroke: '#39424c',
              'stroke-width': 2,
            })
          : null,
        tier >= 3
          ? h('path', {
              d: 'M26 196c-4-24 12-42 36-40-2 18-14 34-36 40zM174 196c4-24-12-42-36-40 2 18 14 34 36 40z',
              fill: '#aab3bd',
              stroke: '#39424c',
              'stroke-width': 2,
            })
          : null,
        h('path', {
          d: 'M100 178l9 10-9 12-9-12z',
          fill: tier >= 5 ? '#7fe0cf' : '#f0b95b',
          stroke: '#1a1410',
          'stroke-width': 1.5,
          class: 'p-gem',
        }),
      ]);
    },
    owl(h, bird) {
      const eye = (x) =>
        this.resting
          ? h('path', { d: `M${x - 11} 98q11 9 22 0`, fill: 'none', 'stroke-width': 3 })
          : h('g', { class: 'p-eye' }, [
              h('circle', { cx: x, cy: 97, r: 13, fill: bird.iris }),
              h('circle', { cx: x, cy: 97, r: 8, fill: '#15110d', stroke: 'none' }),
              h('circle', { cx: x + 3, cy: 93, r: 2.5, fill: '#fff', stroke: 'none' }),
            ]);
      return h('g', { stroke: '#1a1410', 'stroke-width': 2, 'stroke-linejoin': 'round' }, [
        h('path', {
          d: 'M62 158C46 132 44 96 58 72L50 42c14 4 22 10 27 17 14-6 32-6 46 0 5-7 13-13 27-17l-8 30c14 24 12 60-4 86-20 12-56 12-76 0z',
          fill: bird.feathers,
        }),
        h('path', {
          d: 'M100 84c-8-14-34-14-42 4-8 20 4 42 24 44 8 1 14-2 18-8 4 6 10 9 18 8 20-2 32-24 24-44-8-18-34-18-42-4z',
          fill: bird.face,
          'stroke-width': 1.5,
        }),
        h('path', { d: 'M52 66c18-2 38 6 48 22 10-16 30-24 48-22-16-8-36-6-48 6-12-12-32-14-48-6z', fill: bird.brow }),
        eye(78),
        eye(122),
        h('path', { d: 'M92 108c4-5 12-5 16 0l-8 20z', fill: bird.beak }),
        h('path', {
          d: 'M82 144l6 6 6-6M106 144l6 6 6-6M94 150l6 6 6-6',
          fill: 'none',
          stroke: bird.brow,
          'stroke-width': 3,
          'stroke-linecap': 'round',
        }),
      ]);
    },
    head(h) {
      if (this.bird !== 'kestrel') return this.owl(h, BIRDS[this.bird]);
      return h('g', { stroke: '#1a1410', 'stroke-width': 2, 'stroke-linejoin': 'round' }, [
        h('path', {
          d: 'M66 160C50 128 48 92 66 70c16-20 46-24 66-8 10 8 14 18 14 28l-6 40c-2 12-4 20-2 30-18 12-54 12-72 0z',
          fill: '#c27a3d',
        }),
        h('path', { d: 'M62 76c14-26 50-30 70-14 8 6 12 14 14 22-28-6-56-6-84-8z', fill: '#77808d' }),
        h('path', {
          d: 'M118 104c10-4 22-2 26 2l-4 26c-2 10-12 14-20 10-8-6-10-30-2-38z',
          fill: '#f3e3c4',
          'stroke-width': 1,
        }),
        h('path', { d: 'M118 100c6 14 4 30-2 42l-8-6c4-12 4-24 2-34z', fill: '#3b2a1e', stroke: 'none' }),
        h('path', { d: 'M142 84c22-2 36 12 32 38-6-10-14-14-30-14-4-8-4-16-2-24z', fill: '#e0b450' }),
        h('path', { d: 'M168 100c6 6 8 14 6 22-4-8-8-10-14-12z', fill: '#4a4038', stroke: 'none' }),
        this.resting
          ? h('path', { d: 'M112 92q10 8 20 0', fill: 'none', 'stroke-width': 3 })
          : h('g', { class: 'p-eye' }, [
              h('circle', { cx: 122, cy: 90, r: 10, fill: '#f2c437' }),
              h('circle', { cx: 123, cy: 90, r: 6.5, fill: '#15110d', stroke: 'none' }),
              h('circle', { cx: 126, cy: 87, r: 2, fill: '#fff', stroke: 'none' }),
            ]),
        h('path', {
          d: 'M74 120l8 6M70 132l9 5M84 134l8 5M78 146l8 4',
          stroke: '#7a4520',
          'stroke-width': 3,
          'stroke-linecap': 'round',
        }),
      ]);
    },
    helm(h, tier) {
      if (tier < 4) return null;
      return h('g', { stroke: '#39424c', 'stroke-width': 2, 'stroke-linejoin': 'round' }, [
        tier >= 5
          ? h('path', { d: 'M88 44C66 14 34 22 26 52c18-10 30-6 44 6z', fill: '#b8382e', stroke: '#5c1a15' })
          : null,
        h('path', { d: 'M60 80c4-34 34-46 58-38 18 6 26 20 28 36-30-8-58-6-86 2z', fill: '#b6bfc9' }),
        h('path', { d: 'M60 80c28-8 56-10 86-2l1 8c-30-7-60-5-87 2z', fill: '#8b95a1' }),
      ]);
    },
    crown(h) {
      return h('path', {
        d: 'M76 46l-6-26 17 12 15-20 15 20 17-12-6 26c-16-6-36-6-52 0z',
        fill: '#f0b95b',
        stroke: '#8a5f1a',
        'stroke-width': 2,
        class: 'p-crown',
      });
    },
  },
  render() {
    const h = Vue.h;
    const tier = tierOf(this.level);
    return h(
      'svg',
      { viewBox: '0 0 200 220', class: 'portrait', role: 'img', 'aria-label': this.label, 'data-tier': tier },
      [
        h('defs', null, [
          h('radialGradient', { id: 'p-glow' }, [
            h('stop', { offset: '0%', 'stop-color': '#6b4a22' }),
            h('stop', { offset: '70%', 'stop-color': '#2a2018' }),
            h('stop', { offset: '100%', 'stop-color': '#1d1712' }),
          ]),
        ]),
        h('rect', {
          x: 2,
          y: 2,
          width: 196,
          height: 216,
          rx: 18,
          fill: 'url(#p-glow)',
          stroke: '#5c4630',
          'stroke-width': 2,
        }),
        tier >= 7 ? this.rays(h) : null,
        tier >= 6 ? this.wings(h) : null,
        this.body(h, tier),
        this.head(h),
        this.helm(h, tier),
        this.champion ? this.crown(h) : null,
      ],
    );
  },
};
