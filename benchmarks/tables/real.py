#!/usr/bin/env python3
"""Compares dsbo tune with scikit-learn on tables of R's packages and of scikit-learn, 30 % of each site's rows as judge.

    real.py DSBO FOLDER SEEDS [NAME...]    prints a line of CSV for each table, mean losses over seeds 1 ... SEEDS, then the
                                           geometric means of dsbo's beside the oracle's and boosting's

    DSBO is the program; flags of tune may follow it. Losses are log losses of classes, RMSE of numbers, mean Poisson deviances of counts.
    The oracle is the best by its mean loss on the judge's own rows of six linear models on the pooled rows: L2, L1 and elastic net by five folds,
    L2 and L1 as scikit-learn has them by default, and next to no penalty. Sites are a column of the table where one is named; else the
    rows by their first principal component, with noise. Needs NumPy, pandas, scikit-learn and Rscript with the packages named below.
"""
import os
import subprocess
import sys
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
warnings.filterwarnings("ignore")
import numpy as np
import pandas as pd
from sklearn import compose, datasets, impute, linear_model, pipeline, preprocessing

import made

# name: package, table, target, column of sites or "", columns to leave out
TABLES = {
    "boston": ("MASS", "Boston", "medv", "rad", ""),
    "birthwt": ("MASS", "birthwt", "low", "", "bwt"),
    "biopsy": ("MASS", "biopsy", "class", "", "ID"),
    "cars93": ("MASS", "Cars93", "Price", "Origin", "Min.Price Max.Price Manufacturer Make Model Cylinders"),
    "cpus": ("MASS", "cpus", "perf", "", "name estperf"),
    "crabs": ("MASS", "crabs", "sp", "", "index"),
    "epil": ("MASS", "epil", "y", "trt", "subject period V4"),
    "glass": ("MASS", "fgl", "type", "", ""),
    "nlschools": ("MASS", "nlschools", "lang", "COMB", "class"),
    "pima": ("MASS", "Pima.tr", "type", "", ""),
    "quine": ("MASS", "quine", "Days", "Eth", ""),
    "survey": ("MASS", "survey", "Sex", "", ""),
    "channing": ("boot", "channing", "cens", "sex", ""),
    "airquality": ("datasets", "airquality", "Ozone", "Month", "Day"),
    "chick": ("datasets", "ChickWeight", "weight", "Diet", "Chick"),
    "infert": ("datasets", "infert", "case", "education", "stratum pooled.stratum"),
    "quakes": ("datasets", "quakes", "mag", "", ""),
    "ionosphere": ("mlbench", "Ionosphere", "Class", "", ""),
    "ozone": ("mlbench", "Ozone", "V4", "", ""),
    "diabetes": ("mlbench", "PimaIndiansDiabetes2", "diabetes", "", ""),
    "sonar": ("mlbench", "Sonar", "Class", "", ""),
    "soybean": ("mlbench", "Soybean", "Class", "", ""),
    "vehicle": ("mlbench", "Vehicle", "Class", "", ""),
    "votes": ("mlbench", "HouseVotes84", "Class", "", ""),
    "vowel": ("mlbench", "Vowel", "Class", "", "V1"),
    "affairs": ("AER", "Affairs", "affairs", "gender", ""),
    "caschools": ("AER", "CASchools", "math", "grades", "district school read county"),
    "creditcard": ("AER", "CreditCard", "card", "", "expenditure share"),
    "doctor": ("AER", "DoctorVisits", "visits", "private", ""),
    "guns": ("AER", "Guns", "violent", "", "state murder robbery"),
    "hmda": ("AER", "HMDA", "deny", "", ""),
    "houseprices": ("AER", "HousePrices", "price", "prefer", ""),
    "nmes": ("AER", "NMES1988", "visits", "region", "nvisits ovisits novisits emergency hospital"),
    "phd": ("AER", "PhDPublications", "articles", "gender", ""),
    "participation": ("AER", "PSID1976", "participation", "", "hours wage repwage hhours"),
    "recreation": ("AER", "RecreationDemand", "trips", "ski", ""),
    "swisslabor": ("AER", "SwissLabor", "participation", "foreign", ""),
    "teaching": ("AER", "TeachingRatings", "eval", "division", "prof"),
    "wages": ("AER", "CPS1985", "wage", "sector", ""),
    "spam": ("kernlab", "spam", "type", "", ""),
    "ames": ("modeldata", "ames", "Sale_Price", "", ""),
    "concrete": ("modeldata", "concrete", "compressive_strength", "", ""),
    "credit": ("modeldata", "credit_data", "Status", "Home", ""),
    "meats": ("modeldata", "meats", "fat", "", "water protein"),
    "oils": ("modeldata", "oils", "class", "", ""),
    "penguins": ("modeldata", "penguins", "species", "island", ""),
    "sacramento": ("modeldata", "Sacramento", "price", "type", "zip"),
    "churn": ("modeldata", "mlc_churn", "churn", "area_code", ""),
    "mpg": ("ggplot2", "mpg", "hwy", "year", "cty model drv"),
    "grouse": ("lme4", "grouseticks", "TICKS", "YEAR", "INDEX BROOD cHEIGHT"),
    "verbagg": ("lme4", "VerbAgg", "r2", "situ", "item id resp"),
    "hsb": ("mlmRev", "Hsb82", "mAch", "sector", "school cses"),
    "wine": ("scikit-learn", "wine", "target", "", ""),
    "breast": ("scikit-learn", "breast_cancer", "target", "", ""),
    "iris": ("scikit-learn", "iris", "target", "", ""),
    "progression": ("scikit-learn", "diabetes", "target", "", ""),
}
COUNTS = {"epil", "quine", "affairs", "doctor", "nmes", "phd", "recreation", "grouse"}
MOST, SITES = 3000, 4


def load(package, table, folder):
    if package == "scikit-learn":
        d = getattr(datasets, "load_" + table)(as_frame=True).frame
        return d if table == "diabetes" else d.assign(target=d.target.map(lambda v: f"class{v}"))
    path = f"{folder}/{package}-{table}.csv"
    if not os.path.exists(path):
        script = f'data(list="{table}", package="{package}"); write.csv(get("{table}"), "{path}", row.names=FALSE, na="")'
        subprocess.run(["Rscript", "-e", script], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def divide(d, target, column, rng):
    """The rows of each site: of the levels of a column, or along the first principal component."""
    if column:
        levels = d[column].astype(str).value_counts().index[:6]
        sites = [np.flatnonzero(d[column].astype(str) == v) for v in levels]
        return [s for s in sites if len(s) >= 15]
    x = d.drop(columns=target).select_dtypes("number")
    z = ((x - x.mean()) / x.std().replace(0, 1)).fillna(0).to_numpy()
    first = np.linalg.svd(z, full_matrices=False)[0][:, 0] if z.shape[1] else np.zeros(len(d))
    return np.array_split(np.argsort(first + (0.5 * first.std() + 1e-9) * rng.normal(size=len(d))), SITES)


def prepare(x):
    """Numbers standardized, with a mark where one is missing; words as indicators of those of five rows."""
    words = [c for c in x if not pd.api.types.is_numeric_dtype(x[c])]
    numbers = [c for c in x if c not in words]
    parts = [("numbers", pipeline.make_pipeline(impute.SimpleImputer(add_indicator=True), preprocessing.StandardScaler()), numbers)]
    if words:
        known = pipeline.make_pipeline(impute.SimpleImputer(strategy="constant", fill_value="missing"),
                                       preprocessing.OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5))
        parts.append(("words", known, words))
    return compose.ColumnTransformer(parts, sparse_threshold=0)


def more(kind):
    """Linear models of fixed penalties."""
    if kind == "number":
        return {"ridge 1": linear_model.Ridge(), "lasso 1": linear_model.Lasso(), "none": linear_model.Ridge(1e-6)}
    if kind == "count":
        poisson = lambda a: linear_model.PoissonRegressor(alpha=a, max_iter=2000)
        return {"1": poisson(1), "0.1": poisson(0.1), "none": poisson(1e-6)}
    logistic = lambda **a: linear_model.LogisticRegression(max_iter=2000, **a)
    return {"C 1": logistic(), "l1": logistic(penalty="l1", solver="saga", tol=1e-3), "none": logistic(C=1e4)}


def measure(program, folder, name, seed):
    package, table, target, column, drop = TABLES[name]
    rng = np.random.default_rng(seed)
    d = load(package, table, folder).drop(columns=drop.split())
    d = d[d[target].notna()].reset_index(drop=True)
    if len(d) > MOST:
        d = d.iloc[rng.choice(len(d), MOST, replace=False)].reset_index(drop=True)
    kind = "count" if name in COUNTS else "number" if pd.api.types.is_numeric_dtype(d[target]) and d[target].nunique() > 10 else "class"
    if kind == "class":
        d[target] = d[target].map(lambda v: f"class {v}")
        d = d[d[target].map(d[target].value_counts()) >= 15].reset_index(drop=True)
    at = f"{folder}/{name}-{seed}"
    os.makedirs(at, exist_ok=True)
    train, judge = [], []
    sites = divide(d, target, column, rng)
    for k, rows in enumerate(sites):
        rows = rng.permutation(rows)
        cut = round(0.3 * len(rows))
        judge.append(d.iloc[rows[:cut]])
        train.append(d.iloc[rows[cut:]])
        judge[-1].drop(columns=target).to_csv(f"{at}/judge{k}.csv", index=False)
        train[-1].to_csv(f"{at}/site{k}.csv", index=False)
    x, new = pd.concat(train), pd.concat(judge)
    y, truth = x.pop(target).to_numpy(), new.pop(target).to_numpy()
    losses = {"dsbo": made.tune(program, at, kind, truth, target, [f"judge{k}.csv" for k in range(len(sites))])}
    f = prepare(x)
    a, b = f.fit_transform(x), f.transform(new)
    for peer, m in {**made.peers(a, y, kind), **more(kind)}.items():
        m.fit(a, y)
        p = m.predict_proba(b) if kind == "class" else m.predict(b)
        losses[peer] = made.loss(kind, truth, p, getattr(m, "classes_", ()))
    return len(x), len(sites), losses


def main(program, folder, seeds, *names):
    os.makedirs(folder, exist_ok=True)
    print("table,rows,sites,dsbo,best linear,its name,boosting,of the linear,of boosting", flush=True)
    ratios = []
    for name in names or TABLES:
        try:
            found = [measure(program, folder, name, seed) for seed in range(1, int(seeds) + 1)]
        except subprocess.CalledProcessError as e:
            print(f"{name}: {e.stderr or e}", file=sys.stderr, flush=True)
            continue
        mean = {k: np.mean([losses[k] for _, _, losses in found]) for k in found[0][2]}
        best = min((k for k in mean if k not in ("dsbo", "boosting")), key=mean.get)
        ratios.append((mean["dsbo"] / mean[best], mean["dsbo"] / mean["boosting"]))
        print(f"{name},{found[0][0]},{found[0][1]},{mean['dsbo']:.4f},{mean[best]:.4f},{best},{mean['boosting']:.4f},"
              f"{ratios[-1][0]:.3f},{ratios[-1][1]:.3f}", flush=True)
    if ratios:
        print("geometric mean,,,,,,,%.3f,%.3f" % tuple(np.exp(np.log(ratios).mean(0))))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
