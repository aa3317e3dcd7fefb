// Icons of the Tavern, drawn for it: 24 x 24, strokes of the current colour.
const ICONS = {
  hero: 'M12 3a4 4 0 0 1 4 4v2a4 4 0 0 1-8 0V7a4 4 0 0 1 4-4ZM8 7h8M4 21c0-4.5 3.5-7 8-7s8 2.5 8 7M12 14v4M10 16h4',
  scroll:
    'M6 4h11a2 2 0 0 1 2 2v2h-4M6 4a2 2 0 0 0-2 2v2h4M8 8V6M8 8v10a2 2 0 0 0 2 2h7a2 2 0 0 0 2-2v-1h-7v1a2 2 0 0 1-2 2M11 11h5M11 14h3M15 8v6',
  swords: 'M4 4l10 10M4 4l1 4 7 7M4 4l4 1M20 4L10 14M20 4l-1 4-7 7M20 4l-4 1M6 14l4 4M5 19l3-3M18 14l-4 4M19 19l-3-3',
  banner: 'M6 3v18M6 4h12l-3 4 3 4H6M4 21h4M10 8h3',
  gears:
    'M9 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM9 4v2M9 14v2M3 10h2M13 10h2M4.8 5.8l1.4 1.4M11.8 12.8l1.4 1.4M13.2 5.8l-1.4 1.4M6.2 12.8l-1.4 1.4M17.5 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4ZM17.5 13.5V15M17.5 19v1.5M14 17h1.5M19.5 17H21',
  chest: 'M4 11V9a4 4 0 0 1 4-4h8a4 4 0 0 1 4 4v2M4 11h16v8H4ZM4 11h16M12 10v4M10.5 12.5h3V15h-3Z',
  anvil: 'M4 7h13c1.500 0 2.500.7 4 .7-.5 2.300-3 3.800-5.500 4.300L14 15h2v4H7v-4h2l-1-3C5.500 12 4 10 4 7ZM8 19h8',
  ledger: 'M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2ZM5 18a2 2 0 0 1 2-2h12M9 13V9M12 13V7M15 13v-3',
  eye: 'M2.500 12S6 6 12 6s9.500 6 9.500 6S18 18 12 18s-9.500-6-9.500-6ZM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z',
  book: 'M12 6c-2-1.500-5-2-8-1.500V18c3-.5 6 0 8 1.500 2-1.500 5-2 8-1.500V4.500C17 4 14 4.500 12 6ZM12 6v13.500',
  scales: 'M12 4v15M8 20h8M5 7l7-2 7 2M5 7l-2.500 6a2.700 2.700 0 0 0 5 0ZM19 7l-2.500 6a2.700 2.700 0 0 0 5 0Z',
  crown: 'M4 18h16M4 16L3 7l5 4 4-6 4 6 5-4-1 9Z',
  star: 'M12 3l2.700 5.800 6.300.8-4.600 4.400 1.200 6.300L12 17.200l-5.600 3.100 1.200-6.300L3 9.600l6.300-.8Z',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l1.500 2h-15ZM10 20a2 2 0 0 0 4 0',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4.500v15l12-7.500Z',
  stop: 'M6 6h12v12H6Z',
  skip: 'M5 5v14l9-7ZM18 5v14',
  undo: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6v1',
  cross: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.500l5 5L20 7',
  plus: 'M12 5v14M5 12h14',
  pin: 'M9 3h6l-1 7 3 3H7l3-3ZM12 13v8',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5',
  down: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  up: 'M12 20V9M7 13l5-5 5 5M5 4h14',
  shield: 'M12 3l8 3v6c0 5-3.500 8-8 9.500C7.500 20 4 17 4 12V6Z',
  coin: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM12 8v8M9.500 10.500C10 9 14 9 14 11s-4 1.500-4 3 4 1.500 4.500-.5',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6Z',
  target: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v3M12 19v3M2 12h3M19 12h3',
  sound: 'M4 10v4h3l5 4V6L7 10ZM15.500 9a4 4 0 0 1 0 6M18 6.500a8 8 0 0 1 0 11',
  mute: 'M4 10v4h3l5 4V6L7 10ZM16 9.500l5 5M21 9.500l-5 5',
  help: 'M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 17.500v.5M12 2.500a9.500 9.500 0 1 0 0 19 9.500 9.500 0 0 0 0-19Z',
  lock: 'M6 11h12v9H6ZM8.500 11V8a3.500 3.500 0 0 1 7 0v3M12 14.500v2',
  compass: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM15.500 8.500l-2 5-5 2 2-5Z',
  left: 'M14 6l-6 6 6 6',
  right: 'M10 6l6 6-6 6',
};

export default {
  props: { name: String },
  render() {
    const h = Vue.h;
    const path = h('path', { d: ICONS[this.name] || ICONS.star });
    return h(
      'svg',
      {
        viewBox: '0 0 24 24',
        width: 20,
        height: 20,
        fill: 'none',
        stroke: 'currentColor',
        'stroke-width': 1.7,
        'stroke-linecap': 'round',
        'stroke-linejoin': 'round',
        'aria-hidden': 'true',
      },
      [path],
    );
  },
};
