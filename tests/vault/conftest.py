"""A realm's database for one test."""

from collections.abc import Iterator

import pytest

from levelcap.campaign.realm import Realm, open_realm


@pytest.fixture
def realm(home: object) -> Iterator[Realm]:
    opened = open_realm()
    yield opened
    opened.close()
