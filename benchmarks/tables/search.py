#!/usr/bin/env python3
"""Compares what tuning a penalty for each column costs and gives with searches over whole trainings, on ten real tables.

    search.py DSBO FOLDER SEEDS    prints a line of CSV for each table and method: means over seeds 1 ... SEEDS, which draw
                                   the test rows; and last the geometric means beside newtoncg's

    Searches train from the start at each trial, over the same exchange, and choose by the same folds: a grid, random and
    Bayesian ones of one penalty, and random ones of all. DSBO is the program. It needs what real.py needs.
"""
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd

import real

NAMES = ["boston", "concrete", "credit", "diabetes", "hmda", "nmes", "progression", "sonar", "vehicle", "wages"]
METHODS = ["newtoncg"] + [
    {"method": f"search -K={trials} -set=rule={rule}" + " -set=each=true" * each, "name": f"{name}, {trials}"}
    for trials in (10, 20)
    for rule, name, each in (("grid", "grid", 0), ("random", "random", 0), ("bayes", "Bayesian", 0), ("random", "random for each", 1))
]
COSTS = ["test_loss", "megabytes", "calls_per_agent", "seconds"]


def task(folder, name):
    """The table's sites as files, and the verb that trains on them."""
    package, table, target, column, drop = real.TABLES[name]
    d = real.load(package, table, folder).drop(columns=drop.split())
    d = d[d[target].notna()].reset_index(drop=True)
    if len(d) > real.MOST:
        d = d.iloc[np.random.default_rng(1).choice(len(d), real.MOST, replace=False)].reset_index(drop=True)
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    for k, rows in enumerate(real.divide(d, target, column, np.random.default_rng(1))):
        d.iloc[rows].to_csv(f"{folder}/{name}/site{k}.csv", index=False)
    count = " -task=count" if name in real.COUNTS else ""
    return {"name": name, "task": f"tune -data={folder}/{name}/site{{agent}}.csv -target={target} -model=linear -penalty=feature -alone=false{count}"}


def main(program, folder, seeds):
    folder = os.path.abspath(folder)
    os.makedirs(folder, exist_ok=True)
    spec = {"tasks": [task(folder, name) for name in NAMES], "methods": METHODS, "start": "given", "seeds": list(range(1, int(seeds) + 1))}
    with open(f"{folder}/search.json", "w") as f:
        json.dump(spec, f)
    subprocess.run([program, "compare", "-quiet", "-out", f"{folder}/search", f"{folder}/search.json"], check=True, stdout=subprocess.DEVNULL)
    runs = pd.read_csv(f"{folder}/search/runs.csv")
    if (runs.state != "finished").any():
        sys.exit(runs[runs.state != "finished"][["task", "method", "seed", "state", "error"]].to_string())
    runs = runs[runs.method != "best untuned"]
    means = runs.groupby(["task", "method"], sort=False)[COSTS].mean()
    print("table,method,test loss,MB,calls,seconds")
    for (name, method), row in means.iterrows():
        print(f'{name},"{method}",' + ",".join(f"{v:.4g}" for v in row))
    for method in means.index.unique("method"):
        beside = means.xs(method, level="method") / means.xs("newtoncg", level="method")
        print(f'geometric mean beside newtoncg,"{method}",' + ",".join(f"{v:.3f}" for v in np.exp(np.log(beside).mean())))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
