"""`python -m levelcap.services.watchtower`: watches the realm until it is told to end."""

from levelcap.services.door.http import serve
from levelcap.services.door.tokens import load_tokens
from levelcap.services.process import lifeline
from levelcap.services.process.database import open_database
from levelcap.services.process.voice import voice
from levelcap.services.watchtower.app import NAME, make_watchtower
from levelcap.services.watchtower.readings import Reader
from levelcap.services.watchtower.watch import Watch


def main() -> None:
    """Runs the service."""
    launch = lifeline.start(NAME)
    engine = open_database()
    try:
        watch = Watch(Reader(engine).read, voice(engine))
        app = make_watchtower(watch, tokens=load_tokens(), port=launch.port, lan=launch.lan)
        serve(app, host=launch.host, port=launch.port, name=NAME)
    finally:
        engine.dispose()


if __name__ == "__main__":
    main()
