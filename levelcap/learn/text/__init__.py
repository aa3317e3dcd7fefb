"""Text: lessons of a skill -> a hero that answers them, level by level.

The loss covers the answer and its end mark only. Which lesson comes next follows from its number
alone. Exams on the slow weights decide when a level is passed (`levelcap.guild.progress`).

config.py   the knobs       lessons.py  which problem is number i, and its tokens
update.py   one update      exams.py    when and how it is examined
task.py     both as a task of the engine's loop
run.py      `train_text`    spar.py     wrong answers become lessons
"""
