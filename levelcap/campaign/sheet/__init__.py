"""What pages and commands show of a hero; nothing here writes.

hero.py    level, XP, ATK, DEF, ACC, gold       titles.py  titles and achievements
guild.py   skills, primitives, passives         drift.py   passives over time
report.py  gains and costs over time            cap.py     where a skill's level is heading
memory.py  what training a text hero takes of a machine
"""
