"""Check dsbo.py against the program dsbo, and its estimators by scikit-learn's check_estimator.

    python3 check.py            # DSBO=path of the program, unless it stands in $PATH
"""

import csv
import io
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

if sys.argv[1:] == ["without"]:
    sys.modules["sklearn"] = None  # which cannot be imported then

import dsbo


def check_files():
    """A run's files give the arrays and the predictions that the program gives."""
    with tempfile.TemporaryDirectory() as folder:
        program = dsbo._program(None)
        write_table(Path(folder, "table.csv"))
        for target, drop, *more in (
            ["colour", "visits"],
            ["colour", "visits", "-model=mlp", "-hidden=5", "-K=2", "-penalty=one"],
            ["size", "visits"],
            ["visits", "size", "-task=count", "-missing=mean"],
        ):
            flags = [f"-target={target}", f"-drop={drop}", "-data=table.csv", "-agents=2", "-out=model", "-quiet"]
            dsbo._call([program, "tune", *flags, "-force", "-report=false", *more], folder)
            run = dsbo.Run(Path(folder, "model"))
            assert len(run.curves["test_loss"]) == len(run.curves["iteration"]) > 1
            assert len(run.names) == len(run.penalties)
            text = subprocess.run([program, "predict", "-model=model", "-data=table.csv"], cwd=folder, check=True,
                                  capture_output=True, text=True).stdout
            rows = list(csv.reader(io.StringIO(text)))[1:]
            columns = dsbo.read_csv(Path(folder, "table.csv"))
            if run.model.classes:
                assert [row[0] for row in rows] == list(run.model.predict(columns))
                ours, theirs = run.model.predict_proba(columns), np.array([row[1:] for row in rows], float)
            else:
                ours, theirs = run.model.predict(columns), np.array([row[0] for row in rows], float)
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
            print(f"{target}: {len(rows)} predictions are those of dsbo predict")


def write_table(path):
    """Write a table with numbers, words, days and times, some of which are missing."""
    random = np.random.default_rng(3)
    rows = 300
    day = np.datetime64("2020-01-01") + random.integers(0, 900, rows)
    noon = np.datetime64("2021-06-01T12:00:00") + random.integers(0, 900, rows)
    ward = random.choice(["eyes", "heart", "surgery"], rows)
    ward[:4] = "birth"  # which is rare
    width = random.normal(30, 8, rows).round(2)
    size = width / 10 + (ward == "heart") + random.normal(0, 0.3, rows)
    size += (day - day.min()).astype(float) / 1000
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["day", "noon", "ward", "width", "size", "colour", "visits"])
        for i in range(rows):
            missing = random.random(4) < 0.05
            cells = ["" if gone else str(v) for v, gone in zip((day[i], noon[i], ward[i], width[i]), missing)]
            out.writerow([*cells, size[i], "red" if size[i] > 4 else "blue", random.poisson(size[i] ** 2 / 8 + 1)])


def check_fits():
    """Estimators learn, over sites too, from arrays with missing values."""
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 8))
    score = X[:, 0] - 2 * X[:, 1]
    X[random.random(X.shape) < 0.02] = np.nan
    classes = np.where(score > 0, "yes", "no")
    classifier = dsbo.DsboClassifier().fit(X[:400], classes[:400], sites=np.arange(400) % 3)
    regressor = dsbo.DsboRegressor(options=["-K=5"]).fit(X[:400], score[:400])
    accuracy, r2 = classifier.score(X[400:], classes[400:]), regressor.score(X[400:], score[400:])
    print(f"{classifier}: accuracy {accuracy:.3f}; {regressor}: R² {r2:.3f}")
    assert accuracy > 0.9 and r2 > 0.9
    assert np.allclose(classifier.predict_proba(X).sum(axis=1), 1)


def check_levels():
    """Rows of a site have its level, and rows of a new one that of all sites, which is the mean."""
    random = np.random.default_rng(4)
    X, site = random.normal(size=(300, 3)), np.arange(300) % 3
    y = X[:, 0] + np.array([-2, 0, 2])[site] + random.normal(0, 0.3, 300)
    fitted = dsbo.DsboRegressor(options=["-site-effects=auto"]).fit(X, y, sites=site)
    new, own = fitted.predict(X), fitted.predict(X, sites=site)
    assert np.mean((own - y) ** 2) < 0.2 < 2 < np.mean((new - y) ** 2)
    assert np.allclose(fitted.predict(X, sites=site + 7), new) and abs(np.mean(own - new)) < 1e-4  # as y is solved for to a tolerance of Φ
    labels = np.where(y > 0, "high", "low")
    classifier = dsbo.DsboClassifier(options=["-site-effects=intercept"]).fit(X, labels, sites=site)
    assert np.mean(classifier.predict(X, sites=site) == labels) > classifier.score(X, labels) + 0.1
    print("levels: rows of a site, and of a new one")


def check_survival():
    """Hazards and probabilities of no event are those of dsbo predict -at."""
    random = np.random.default_rng(5)
    X = random.normal(size=(400, 3)).round(2)
    y = np.zeros(400, [("event", bool), ("time", float)])
    y["time"], y["event"] = random.exponential(np.exp(2 - X[:, 0])), random.random(400) < 0.7
    fitted = dsbo.DsboSurvival().fit(X, y, sites=np.arange(400) % 4)
    later = fitted.predict_survival(X, [0, 1, 2])
    assert np.corrcoef(np.log(fitted.predict(X)), X[:, 0])[0, 1] > 0.95
    assert (later[:, 0] == 1).all() and (np.diff(later) < 0).all() and 0.05 < later[:, 2].mean() < 0.95
    for of, says in ((lambda: fitted.predict_survival(X, [1e6]), "times must be 0 to"),
                     (lambda: dsbo.DsboSurvival().fit(X, y["time"]), "two fields")):
        try:
            of()
        except ValueError as e:
            assert says in str(e), e
        else:
            raise AssertionError(says)
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder, "table.csv"), "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["a", "b", "c", "months", "dead"],
                                        *([*x, t, int(d)] for x, (d, t) in zip(X, y))])
        program = dsbo._program(None)
        dsbo._call([program, "tune", "-task=survival", "-target=months", "-event=dead", "-data=table.csv", "-agents=3",
                    "-out=model", "-quiet", "-report=false"], folder)
        text = subprocess.run([program, "predict", "-model=model", "-data=table.csv", "-at=1,2.5"], cwd=folder, check=True,
                              capture_output=True, text=True).stdout
        theirs = np.array(list(csv.reader(io.StringIO(text)))[1:], float)
        model, columns = dsbo.Run(Path(folder, "model")).model, dsbo.read_csv(Path(folder, "table.csv"))
        ours = np.column_stack([model.predict(columns), model.predict_survival(columns, [1, 2.5])])
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    print("survival: hazards and probabilities are those of dsbo predict -at")


def check_words():
    """Columns of words, as pandas has them, are words to the program."""
    try:
        import pandas
    except ImportError:
        print("LEFT OUT: pandas cannot be imported")
        return
    random = np.random.default_rng(2)
    colour = random.choice(["red", "blue", "1"], 300)
    frame = pandas.DataFrame({"colour": colour, "size, cm": random.normal(size=300)})
    y = (colour == "1") * 3 + frame["size, cm"]
    assert dsbo.DsboRegressor().fit(frame, y).score(frame, y) > 0.95
    days = pandas.Timestamp("2020-01-01", tz="UTC") + pandas.to_timedelta(random.integers(0, 900, 300), unit="D")
    count = pandas.Series(random.integers(0, 9, 300)).astype("Int64").mask(colour == "red")
    late = np.where(days > days.sort_values()[150], "late", "early")
    for name, column in (("times", days), ("dates", days.date), ("days", days.date.astype("M8[ns]")),
                         ("seconds", days.tz_localize(None))):
        given = pandas.DataFrame({"count": count, "when": column})
        given.loc[7, "when"] = None
        fitted = dsbo.DsboClassifier().fit(given, late)
        assert fitted.score(given, late) > 0.9, name
    assert [c["kind"] for c in fitted.model_.inputs] == ["number", "number"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dsbo.DsboRegressor().fit(frame.assign(name=[f"n{k}" for k in range(300)]), y)
    assert ["nothing is learned from name" in str(w.message) for w in caught] == [True], caught
    for cell, says in ("1,234.5 %", None), ("12.5.2020", "column share must have a number"):
        model = dsbo.Model({"recipe": {"inputs": [{"name": "share", "kind": "number", "unit": "%", "deviation": 2}],
                                       "target": {"kind": "value", "deviation": 1}}, "layers": [{"unit": ""}]},
                           {"layer0.weight": np.ones((1, 1))})
        try:
            got = model.predict({"share": [cell]})[0]
        except ValueError as e:
            got = None
            assert says in str(e), e
        assert got == (None if says else 617.25), got


def check_comparison():
    """compare.py has the means of a comparison, and p of a t-test by its formula."""
    try:
        import pandas
        from scipy import stats

        import compare
    except ImportError:
        print("LEFT OUT: pandas cannot be imported")
        return
    with tempfile.TemporaryDirectory() as folder:
        methods = '"newtoncg -K=2", {"method": "dsoba -K=2", "grid": {"alpha": [0.01, 0.1]}}'
        Path(folder, "spec.json").write_text('{"tasks": ["synthetic -p=2 -r=1 -train=20 -val=20 -test=20 -agents=2"], '
                                             f'"methods": [{methods}], "seeds": [1, 2, 3]}}')
        dsbo._call([dsbo._program(None), "compare", "-quiet", "-out=out", "spec.json"], folder)
        runs = pandas.read_csv(Path(folder, "out", "runs.csv"))
        (task, table), = compare.tables(runs)
        assert len(runs) == 12 and len(table) == 3, (runs, table)
        first, last = (runs[runs.best & (runs.method == m)].phi.to_numpy() for m in table.index[[0, -1]])
        assert table.phi.iloc[0].startswith(f"{first.mean():.4g} ± ")
        t = (last - first).mean() / ((last - first).std(ddof=1) / 3**0.5)
        np.testing.assert_allclose(table["p (phi)"].iloc[-1], min(1, 3 * 2 * stats.t.sf(abs(t), 2)), rtol=1e-9)
        print(f"compare.py: p of {task} is that of its formula")
    random, draws, found = np.random.default_rng(0), 200, 0
    for _ in range(draws):  # of five methods that are alike
        data, costs = random.normal(size=5), dict(megabytes=1, calls_per_agent=1, seconds=1)
        frame = pandas.DataFrame([
            dict(task="alike", method=m, best=True, state="finished", seed=seed, phi=phi, test_loss=phi, **costs)
            for seed in range(5) for m, phi in zip("abcde", data[seed] + random.normal(size=5))])
        (_, table), = compare.tables(frame)
        found += (table["p (phi)"] < 0.05).any()
    assert found <= stats.binom.ppf(0.999, draws, 0.05), f"{found} of {draws} comparisons tell alike methods apart"
    frame.loc[(frame.method == "a") & (frame.seed > 0), "state"] = "diverged"
    frame.loc[frame.method == "a", "phi"] = -9
    (_, table), = compare.tables(frame)
    assert table.index[-1] == "a" and list(table.seeds) == [5, 5, 5, 5, 1], table


check_files()
check_fits()
check_levels()
check_survival()
check_comparison()
check_words()
try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    print("LEFT OUT: check_estimator, as sklearn cannot be imported")
else:
    for estimator in dsbo.DsboClassifier(), dsbo.DsboRegressor():
        check_estimator(estimator)
        print(f"check_estimator passes: {estimator}")
