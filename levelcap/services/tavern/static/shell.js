// What every page shares: keys, sounds made here (off until switched on), the state of the switch.
const KEY = 'levelcap-sound';
let audio = null;

function tone(frequency, start, length, kind = 'triangle', loud = 0.06) {
  const at = audio.currentTime + start;
  const voice = audio.createOscillator();
  const gain = audio.createGain();
  voice.type = kind;
  voice.frequency.setValueAtTime(frequency, at);
  gain.gain.setValueAtTime(loud, at);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + length);
  voice.connect(gain).connect(audio.destination);
  voice.start(at);
  voice.stop(at + length);
}

const SOUNDS = {
  hit: () => {
    tone(170, 0, 0.09, 'square', 0.02);
    tone(90, 0.01, 0.12, 'sawtooth', 0.015);
  },
  good: () => {
    tone(523, 0, 0.16);
    tone(659, 0.1, 0.16);
    tone(784, 0.2, 0.3);
  },
  level: () => {
    for (const [i, f] of [392, 523, 659, 784, 1047].entries()) tone(f, i * 0.09, 0.3);
  },
  bad: () => {
    tone(220, 0, 0.2, 'sawtooth', 0.04);
    tone(165, 0.15, 0.3, 'sawtooth', 0.04);
  },
};

export default {
  props: { places: Array, cue: Object },
  emits: ['steer', 'help'],
  data() {
    return { sound: localStorage.getItem(KEY) === 'on', waiting: false };
  },
  mounted() {
    document.documentElement.lang = 'en';
    window.addEventListener('keydown', this.key);
    window.addEventListener('tavern-sound', (e) => this.play(e.detail));
    window.__tavern = { played: [] };
  },
  unmounted() {
    window.removeEventListener('keydown', this.key);
  },
  watch: {
    cue(cue) {
      if (cue?.sound) this.play(cue.sound);
    },
  },
  methods: {
    play(name) {
      if (!this.sound || !SOUNDS[name] || document.hidden) return;
      audio = audio || new AudioContext();
      window.__tavern.played.push(name);
      SOUNDS[name]();
    },
    toggle() {
      this.sound = !this.sound;
      localStorage.setItem(KEY, this.sound ? 'on' : 'off');
      this.play('good');
    },
    key(event) {
      const inside = event.target.closest('input, textarea, select, dialog');
      if (inside || event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.waiting) {
        this.waiting = false;
        const place = this.places.find((p) => p.key === event.key);
        if (place) window.location.href = place.path;
      } else if (event.key === 'g') {
        this.waiting = true;
        setTimeout(() => {
          this.waiting = false;
        }, 1500);
      } else if (event.key === 'p') {
        this.$emit('steer', 'toggle');
      } else if (event.key === 'm') {
        this.toggle();
      } else if (event.key === '?') {
        this.$emit('help');
      }
    },
  },
  render() {
    const path = this.sound
      ? 'M4 10v4h3l5 4V6L7 10ZM15.500 9a4 4 0 0 1 0 6M18 6.500a8 8 0 0 1 0 11'
      : 'M4 10v4h3l5 4V6L7 10ZM16 9.500l5 5M21 9.500l-5 5';
    const drawn = Vue.h(
      'svg',
      {
        viewBox: '0 0 24 24',
        width: 20,
        height: 20,
        fill: 'none',
        stroke: 'currentColor',
        'stroke-width': 1.7,
        'aria-hidden': 'true',
      },
      [Vue.h('path', { d: path })],
    );
    return Vue.h(
      'button',
      {
        type: 'button',
        class: 'btn bare',
        role: 'switch',
        'aria-checked': String(this.sound),
        'aria-label': 'Sound',
        title: `Sound is ${this.sound ? 'on' : 'off'} (m)`,
        onClick: this.toggle,
      },
      [drawn],
    );
  },
};
