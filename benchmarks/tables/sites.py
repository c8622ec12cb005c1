#!/usr/bin/env python3
"""Makes tables of four unlike sites of scikit-learn's data, and says what scikit-learn finds on the pooled tables.

    sites.py make FOLDER [SEED]         writes FOLDER/NAME/site0.csv ... site3.csv
    sites.py fit FOLDER                 prints the test loss and accuracy of scikit-learn for each
    sites.py score FOLDER NAME FILE...  prints those of predictions, a file of dsbo predict for each site

Sites have a range of the first principal component each, with noise. Two columns are binned to words, 4 % of the values of one
in five columns are left out, and a column "split" says which rows are for training, validation and test: half, a quarter, a quarter.
"""
import csv
import math
import os
import sys

import numpy as np
from sklearn import datasets, linear_model, model_selection

SITES = 4
LOADERS = {"breast_cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "digits": datasets.load_digits, "diabetes": datasets.load_diabetes}


def write(folder, name, data, seed):
    rng = np.random.default_rng(seed)
    x, y = data.data, data.target
    z = (x - x.mean(0)) / np.where(x.std(0) > 0, x.std(0), 1)
    first = np.linalg.svd(z, full_matrices=False)[0][:, 0]
    order = np.argsort(first + 0.5 * first.std() * rng.normal(size=len(y)))
    names = [str(n).replace(" ", "_") for n in getattr(data, "feature_names")]
    columns = [[f"{v:.6g}" for v in x[:, j]] for j in range(x.shape[1])]
    spread = np.argsort(-x.std(0))[:2] if name != "digits" else [20, 43]
    for j in spread:
        bins = np.quantile(x[:, j], [0.25, 0.5, 0.75])
        columns[j] = [["low", "middle", "high", "top"][k] for k in np.searchsorted(bins, x[:, j])]
    for j in range(0, x.shape[1], 5):
        for i in np.flatnonzero(rng.random(len(y)) < 0.04):
            columns[j][i] = ""
    classes = name != "diabetes"
    target = [str(data.target_names[v]) if classes else f"{v:g}" for v in y]
    split = rng.permutation(np.resize(["train", "validation", "train", "test"], len(y)))
    os.makedirs(f"{folder}/{name}", exist_ok=True)
    for s, rows in enumerate(np.array_split(order, SITES)):
        with open(f"{folder}/{name}/site{s}.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(names + ["split", "target"])
            for i in sorted(rows):
                w.writerow([c[i] for c in columns] + [split[i], target[i]])


def read(folder, name):
    rows = []
    for s in range(SITES):
        with open(f"{folder}/{name}/site{s}.csv") as f:
            rows += list(csv.DictReader(f))
    split, target = np.array([r.pop("split") for r in rows]), np.array([r.pop("target") for r in rows])
    train, parts = split == "train", []
    for name in rows[0]:
        values = [r[name] for r in rows]
        missing = np.array([v == "" for v in values])
        if all(v == "" or v[0].isdigit() or v[0] == "-" for v in values):
            v = np.array([float(v or "nan") for v in values])
            mean, deviation = np.nanmean(v[train]), np.nanstd(v[train])
            if deviation == 0:
                continue
            parts.append(np.where(missing, 0, (v - mean) / deviation))
        else:
            parts += [np.array([v == w for v in values], float) for w in sorted(set(values) - {""})]
        if missing[train].any():
            parts.append(missing.astype(float))
    return np.column_stack(parts), target, split


def score(model, x, y):
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(x)
        place = {c: k for k, c in enumerate(model.classes_)}
        loss = -np.mean([math.log(max(p[i, place[c]], 1e-300)) for i, c in enumerate(y)])
        return f"{loss:.4f} ({np.mean(model.predict(x) == y):.4f})"
    return f"{np.mean((model.predict(x) - y) ** 2) / 2:.4f}"


def fit(folder, name):
    x, y, split = read(folder, name)
    train, both, test = split == "train", split != "test", split == "test"
    grid, shuffled = np.logspace(-4, 4, 33), ""
    if name == "diabetes":
        y = y.astype(float)
        y = (y - y[train].mean()) / y[train].std()
        make, cv = (lambda a: linear_model.Ridge(alpha=a)), linear_model.RidgeCV(alphas=grid)
        loss = lambda m, s: np.mean((m.predict(x[s]) - y[s]) ** 2)
    else:
        make = lambda c: linear_model.LogisticRegression(C=c, max_iter=10000)
        cross = lambda folds: linear_model.LogisticRegressionCV(Cs=grid, max_iter=10000, scoring="neg_log_loss", cv=folds)
        cv = cross(5)
        loss = lambda m, s: float(score(m, x[s], y[s]).split()[0])
    same = min((make(c).fit(x[train], y[train]) for c in grid), key=lambda m: loss(m, split == "validation"))
    if name != "diabetes":  # RidgeCV leaves out one row after the other
        draws = [model_selection.StratifiedKFold(5, shuffle=True, random_state=k) for k in range(4)]
        shuffled = f", with four draws of its folds {np.mean([loss(cross(d).fit(x[both], y[both]), test) for d in draws]):.4f}"
    print(f"{name}: trained as ours, tuned on validation {score(same, x[test], y[test])}; "
          f"cross-validated on training and validation {score(cv.fit(x[both], y[both]), x[test], y[test])}{shuffled}")


def score_files(folder, name, files):
    loss, right, count = 0.0, 0, 0
    rows = [[], []]
    for s, path in enumerate(files):
        for into, file in zip(rows, (f"{folder}/{name}/site{s}.csv", path)):
            with open(file) as f:
                into.extend(csv.DictReader(f))
    train = [float(r["target"]) for r in rows[0] if r["split"] == "train"] if name == "diabetes" else [0]
    for row, p in zip(*rows, strict=True):
        if row["split"] != "test":
            continue
        count += 1
        if name == "diabetes":
            loss += (float(p["prediction"]) - float(row["target"])) ** 2 / np.var(train) / 2
        else:
            loss -= math.log(max(float(p["p_" + row["target"]]), 1e-300))
            right += p["prediction"] == row["target"]
    print(f"{name}: {loss / count:.4f}" + ("" if name == "diabetes" else f" ({right / count:.4f})"))


if __name__ == "__main__":
    if sys.argv[1] == "score":
        score_files(sys.argv[2], sys.argv[3], sys.argv[4:])
        sys.exit()
    for name, load in LOADERS.items():
        if sys.argv[1] == "make":
            write(sys.argv[2], name, load(), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
        else:
            fit(sys.argv[2], name)
