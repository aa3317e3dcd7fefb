from levelcap.kit import errors


def test_a_near_name_is_suggested_and_all_names_are_listed():
    error = errors.unknown_name("ruleset", "seige", ["duel", "lms", "siege", "crown"])
    assert str(error) == (
        "unknown ruleset; got 'seige'. Did you mean 'siege'? Use one of: crown, duel, lms, siege."
    )


def test_a_far_name_gets_the_list_without_a_guess():
    assert "mean" not in str(errors.unknown_name("ruleset", "xyzzy", ["duel", "lms"]))


def test_case_does_not_hide_the_near_name_and_the_real_spelling_is_shown():
    assert "'CartPole-v1'" in str(errors.unknown_name("game", "cartpole-v1", ["CartPole-v1"]))


def test_the_tree_lets_callers_catch_by_blame():
    assert issubclass(errors.UnknownName, errors.UserError)
    assert issubclass(errors.UserError, ValueError)
    for kind in (errors.Busy, errors.Corrupt, errors.Conflict, errors.NoSpace):
        assert issubclass(kind, errors.StateError)
        assert not issubclass(kind, errors.UserError)


def test_every_error_is_printed_in_the_tree():
    for name, thing in vars(errors).items():
        if isinstance(thing, type) and issubclass(thing, errors.LevelcapError):
            assert name in errors.__doc__


def test_a_long_value_is_cut():
    assert len(errors.refuse("too long", "x" * 10_000, "Shorten it")) < 200
