"""The pictures of README and QUICKSTART, taken from a realm in which a small hero has trained.

    python -m tests.browser.pictures          # writes docs/*.png and docs/arena.gif
    python -m tests.browser.pictures arena    # those of the arena alone

Takes some minutes; look at every picture before it is kept.
"""

import os
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from levelcap.services.tavern import entry
from tests.browser.inn import Inn, Watched, launch
from tests.services.realms import ROOT, until

DOCS = ROOT / "docs"
SIZE = {"width": 1280, "height": 800}
FILM_COLOURS = 96
RARE = (  # colours that few pixels have, and that tell the story
    (95, 224, 126), (255, 93, 93), (74, 158, 255), (240, 185, 91), (245, 200, 80),
    (255, 255, 255), (140, 194, 255), (255, 155, 155), (42, 120, 70), (150, 40, 40),
)  # fmt: skip
FILM_WIDTH, FILM_FRAMES, FILM_TICKS, FRAME_MS = 480, 60, 3, 100
FLYING = (  # a number has just left the hero's sword
    "[...document.querySelectorAll('.float')].some(f => f.getAnimations({subtree: true})"
    ".some(a => a.currentTime > 100 && a.currentTime < 500))"
)
SERVICES = (("keeper", 8767), ("oracle", 8765), ("tavern", 8888))


def main() -> None:
    """Takes all of them."""
    DOCS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        inn = Inn(Path(folder) / "home")
        try:
            inn.prepare("slim", "0.12", most_s=900)
            for name, port in SERVICES:
                inn.start(name)
                inn.wait(port, name)
            inn.start("arena")
            with sync_playwright() as playwright:
                browser = launch(playwright)
                take(inn, browser.new_context(viewport=SIZE))
                browser.close()
        finally:
            inn.close()


def take(inn, context):
    """Lets the browser in and visits the pages."""
    os.environ.update({k: v for k, v in inn.env.items() if k.startswith("LEVELCAP_")})
    shown = Watched(context, inn.url)
    page = shown.page
    page.goto(entry.entry_url(entry.make_code()))
    page.wait_for_selector("main#content h1")
    page.get_by_role("button", name="Begin").click()
    if sys.argv[1:] != ["arena"]:
        pages(shown)
    arena(shown)


def pages(shown):
    """The hero in training, then what lists there are."""
    page = shown.page
    page.get_by_role("button", name="Resume").click()
    page.wait_for_selector(".float b", timeout=120_000)
    page.wait_for_timeout(15_000)
    shown.until(FLYING, 60)
    keep(page.screenshot(), "hero")
    page.get_by_role("button", name="Pause").click()
    for name in ("quests", "vault"):
        shown.goto(f"/{name}")
        page.wait_for_timeout(1500)
        keep(page.screenshot(), name)


def arena(shown):
    """Two matches, hurried to their ends, then seen again: a still of one, a film of the other."""
    page = shown.goto("/arena")
    page.wait_for_selector("#arena-watch")
    last = see_again(shown, "siege", "master", "veteran")
    for ticks in range(0, 64, 4):  # effects pass while the moment moves
        seek(shown, last // 3 + ticks)
    page.locator("canvas.arena-canvas").focus()
    keep(page.screenshot(), "arena")
    last = see_again(shown, "duel", "champion", "veteran")
    page.locator("canvas.arena-canvas").focus()
    page.keyboard.press("0")  # the whole map: only what moves differs from frame to frame
    page.wait_for_timeout(4000)
    film = []
    for tick in range(max(0, last - FILM_FRAMES * FILM_TICKS), last - 6, FILM_TICKS):
        seek(shown, tick)
        film.append(picture(page.locator("canvas.arena-canvas").screenshot()))
    save_film(film)


def see_again(shown, world, blue, red):
    """Plays a match and opens its replay, paused; returns its last tick."""
    page = shown.page
    page.select_option("select[name=world]", world)
    page.select_option("select[name=blue]", blue)
    page.select_option("select[name=red]", red)
    page.click("#arena-watch")
    chosen = "location.pathname === `/arena/m/${window.__arena.match}`"
    shown.until(f"{chosen} && window.__arena.tick > 5", 60)
    page.select_option(".bar-speed", "16")
    page.wait_for_selector("#arena-replay", timeout=240_000)
    page.click("#arena-replay")
    shown.until("window.__arena.state === 'playing'", 60)
    page.locator("canvas.arena-canvas").focus()
    page.keyboard.press("Space")
    shown.until("window.__arena.state === 'paused'")
    return int(page.locator(".bar-scrub").get_attribute("max"))


def seek(shown, tick):
    """Shows one moment, as soon as the replay has come that far."""

    def there():
        shown.page.locator(".bar-scrub").fill(str(tick))
        shown.page.wait_for_timeout(120)
        return shown.page.evaluate(f"Math.abs(window.__arena.tick - {tick}) < 1.5")

    until(there, 120, f"tick {tick} is shown")


def picture(data):
    return Image.open(BytesIO(data)).convert("RGB")


def keep(data, name):
    picture(data).save(DOCS / f"{name}.png", optimize=True)


def save_film(film):
    height = round(film[0].height * FILM_WIDTH / film[0].width)
    small = [frame.resize((FILM_WIDTH, height), Image.Resampling.LANCZOS) for frame in film]
    palette = small[len(small) // 2].quantize(FILM_COLOURS - len(RARE), dither=Image.Dither.NONE)
    colours = palette.getpalette()[: 3 * (FILM_COLOURS - len(RARE))]
    palette.putpalette(colours + [part for colour in RARE for part in colour])
    frames = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    frames[0].save(
        DOCS / "arena.gif",
        save_all=True,
        append_images=frames[1:],
        duration=FRAME_MS,
        loop=0,
        optimize=True,
    )


if __name__ == "__main__":
    sys.exit(main())
