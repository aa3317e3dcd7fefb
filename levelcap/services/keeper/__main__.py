"""`python -m levelcap.services.keeper`, started by the Weaver."""

from levelcap.services.keeper.app import main

if __name__ == "__main__":
    main()
