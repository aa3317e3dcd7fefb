"""A queue of its own for every test, with a clock that the test moves."""

import pytest

from levelcap.jobs.schema import migrate
from levelcap.jobs.store import Store
from levelcap.kit import db
from tests.jobs.tables import TYPES, HandClock


@pytest.fixture
def engine(tmp_path):
    engine = db.open_db(tmp_path / "realm.db")
    migrate(engine)
    with db.transaction(engine) as connection:
        connection.execute("CREATE TABLE effects (job_id TEXT NOT NULL, n INTEGER)")
    yield engine
    engine.dispose()


@pytest.fixture
def hand():
    return HandClock()


@pytest.fixture
def store(engine, hand):
    """A store with two workers, `w1` and `w2`, that may run everything but ratings."""
    store = Store(engine, TYPES, hand.clock())
    store.register("w1", "local_gpu_1", ["trainer"])
    store.register("w2", "local_gpu_1", ["trainer"])
    return store
