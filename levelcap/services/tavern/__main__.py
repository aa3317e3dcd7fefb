"""`python -m levelcap.services.tavern`, started by the Weaver."""

from levelcap.services.tavern.app import main

if __name__ == "__main__":
    main()
