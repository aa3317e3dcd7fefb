// A small screen that is touched: the match takes all of it, on its side where the browser allows.

const coarse = matchMedia('(pointer: coarse)');

export class Pocket {
  constructor(box) {
    this.box = box;
  }

  get on() {
    return this.box.classList.contains('pocket');
  }

  // Somebody plays with fingers from now on.
  begin() {
    if (coarse.matches && !this.on) this.turn(true);
  }

  leave() {
    if (this.on) this.turn(false);
  }

  // The whole screen, or the page again. Where a browser has no full screen, the page's own will do.
  async turn(on = !(this.on || document.fullscreenElement)) {
    this.box.classList.toggle('pocket', on && coarse.matches);
    if (on) await this.box.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) await document.exitFullscreen().catch(() => {});
    if (coarse.matches && on) await screen.orientation?.lock?.('landscape').catch(() => {});
    else screen.orientation?.unlock?.();
  }
}
