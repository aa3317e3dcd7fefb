"""Heroes changing. The folders are the curriculum: maths, engine, imitation, rl."""
