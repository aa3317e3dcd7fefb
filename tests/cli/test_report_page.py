"""`levelcap report --html`: one file to send, whole, without a script, everything escaped."""

from html.parser import HTMLParser

import pytest

from levelcap.campaign.story import campaigns, runs
from levelcap.campaign.story.events import say
from levelcap.kit.files import append_jsonl, write_json
from levelcap.kit.paths import folder
from tests.cli.calling import levelcap
from tests.cli.kept import crown, keep_arena

EVIL = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Reads a page, checks that tags are closed, and gathers them with their texts."""

    VOID = {"meta", "br", "circle", "polyline", "polygon"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "srcset", "data")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == [] and reader.links == []
    assert not {"script", "link", "img", "iframe"} & set(reader.tags)
    return reader, " ".join(reader.text)


@pytest.fixture
def run(realm):
    """A run with two judged checkpoints, curves, an incident and sampled answers."""
    made = realm.write(campaigns.create, "kestrel", "First")
    known = runs.NewRun("reinforce-4711aa", "reinforce", 7, f"levelcap reinforce {EVIL}", "duel")
    realm.write(runs.begin, known, made.id, 0)
    place = folder("runs") / known.id
    place.mkdir()
    write_json(place / "config.json", {"seed": 7, "config": {"engine": {"lr": 0.25}, "x": EVIL}})
    rows = [{"step": n, "time": 1.0, "loss": 1 / n, "core_seconds": n / 2} for n in range(1, 700)]
    append_jsonl(place / "metrics.jsonl", rows)
    kept = [keep_arena(realm, n, run=known.id, elo=1000.0 + n)[0] for n in (100, 200)]
    crown(realm, kept[1])
    say(realm.engine, "training.diverged", f"the loss exploded {EVIL}", severity="error")
    answer = {"prompt": "1 + 1", "answer": EVIL, "expected": "2", "score": 0.0}
    answer |= {"right": False, "form": "easy", "operation": "add", "primitives": []}
    write_json(place / "samples.json", {"title": "bin level 1", "samples": [answer]})
    return place, kept


def test_a_run_is_one_page_with_everything_about_it(run, capsys, tmp_path):
    place, kept = run
    code, out, err = levelcap(
        capsys, "report", "--run", "4711", "--html", str(tmp_path / "run.html")
    )
    assert code == 0 and "page:" in out, err
    reader, text = read(tmp_path / "run.html")
    assert reader.tags.count("svg") == 2  # Elo and loss
    for words in (place.name, "seed 7", "engine.lr", "0.25", "350 core-seconds", "bin level 1"):
        assert words in " ".join(text.split())
    for row in kept:
        assert row.id in text and row.elo_text() in text
    assert text.count(EVIL) == 4  # command, setting, incident, answer: words, never a tag


def test_a_week_is_one_page_with_its_runs(run, capsys, tmp_path):
    place, kept = run
    file = tmp_path / "week.html"
    code, _, err = levelcap(capsys, "report", "--week", "--html", str(file))
    assert code == 0, err
    _, text = read(file)
    for words in ("Elo gained", place.name, kept[1].id, "training.diverged", EVIL):
        assert words in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--run", "nothing", "--html", "x.html"), "unknown run"),
        (("--html", "no/such/folder/x.html"), "no such folder"),
        (("--run", "latest"), "--html FILE"),
    ],
)
def test_what_cannot_be_reported_is_refused(run, capsys, words, said):
    code, _, err = levelcap(capsys, "report", *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1
