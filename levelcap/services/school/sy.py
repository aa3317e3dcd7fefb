"""`python -m levelcap.services.school.sy`: the server of the skill sy."""

from levelcap.services.school.app import main

if __name__ == "__main__":
    main("sy")
