import json

import pytest

from levelcap.kit.errors import BadFile, BadValue, UnknownName
from levelcap.services.process.hosts import get_port, get_service_url, hosts_path, load_hosts
from levelcap.services.process.ports import SERVICES, service


def write(**changes):
    data = load_hosts().model_dump()
    data.update(changes)
    hosts_path().write_text(json.dumps(data))


def remote(**place):
    host = {"name": "box", "host": "box.lan", "role": "inference", "services": {"oracle": place}}
    hosts = load_hosts().model_dump()["hosts"]
    del hosts["local"]["services"]["oracle"]  # it has moved there
    return {"hosts": hosts | {"box": host}}


def test_a_fresh_realm_reaches_its_services_on_loopback():
    assert get_service_url("keeper") == get_service_url("vault") == "http://127.0.0.1:8767"
    assert get_service_url("watchtower") == "http://127.0.0.1:8081"
    assert set(json.loads(hosts_path().read_text())["hosts"]["local"]) == {
        *("name", "host", "role", "services", "capabilities")
    }


def test_port_offset_moves_local_ports_and_no_others(monkeypatch):
    write(**remote(port=8765, path="/v1"))
    monkeypatch.setenv("LEVELCAP_PORT_OFFSET", "1000")
    assert get_service_url("keeper") == "http://127.0.0.1:9767"
    assert get_port("keeper") == 9767
    assert get_service_url("inference") == "http://box.lan:8765/v1"


def test_a_service_of_another_host_has_no_port_here():
    write(**remote(port=8765))
    with pytest.raises(BadValue, match="oracle does not run on this machine; got 'box'"):
        get_port("oracle")


def test_a_port_beyond_the_last_one_is_refused(monkeypatch):
    data = load_hosts().model_dump()
    data["hosts"]["local"]["services"]["keeper"]["port"] = 40_000
    hosts_path().write_text(json.dumps(data))
    monkeypatch.setenv("LEVELCAP_PORT_OFFSET", "30000")
    with pytest.raises(BadValue, match="at most 65535; got 70000"):
        get_port("keeper")


def test_an_unknown_service_gets_a_suggestion():
    with pytest.raises(UnknownName, match="Did you mean 'keeper'"):
        get_service_url("keper")
    with pytest.raises(UnknownName, match="Did you mean 'arena'"):
        service("arenas")


@pytest.mark.parametrize("host", ["a b", "http://x", "x:80", "x/y", "", "-x", "a" * 300, "é"])
def test_what_is_no_host_name_is_refused(host):
    data = load_hosts().model_dump()
    data["hosts"]["local"]["host"] = host
    hosts_path().write_text(json.dumps(data))
    with pytest.raises(BadFile, match="hosts.local.host"):
        load_hosts()


def test_an_older_file_without_a_newer_service_still_serves_it():
    data = load_hosts().model_dump()
    del data["hosts"]["local"]["services"]["watchtower"]
    hosts_path().write_text(json.dumps(data))
    assert get_port("watchtower") == 8081


def test_no_two_services_share_a_port_or_a_name():
    names = [row.name for row in SERVICES]
    ports = [row.port for row in SERVICES if row.port]
    assert len(set(names)) == len(names)
    assert len(set(ports)) == len(ports)
