"""Times the exchange of a ring of 8 agents over mpi4py, for BenchmarkJobs:

    mpirun -n 8 python3 exchange.py ROUNDS BYTES

Each rank has 8/P agents, one row of a matrix each, and exchanges its first and last row with the ranks beside it.
"""
import sys
import time

import numpy as np
from mpi4py import MPI

AGENTS, W, SIDE = 8, 0.5, 0.25
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
below, above = (rank - 1) % size, (rank + 1) % size


def mix(x, low, high):
    comm.Sendrecv(x[-1], above, 0, low, below, 0)
    comm.Sendrecv(x[0], below, 1, high, above, 1)
    return W * x + SIDE * (np.concatenate([low[None], x[:-1]]) + np.concatenate([x[1:], high[None]]))


rounds, nbytes = map(int, sys.argv[1:])
x = np.random.default_rng(rank).standard_normal((AGENTS // size, nbytes // 8))
low, high = np.empty_like(x[0]), np.empty_like(x[0])
times = []
for k in range(3 + rounds):
    start = time.perf_counter()
    x = mix(x, low, high)
    times.append(time.perf_counter() - start)
if rank == 0:
    times = sorted(times[3:])
    print(f"median {times[len(times) // 2] * 1e9:.0f} ns", flush=True)
