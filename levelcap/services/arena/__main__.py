"""`python -m levelcap.services.arena`, started by the Weaver."""

from levelcap.services.arena.daemon import main

if __name__ == "__main__":
    main()
