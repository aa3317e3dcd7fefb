"""The guild: skills with levels, their problems, and a judge that recomputes every answer.

`engine.get_engine()` is the door; `skill` says what a skill and a problem are; `binary` is BIN,
`syllacrostic` is SY; `primitives` and `passives` are the small abilities around them; `progress`
holds the level-up rule, `curriculum` shares out training, `gate` checks lesson files. No torch.
"""
