"""Every spelling of a path in place of every id of an app; nothing may be reached by it."""

from levelcap.services.door.rights import routes_of
from tests.services.paths import PATHS, in_url


def try_paths(app, client, stride=1):
    """Calls each route with an id in its path with hostile ids; returns the number of calls.

    stride: use every n-th spelling only, another part of them for another route.
    """
    tried = 0
    for route in routes_of(app):
        if "{" not in (route.path or "") or not route.methods:
            continue
        for method in route.methods:
            for payload in PATHS[len(route.path) % stride :: stride]:
                url = route.path.split("{")[0] + in_url(payload)
                if "}/" in route.path:
                    url += "/" + route.path.split("}/", 1)[1]
                sent = client.build_request(method, url).url.raw_path
                if not payload or in_url(payload).encode() not in sent:
                    continue  # the client resolves it to another path
                answer = client.request(method, url, json={} if method == "POST" else None)
                assert 400 <= answer.status_code < 500, (method, url, answer.status_code)
                tried += 1
    return tried


def try_queries(client, paths, names, stride=1):
    """The same for parameters of the query; returns the number of calls."""
    tried = 0
    for name in names:
        for payload in PATHS[::stride]:
            for path in paths:
                assert client.get(path, params={name: payload}).status_code < 500
                tried += 1
    return tried
