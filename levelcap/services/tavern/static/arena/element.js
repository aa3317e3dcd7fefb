// The arena as an element of a page.
import { mount } from './main.js';

class Arena extends HTMLElement {
  connectedCallback() {
    this.arena = mount(this);
  }

  disconnectedCallback() {
    this.arena.close();
  }
}

customElements.define('tavern-arena', Arena);
