"""`python -m levelcap` is the same as the command `levelcap`."""

from levelcap.cli.main import main

if __name__ == "__main__":
    main()
