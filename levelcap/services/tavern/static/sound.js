// Sounds made here, off until switched on.
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

function isOn() {
  return localStorage.getItem(KEY) === 'on';
}

function show() {
  document.querySelector('#sound').setAttribute('aria-checked', String(isOn()));
}

export function play(name) {
  if (!isOn() || !SOUNDS[name] || document.hidden) return;
  audio = audio || new AudioContext();
  window.__tavern.played.push(name);
  SOUNDS[name]();
}

export function toggle() {
  localStorage.setItem(KEY, isOn() ? 'off' : 'on');
  show();
  play('good');
}

export function listenForSounds() {
  show();
  document.querySelector('#sound').addEventListener('click', toggle);
  window.addEventListener('tavern-sound', (event) => play(event.detail));
}
