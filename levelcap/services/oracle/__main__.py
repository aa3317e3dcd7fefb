"""`python -m levelcap.services.oracle`, started by the Weaver."""

from levelcap.services.oracle.app import main

if __name__ == "__main__":
    main()
