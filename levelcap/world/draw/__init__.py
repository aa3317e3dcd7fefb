"""A match as pictures.

raster.py, render.py   compiled drawing, frames for nets   picture.py, hud.py, font.py   for people
scoreboard.py          a match in words and numbers
"""
