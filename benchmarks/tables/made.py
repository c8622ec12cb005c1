#!/usr/bin/env python3
"""Draws tables of which the truth is known, and compares dsbo tune with scikit-learn on 6,000 new rows of each.

    made.py DSBO FOLDER SEEDS [NAME...]    prints a line of CSV for each table: mean losses over seeds 1 ... SEEDS, and
                                           the default's beside the best of L2, L1 and elastic net
    DSBO is the program; flags of tune may follow it, as in "./dsbo tune -model auto".

The rows lie at four sites of unlike size. Losses are log losses of classes, RMSE of numbers, mean Poisson deviances of counts.
scikit-learn sees the pooled rows, standardized, and chooses penalties by five folds. Needs NumPy and scikit-learn.
"""
import csv
import os
import subprocess
import sys
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
warnings.filterwarnings("ignore")
import numpy as np
from sklearn import datasets, ensemble, linear_model, model_selection, pipeline, preprocessing

NEW, SHARES = 6000, [0.4, 0.3, 0.2, 0.1]


def coin(rng, z):
    return np.where(rng.random(len(z)) < 1 / (1 + np.exp(-z)), "yes", "no")


def clusters(d, informative, **more):
    def draw(n, rng, seed):
        more.setdefault("n_redundant", 0)
        x, y = datasets.make_classification(n, d, n_informative=informative, flip_y=0.05, n_clusters_per_class=1, random_state=seed, **more)
        return x, np.array(["no", "yes", "maybe", "other"])[y]
    return draw


def logistic(d, weights):
    def draw(n, rng, _):
        x = rng.normal(size=(n, d))
        return x, coin(rng, x @ weights(rng))
    return draw


def blocks(n, rng, _):
    w = np.concatenate([rng.normal(size=k) * s for k, s in ((20, 0.5), (200, 0.05), (600, 0))])
    x = rng.normal(size=(n, 820))
    return x, coin(rng, x @ (1.5 * w))


def leading(d, k, size):
    return lambda rng: np.concatenate([rng.normal(size=k) * size, np.zeros(d - k)])


def forest(n, rng, _):
    """Seven classes by ten numbers, and two words as zeros and ones; squares and a product matter."""
    z, words, rows = rng.normal(size=(n, 10)), np.zeros((n, 44)), np.arange(n)
    words[rows, rng.choice(4, size=n)] = 1
    words[rows, 4 + rng.choice(40, size=n, p=rng.dirichlet(np.full(40, 0.5)))] = 1
    x = np.hstack([z, words])
    score = x @ (rng.normal(size=(54, 7)) * 0.6) + np.array([1.5, 2, 0.3, -2.5, -1, -0.3, 0])
    score += 0.8 * np.outer(z[:, 0] ** 2, rng.normal(size=7)) + 0.8 * np.outer(z[:, 1] * z[:, 2], rng.normal(size=7))
    p = np.exp(score - score.max(1, keepdims=True))
    p = (p / p.sum(1, keepdims=True)).cumsum(1)
    return x, np.array([f"type{k}" for k in (p > rng.random((n, 1))).argmax(1)])


def tails(n, rng, _):
    x = rng.normal(size=(n, 30))
    return x, x @ leading(30, 6, 2.0)(rng) + rng.standard_t(1.5, size=n)


def counts(n, rng, _):
    x = rng.normal(size=(n, 25))
    return x, rng.poisson(np.exp(0.5 + x[:, :5] @ [0.4, -0.3, 0.3, 0.2, 0.2]))


def friedman(d):
    return lambda n, rng, seed: datasets.make_friedman1(n, d, noise=1.0, random_state=seed)


def linear(d, k, noise):
    return lambda n, rng, seed: datasets.make_regression(n, d, n_informative=k, noise=noise, random_state=seed)


# name: training rows, kind of target, draw(rows, rng, seed)
TABLES = {
    "mc300": (300, "class", clusters(20, 5)),
    "mc1200sparse": (1200, "class", clusters(80, 6, n_redundant=4)),
    "mc5000rare": (5000, "class", clusters(30, 8, n_classes=4, weights=[0.6, 0.3, 0.09, 0.01])),
    "linsparse800": (800, "class", logistic(100, leading(100, 8, 1.2))),
    "blocks600": (600, "class", blocks),
    "dense400": (400, "class", logistic(60, lambda rng: rng.normal(size=60) * 0.25)),
    "forest16000": (16000, "class", forest),
    "friedman400": (400, "number", friedman(50)),
    "friedman4000": (4000, "number", friedman(20)),
    "linreg500": (500, "number", linear(150, 10, 60.0)),
    "clean600": (600, "number", linear(100, 8, 5.0)),
    "tails1000": (1000, "number", tails),
    "counts1500": (1500, "count", counts),
}


def write(path, x, y):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow([f"v{j}" for j in range(x.shape[1])] + ["y"])
        w.writerows([f"{v:.6g}" for v in row] + [t if isinstance(t, str) else f"{t:.6g}"] for row, t in zip(x, y.tolist()))


def make(name, seed, folder):
    n, kind, draw = TABLES[name]
    rng = np.random.default_rng(1000 + seed)
    x, y = draw(n + NEW, rng, seed)
    os.makedirs(folder, exist_ok=True)
    sites = np.split(rng.permutation(n), (np.cumsum(SHARES)[:-1] * n).astype(int))
    for k, rows in enumerate(sites):
        write(f"{folder}/site{k}.csv", x[rows], y[rows])
    write(f"{folder}/test.csv", x[n:], y[n:])
    rows = np.concatenate(sites)
    return x[rows], y[rows], x[n:], y[n:], kind


def loss(kind, y, p, names=()):
    if kind == "number":
        return np.sqrt(np.mean((y - p) ** 2))
    if kind == "count":
        p = np.maximum(p, 1e-9)
        return 2 * np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1) / p), 0) - y + p)
    return -np.mean(np.log(np.maximum(p[np.arange(len(y)), np.searchsorted(names, y)], 1e-15)))


def peers(x, y, kind):
    """scikit-learn's models by name. L1 and elastic net are left out where they would take hours."""
    if kind == "number":
        return {"L2": linear_model.RidgeCV(np.logspace(-3, 4, 30)), "L1": linear_model.LassoCV(cv=5, n_alphas=50),
                "elastic net": linear_model.ElasticNetCV(cv=5, n_alphas=50, l1_ratio=[0.1, 0.5, 0.9]),
                "boosting": ensemble.HistGradientBoostingRegressor(random_state=0)}
    if kind == "count":
        grid = {"alpha": np.logspace(-4, 1, 12)}
        return {"L2": model_selection.GridSearchCV(linear_model.PoissonRegressor(max_iter=500), grid, cv=5),
                "boosting": ensemble.HistGradientBoostingRegressor(loss="poisson", random_state=0)}
    cv = lambda **more: linear_model.LogisticRegressionCV(cv=5, scoring="neg_log_loss", max_iter=500, **more)
    models = {"L2": cv(Cs=np.logspace(-4, 3, 15)), "boosting": ensemble.HistGradientBoostingClassifier(random_state=0)}
    if x.size <= 3e5 or x.shape[1] > 200:
        models["L1"] = cv(Cs=np.logspace(-2.5, 1, 8), penalty="l1", tol=1e-3, solver="liblinear" if len(set(y)) == 2 else "saga")
    if x.size <= 3e5 and x.shape[1] <= 200:
        models["elastic net"] = cv(Cs=np.logspace(-2.5, 1, 6), penalty="elasticnet", tol=1e-3, solver="saga", l1_ratios=[0.1, 0.5, 0.9])
    return models


def tune(program, folder, kind, y, target="y", tables=("test.csv",)):
    """The loss of the program's default on the rows of tables, whose targets are y."""
    program, *flags = program.split()
    flags = [f for f in flags if f != "tune"] + (["-task", "count"] if kind == "count" else [])
    subprocess.run([program, "tune", "-data", f"{folder}/site{{agent}}.csv", "-target", target, "-alone=false", "-report=false", "-quiet", "-force",
                    "-out", f"{folder}/run", *flags], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    rows = []
    for table in tables:
        out = subprocess.run([program, "predict", "-model", f"{folder}/run", "-data", f"{folder}/{table}"], check=True, capture_output=True, text=True).stdout
        rows += csv.DictReader(out.splitlines())
    if kind != "class":
        return loss(kind, y, np.array([float(r["prediction"]) for r in rows]))
    names = sorted(k[2:] for k in rows[0] if k.startswith("p_"))
    return loss(kind, y, np.array([[float(r["p_" + c]) for c in names] for r in rows]), names)


def main(program, folder, seeds, *names):
    columns = ["dsbo", "L2", "L1", "elastic net", "boosting"]
    print(",".join(["table", *columns, "of the best of three"]))
    for name in names or TABLES:
        losses = {}
        for seed in range(1, int(seeds) + 1):
            at = f"{folder}/{name}-{seed}"
            x, y, new, truth, kind = make(name, seed, at)
            losses.setdefault("dsbo", []).append(tune(program, at, kind, truth))
            for peer, m in peers(x, y, kind).items():
                m = pipeline.make_pipeline(preprocessing.StandardScaler(), m).fit(x, y)
                p = m.predict_proba(new) if kind == "class" else m.predict(new)
                losses.setdefault(peer, []).append(loss(kind, truth, p, getattr(m, "classes_", ())))
        mean = {k: np.mean(v) for k, v in losses.items()}
        best = min(v for k, v in mean.items() if k in columns[1:4])
        print(",".join([name, *(f"{mean[k]:.4f}" if k in mean else "" for k in columns), f"{mean['dsbo'] / best:.3f}"]), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
