// The live battle: the hero's blade against the training dummy, numbers floating up at every hit.
//   hits: [[update, damage], …], the blows since the last look; resting: "yes" when nobody fights
const KEPT = 10;
const SCENE = `<svg viewBox="0 0 320 120" class="scene" aria-hidden="true">
<path d="M0 104h320" class="ground"/>
<g class="fighter"><path d="M92 104l8-30 8 30M100 74V52M100 52l-13 12M100 56l18 4" class="limb"/>
<circle cx="100" cy="42" r="10" class="head"/><path d="M91 40q9-16 18 0" class="helm"/>
<path d="M87 54q-9 3-9 13q8 4 11-2z" class="guard"/>
<g class="blade"><path d="M118 60l44-22 6-1-3 5-44 23zM115 66l8-13"/></g></g>
<g class="dummy"><path d="M226 104V50M200 66h52M214 104h24" class="post"/>
<circle cx="226" cy="40" r="12" class="sack"/><path d="M213 58h26v30h-26z" class="sack"/>
<path d="M221 38l10 4M231 38l-10 4M219 68h14M219 76h14" class="seam"/></g>
<g class="zzz"><path d="M118 34h8l-8 8h8M130 22h6l-6 6h6"/></g></svg>`;

class Battle extends HTMLElement {
  static observedAttributes = ['hits', 'resting'];

  connectedCallback() {
    this.seen = 0;
    this.field = document.createElement('div');
    this.field.innerHTML = SCENE;
    this.replaceChildren(this.field);
    this.attributeChangedCallback('resting');
  }

  attributeChangedCallback(name) {
    if (!this.field) return;
    if (name === 'resting') this.field.className = this.getAttribute('resting') ? 'battle resting' : 'battle';
    else this.fight(JSON.parse(this.getAttribute('hits')));
  }

  fight(hits) {
    const fresh = hits.filter(([update]) => update > this.seen);
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    for (const [i, [update, damage]] of (still ? fresh.slice(-1) : fresh).entries()) {
      const xp = this.seen ? update - this.seen : 0;
      this.seen = update;
      setTimeout(() => this.strike(update, damage, xp, still), i * 140);
    }
  }

  strike(update, damage, xp, still) {
    const shown = document.createElement('div');
    shown.className = 'float';
    shown.style.left = `${still ? 58 : 48 + ((update * 37) % 34)}%`;
    const number = document.createElement('b');
    number.textContent = damage;
    shown.append(number);
    if (xp) {
      const earned = document.createElement('i');
      earned.textContent = `+${xp} XP`;
      shown.append(earned);
    }
    const before = this.field.querySelectorAll('.float');
    for (const one of still ? before : [...before].slice(0, -KEPT)) one.remove();
    this.field.append(shown);
    if (still) return;
    this.field.classList.remove('struck');
    void this.field.offsetWidth;
    this.field.classList.add('struck');
    setTimeout(() => shown.remove(), 1700);
    window.dispatchEvent(new CustomEvent('tavern-sound', { detail: 'hit' }));
  }
}

customElements.define('tavern-battle', Battle);
