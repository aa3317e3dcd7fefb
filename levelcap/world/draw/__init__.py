"""A match as pictures.

render.py       compiled frames for nets       picture.py, hud.py, canvas.py   for people, on Pillow
scoreboard.py   a match in words and numbers
"""
