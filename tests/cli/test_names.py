"""champion, best, latest, an id, its beginning or a folder: the same in every command."""

import json

import pytest

from levelcap.kit.errors import BadValue, UnknownName
from levelcap.vault.ask import find_folder, resolve
from tests.cli.calling import levelcap
from tests.cli.kept import crown, keep_arena


@pytest.fixture
def three(realm):
    """The first is champion, the second has the best Elo, the third is the newest."""
    found = [keep_arena(realm, 10, elo=1100.0), keep_arena(realm, 20, elo=1300.0)]
    crown(realm, found[0][0])
    return [*found, keep_arena(realm, 30)]


def names_of(row, place):
    return row.id, row.id[:15], row.id.removeprefix("checkpoint-")[:6], str(place)


def test_every_form_of_a_name_means_the_same_checkpoint(realm, three):
    for word, (row, place) in zip(("champion", "best", "latest"), three, strict=True):
        assert find_folder(word).resolve() == place.resolve()
        for name in names_of(row, place):
            assert find_folder(name, reads=False).resolve() == place.resolve(), name
    assert find_folder("kestrel").resolve() == three[0][1].resolve()  # a hero: its champion
    assert find_folder("checkpoint_20").resolve() == three[1][1].resolve()


def test_a_name_that_means_nothing_or_too_much_is_refused_with_candidates(realm, three):
    ids = [row.id for row, _ in three]
    with pytest.raises(BadValue, match="more than one checkpoint begins so") as told:
        resolve(realm.engine, "checkpoint")
    assert all(one in str(told.value) for one in ids)
    with pytest.raises(UnknownName, match="Did you mean") as told:
        resolve(realm.engine, ids[0][:-2] + "zz")
    assert all(one in str(told.value) for one in ids)
    with pytest.raises(UnknownName):
        resolve(realm.engine, "che")  # too short to be meant
    with pytest.raises(UnknownName, match="no text checkpoint is champion yet"):
        resolve(realm.engine, "champion", reads=True)


@pytest.mark.parametrize("word", [0, 1, 2, 3, "champion"])
def test_commands_about_the_vault_take_every_form(realm, three, capsys, word):
    row, place = three[0]
    name = word if isinstance(word, str) else names_of(row, place)[word]
    code, out, _ = levelcap(capsys, "vault", "show", name, "--json")
    assert code == 0 and json.loads(out)["id"] == row.id
    assert row.id in levelcap(capsys, "vault", "pin", name)[1]
    assert "are whole" in levelcap(capsys, "vault", "verify", name)[1]
    assert row.id in levelcap(capsys, "vault", "compare", name, "latest")[1] + row.id


def test_commands_that_play_take_every_form(three, capsys):
    row, _ = three[0]
    code, out, err = levelcap(capsys, "play", "champion", row.id[:16], "--games", "2", "--json")
    assert code == 0, err
    assert "champion against" in out and json.loads(out.splitlines()[-1])["games"] == 2
    short = row.id.removeprefix("checkpoint-")[:8]
    code, out, err = levelcap(capsys, "watch", "best", short, "--speed", "0")
    assert code == 0, err  # in duel, its own world, though watch shows sieges else
    code, out, err = levelcap(capsys, "nets", "card", "latest")
    assert code == 0 and "flat dummy" in out, err


def test_a_run_can_start_from_the_champion(three, capsys, tmp_path):
    small = ("--set", "lanes=24", "--set", "unroll=8", "--set", "minibatches=2", "--games", "0")
    words = ("reinforce", "--from", "champion", "--updates", "1", *small)
    code, out, err = levelcap(capsys, *words, "--out", str(tmp_path / "run"))
    assert code == 0 and "snapshot:" in out, err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("play", "champion", "rookie"), "no checkpoints yet"),
        (("nets", "card", "latest"), "train a hero first"),
        (("text", "chat", "champion", "hello"), "train a hero first"),
        (("harden", "no/such/folder"), "no such checkpoint folder"),
        (("reinforce", "--from", "champoin"), "no checkpoints yet"),
        (("play", "mastr", "rookie"), "Did you mean 'master'?"),
        (("trial", "checkpoint-nothing"), "no checkpoints yet"),
    ],
)
def test_in_an_empty_realm_a_name_is_refused_in_one_sentence(capsys, words, said, home):
    code, _, err = levelcap(capsys, *words)
    assert code == 2 and said in err and len(err.strip().splitlines()) == 1
    assert not (home / "state" / "realm.db").exists()  # asking makes nothing


def test_jobs_and_campaigns_are_found_by_their_beginning(realm, capsys):
    job, _ = [realm.store.get(realm.store.submit("health_check", {}).job_id) for _ in "ab"]
    for given in (job.id, job.id[:12], job.id.removeprefix("job-")[:8]):
        code, out, err = levelcap(capsys, "job", "show", given)
        assert code == 0 and json.loads(out)["id"] == job.id, err
    code, _, err = levelcap(capsys, "job", "show", "job-")
    assert code == 2 and "more than one job begins so" in err and job.id in err
    made = levelcap(capsys, "campaign", "new", "First")[1].split(":")[0]
    code, out, err = levelcap(capsys, "campaign", "archive", made[:-2])
    assert code == 0 and made in out, err
    code, _, err = levelcap(capsys, "campaign", "archive", "nothing")
    assert code == 2 and "unknown campaign" in err and made in err
