"""`python -m levelcap.services.school.bin`: the server of the skill bin."""

from levelcap.services.school.app import main

if __name__ == "__main__":
    main("bin")
