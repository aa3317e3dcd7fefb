"""`python -m levelcap.services.weaver [--lan]`: what `levelcap up --detach` leaves running."""

import argparse
import sys

from levelcap.kit.errors import LevelcapError, UserError
from levelcap.services.weaver.checks import check_packages


def main() -> None:
    """Runs the realm; a refusal is one sentence on standard error and the exit code 1 or 2."""
    parser = argparse.ArgumentParser(prog="levelcap.services.weaver", description=__doc__)
    parser.add_argument("--lan", action="store_true", help="listen on every address")
    lan = parser.parse_args().lan
    try:
        check_packages()  # before the import below, which would fail with a traceback
        from levelcap.services.weaver.run import run

        run(lan=lan)
    except LevelcapError as error:
        sys.stderr.write(f"levelcap: {error}\n")
        sys.exit(2 if isinstance(error, UserError) else 1)


if __name__ == "__main__":
    main()
