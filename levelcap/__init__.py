"""levelcap: train heroes in a small, fast arena game, and keep what they learned."""

import os

__version__ = "0.1.0"

# One thread for every matrix product, in every thread and child process. Acting and learning have a
# core each; two threads of one product on a core that something else wants wait for each other at
# every layer (a run fell to a fiftieth of its speed), and sums over two threads have other bits.
# OpenMP reads this when torch is loaded; whoever sets it before us is obeyed.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
