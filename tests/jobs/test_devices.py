import json

import pytest

from levelcap.jobs.devices import DEFAULT_ROLES, check_device, devices_file, load_devices
from levelcap.kit.errors import BadFile, BadValue, UnknownName


def write(devices):
    devices_file().write_text(json.dumps({"devices": devices}))


def test_a_fresh_realm_has_one_device(home):
    assert list(load_devices()) == ["local_gpu_1"]
    stored = json.loads((home / "config" / "devices.json").read_text())
    assert stored["devices"]["local_gpu_1"] == {
        "enabled": True,
        "roles": DEFAULT_ROLES,
        "resource_class": "local",
        "capabilities": [],
        "max_concurrent_jobs": 1,
    }
    assert check_device("local_gpu_1", ["trainer", "analytics"]).max_concurrent_jobs == 1


def test_an_edited_file_wins():
    write({"box": {"roles": ["storage_cold", "inference"], "max_concurrent_jobs": 4}})
    assert check_device("box", ["storage_cold"]).max_concurrent_jobs == 4
    with pytest.raises(UnknownName, match="device.*Use one of: box"):
        check_device("local_gpu_1", ["trainer"])


def test_what_a_device_may_not_do_is_refused():
    write({"off": {"enabled": False, "roles": ["trainer"]}, "on": {"roles": ["trainer"]}})
    with pytest.raises(BadValue, match="switched off"):
        check_device("off", ["trainer"])
    for roles in (["inference"], ["trainer", "analytics"], []):
        with pytest.raises(BadValue, match="may have the roles trainer"):
            check_device("on", roles)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "cannot read JSON"),
        ('{"devices": {"a": {}}}', "devices.a.roles"),
        ('{"devices": {"a": {"roles": ["cook"]}}}', "role that does not exist"),
        ('{"devices": {"a": {"roles": [], "color": 1}}}', "devices.a.color"),
        ('{"devices": {"a": {"roles": [], "max_concurrent_jobs": 0}}}', "max_concurrent_jobs"),
        ('{"device": {}}', "devices"),
    ],
)
def test_a_broken_file_names_what_is_wrong(content, said):
    devices_file().write_text(content)
    with pytest.raises(BadFile, match=said):
        load_devices()
