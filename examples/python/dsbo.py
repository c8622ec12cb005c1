"""Read what a run of dsbo leaves, predict with its model, and fit one from Python.

    import dsbo
    run = dsbo.Run("model")                     # a run folder
    run.curves["test_loss"], run.penalties      # arrays; run.frame() is a pandas DataFrame
    run.model.predict(dsbo.read_csv("new.csv"))

    dsbo.DsboClassifier().fit(X, y).predict_proba(X)
    dsbo.DsboRegressor().fit(X, y, sites=hospital)
    dsbo.DsboSurvival().fit(X, y).predict_survival(X, [12, 24])  # y: events and times, as scikit-survival's

It needs Python 3.9 and NumPy. Where scikit-learn can be imported, the estimators are its own: they go
into pipelines, grids and cross-validation. Fitting calls the program dsbo (go install ./cmd/dsbo).
"""

import ast
import csv
import datetime
import inspect
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
except ImportError:  # as much of them as is needed here

    class NotFittedError(ValueError, AttributeError):
        pass

    class DataConversionWarning(UserWarning):
        pass

    class BaseEstimator:
        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params):
            for name, value in params.items():
                if name not in self.get_params():
                    raise ValueError(f"invalid parameter {name!r} of {type(self).__name__}")
                setattr(self, name, value)
            return self

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    class ClassifierMixin:
        def score(self, X, y, sample_weight=None):
            """Return the share of right answers."""
            return np.average(self.predict(X) == np.asarray(y), weights=sample_weight)

    class RegressorMixin:
        def score(self, X, y, sample_weight=None):
            """Return R²."""
            y = np.asarray(y, float)
            left = np.average((y - self.predict(X)) ** 2, weights=sample_weight)
            return 1 - left / np.average((y - np.average(y, weights=sample_weight)) ** 2, weights=sample_weight)


# What stands for a missing value in files, unless a model has other words.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "null", "NULL", "#NULL!", "None", "?", "-",
           "--", ".")


class Run:
    """A run folder: config, summary and assessment are the JSON files as dicts, curves has an array for
    each number of metrics.jsonl (NaN where it was not measured), penalties is lambda.npy, and names its
    entries, if the run has names for them."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.config = self._json("config.json")
        self.summary = self._json("summary.json")
        self.assessment = self._json("assessment.json")
        with open(self.folder / "metrics.jsonl", encoding="utf-8") as lines:
            records = [_flat(json.loads(line)) for line in lines if line.endswith("\n")]
        names = dict.fromkeys(name for record in records for name in record)
        self.curves = {n: np.array([record.get(n, np.nan) for record in records], float) for n in names}

    @property
    def penalties(self):
        """λ, or whatever the run tuned: log-penalties are natural logarithms."""
        return np.load(self.folder / "lambda.npy")

    @property
    def names(self):
        """The names of the entries of penalties, None if they have none."""
        path = self.folder / "lambda.csv"
        if not path.exists():
            return None
        with open(path, encoding="utf-8", newline="") as file:
            return [_of_cell(row[0]) for row in list(csv.reader(file))[1:]]

    @property
    def model(self):
        """The model of a run over tables, of all sites: of those too that were not there."""
        return Model.read(self.folder)

    @property
    def own(self):
        """The models of the sites whose own level is here, by their numbers."""
        names = [path.name for path in self.folder.glob("own.site*.model.json")]
        return {int(n.split(".")[1][4:]): Model.read(self.folder, n) for n in names}

    def frame(self):
        """Return curves as a pandas DataFrame, by iteration."""
        import pandas

        return pandas.DataFrame(self.curves).set_index("iteration")

    def _json(self, name):
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _of_cell(cell):
    """Return the text of a cell, which has ' before a formula and is quoted with controls in it."""
    if cell.startswith('"'):
        return ast.literal_eval(cell)
    return cell[1:] if re.match("'+[=+@\t\r-]", cell) else cell


def _flat(record, before=""):
    """Return the numbers of a record, those of a record within it by both names with a dot between."""
    flat = {}
    for name, value in record.items():
        if isinstance(value, dict):
            flat.update(_flat(value, before + name + "."))
        else:
            flat[before + name] = np.nan if value is None else value
    return flat


class Model:
    """The model that a run of tables keeps: model.json and model.safetensors."""

    def __init__(self, description, weights):
        self.inputs = description["recipe"].get("inputs", [])
        self.target = description["recipe"]["target"]
        self.baseline = description.get("baseline")
        self.refuses_missing = description["recipe"].get("missing") == "refuse"
        self.missing_words = description["recipe"].get("missing_words", MISSING)
        if description["recipe"].get("sparse"):
            raise ValueError("models of sparse tables are for dsbo predict")
        self.layers = [
            (weights[f"layer{i}.weight"], weights.get(f"layer{i}.bias", 0), layer["unit"])
            for i, layer in enumerate(description["layers"])
        ]

    @classmethod
    def read(cls, folder, name="model.json"):
        folder = Path(folder)
        description = json.loads((folder / name).read_text(encoding="utf-8"))
        return cls(description, read_safetensors(folder / description["weights"]["file"]))

    @property
    def classes(self):
        """The names of classes, None of a model of numbers or counts."""
        return self.target.get("classes")

    def features(self, columns):
        """Return the model's inputs, a row for each row of columns: a DataFrame, or a dict of sequences."""
        parts = []
        for c in self.inputs:
            if "dropped" in c:
                continue
            if c["name"] not in columns:
                raise ValueError(f"column {c['name']} is missing, and the model needs it")
            gone = ("", *map(str.strip, c.get("missing_words", self.missing_words)))
            column = [v.strip() if isinstance(v, str) else v for v in columns[c["name"]]]
            column = [None if _is_missing(v, gone) else v for v in column]
            if c["kind"] == "word":
                values = np.array([None if v is None else str(v) for v in column], object)
                missing = np.array([v is None for v in values], bool)
                known = [values == word for word in c["words"]] if "words" in c else []
                parts += known
                if "rare" in c:
                    parts.append(~missing & ~np.any(known, axis=0) if known else ~missing)
            else:
                try:
                    values = _times(column, c["unit"]) if c["kind"] == "time" else _numbers(column, c.get("unit", ""))
                except ValueError as e:
                    raise ValueError(f"column {c['name']} must have a {c['kind']} or nothing in each row: {e}") from None
                if abs(c.get("mean", 0)) <= 2**14 * c["deviation"]:
                    values = values.astype(np.float32).astype(float)  # as dsbo rounds them
                missing = np.isnan(values)
                parts.append(np.where(missing, 0, (values - c.get("mean", 0)) / c["deviation"]))
            if "indicator" in c:
                parts.append(missing)
            if self.refuses_missing and missing.any():
                raise ValueError(f"column {c['name']}: a value is missing, which the model was trained to refuse")
        return np.column_stack(parts).astype(float)

    def outputs(self, columns):
        """Return what the last layer makes of rows, a column for each class."""
        h = self.features(columns)
        for weight, bias, unit in self.layers:
            h = h @ weight.T + bias
            h = {"tanh": np.tanh, "relu": lambda v: np.maximum(v, 0)}.get(unit, lambda v: v)(h)
        return h

    def predict_proba(self, columns):
        """Return the probability of each class, row by row."""
        h = self.outputs(columns)
        h = np.exp(h - h.max(axis=1, keepdims=True))
        return h / h.sum(axis=1, keepdims=True)

    def predict(self, columns):
        """Return the likeliest classes, or the values, or the means of counts, or the hazards beside the mean row's."""
        kind = self.target["kind"]
        if kind == "class":
            return np.array(self.classes, object)[self.predict_proba(columns).argmax(axis=1)]
        out = self.outputs(columns)[:, 0]
        if kind == "count":
            return np.minimum(np.exp(out), self.target.get("most", np.inf))
        if kind == "survival":
            return np.exp(out)
        return out * self.target["deviation"] + self.target.get("mean", 0)

    def predict_survival(self, columns, times):
        """Return the probability of no event up to each of times, a row for each row of columns, as dsbo predict -at."""
        edges = self.baseline["edges"] if self.baseline else [0]
        times = np.atleast_1d(np.asarray(times, float))
        if len(edges) < 2 or self.target["kind"] != "survival":
            raise ValueError("the model has no baseline hazard: it must be one of survival times with enough rows at risk")
        if not ((times >= 0) & (times <= edges[-1])).all():
            raise ValueError(f"times must be 0 to {edges[-1]:g}, up to where enough rows were at risk; they are {times}")
        return np.exp(-np.outer(self.predict(columns), np.interp(times, edges, self.baseline["cumulative"])))


def _is_missing(value, words=MISSING):
    if isinstance(value, str):
        return value in words
    return value is None or type(value).__name__ == "NAType" or value != value  # pandas.NA is neither


def _times(values, unit):
    """Return times in a unit since 1970, NaN for None."""
    values = ["NaT" if v is None else str(v).rstrip("Z") if isinstance(v, str) else v for v in values]
    nanoseconds = np.array(values, "datetime64[ns]")
    per = {"day": 86400e9, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
    return np.where(np.isnat(nanoseconds), np.nan, nanoseconds.astype("int64") / per)


def _numbers(values, mark):
    """Return numbers, NaN for None; texts may have a mark such as %, and then groups of digits."""

    def plain(text):
        text = text.replace(mark, "").replace("−", "-").strip()
        return text.replace(",", "") if mark and re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", text) else text

    return np.array([np.nan if v is None else float(plain(v) if isinstance(v, str) else v) for v in values])


def read_csv(path, delimiter=","):
    """Return the columns of a file, by name, as lists of words: what Model.predict takes."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file, delimiter=delimiter)
    return {name.strip(): [row[i].strip() for row in rows] for i, name in enumerate(head)}


def read_safetensors(path):
    """Return the arrays of a file, by name."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    arrays = {}
    for name, tensor in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            first, end = tensor["data_offsets"]
            kind = {"F64": "<f8", "F32": "<f4"}[tensor["dtype"]]
            arrays[name] = np.frombuffer(data[8 + length :][first:end], kind).reshape(tensor["shape"])
    return arrays


class _Estimator(BaseEstimator):
    """What the estimators share. options are more flags of dsbo tune, such as ("-penalty", "feature"),
    and program is the path of dsbo, which is $DSBO or stands in $PATH."""

    def __init__(self, model="linear", seed=1, options=(), program=None):
        self.model = model
        self.seed = seed
        self.options = options
        self.program = program

    def _fit(self, X, y, sites, task, words, events=None):
        """Fit by one table a site, and keep the model, the summary and the assessment of the run."""
        names, columns = _table(X)
        self.n_features_in_ = len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        rows = len(columns[0])
        if len(y) != rows:
            raise ValueError(f"inconsistent numbers of samples: X has {rows}, y {len(y)}")
        if rows < 2:
            raise ValueError(f"n_samples={rows}: there must be more")
        self._names = _file_names(names, len(columns))
        target, event = "target", "event"
        while target in self._names:
            target += "_"
        while event in self._names:
            event += "_"
        sites = np.zeros(rows) if sites is None else np.asarray(sites)
        if sites.shape != (rows,):
            raise ValueError(f"sites must have a site for each of {rows} rows; its shape is {sites.shape}")
        labels = np.unique(sites)
        with tempfile.TemporaryDirectory() as folder:
            for i, label in enumerate(labels):
                with open(Path(folder, f"site{i}.csv"), "w", encoding="utf-8", newline="") as file:
                    out = csv.writer(file)
                    out.writerow([*self._names, target, event][: None if events is not None else -1])
                    for r in np.flatnonzero(sites == label):
                        out.writerow([*(_cell(c[r]) for c in columns), words[y[r]] if words else repr(float(y[r])),
                                      *([] if events is None else [int(events[r])])])
            flags = ["-data=site{agent}.csv", f"-target={target}", f"-task={task}", f"-agents={len(labels)}",
                     f"-model={self.model}", f"-seed={self.seed}", "-out=run", "-report=false", "-quiet",
                     "-rare-classes=drop" if events is None else f"-event={event}"]
            texts = [n for n, c in zip(self._names, columns) if c.dtype == object]
            if texts:
                flags.append("-words=" + ",".join(texts))
            try:
                _call([_program(self.program), "tune", *flags, *map(str, self.options)], folder)
            except ValueError as e:
                raise ValueError(f"{e} (n_samples={rows}, n_features={len(columns)})") from None
            run = Run(Path(folder, "run"))
            self.model_, self.summary_, self.assessment_ = run.model, run.summary, run.assessment
            given = dict(zip(self._names, names or self._names))
            dropped = [f"{given[i['name']]} ({i['dropped']})" for i in self.model_.inputs if "dropped" in i]
            if dropped:
                warnings.warn(f"nothing is learned from {', '.join(dropped)}")
            self.own_ = {labels[i]: model for i, model in run.own.items()}
        return self

    def _each(self, X, sites, of):
        """Return what of makes of each row by the model of its site, or by that of all sites for a new one."""
        columns = self._columns(X)
        made = of(self.model_, columns)
        if sites is not None and np.shape(sites) != (len(made),):
            raise ValueError(f"sites must have a site for each of {len(made)} rows; its shape is {np.shape(sites)}")
        for label, own in self.own_.items() if sites is not None else ():
            here = np.asarray(sites) == label
            made[here] = of(own, columns)[here]
        return made

    def _columns(self, X):
        """Return the columns of X by the names that the model has for them."""
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")
        names, columns = _table(X)
        self._check_names(names)
        if len(columns) != self.n_features_in_:
            raise ValueError(f"X has {len(columns)} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return dict(zip(self._names, columns))

    def _check_names(self, names):
        """Compare the names of columns with those of fit, in scikit-learn's words."""
        fitted, own = getattr(self, "feature_names_in_", None), type(self).__name__
        if fitted is None and names is None or fitted is not None and names == list(fitted):
            return
        if fitted is None:
            warnings.warn(f"X has feature names, but {own} was fitted without feature names")
        elif names is None:
            warnings.warn(f"X does not have valid feature names, but {own} was fitted with feature names")
        else:
            text = "The feature names should match those that were passed during fit.\n"
            unseen, gone = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
            for what, some in ("unseen at fit time", unseen), ("seen at fit time, yet now missing", gone):
                text += f"Feature names {what}:\n" * bool(some) + "".join(f"- {n}\n" for n in some[:5])
            if not unseen and not gone:
                text += "Feature names must be in the same order as they were in fit.\n"
            raise ValueError(text)

    def _more_tags(self):
        return {"allow_nan": True}  # until scikit-learn 1.5

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class DsboClassifier(ClassifierMixin, _Estimator):
    """A classifier whose penalties dsbo tunes, over the rows of one site or of several.

    After fit, classes_ has the classes, model_ the Model, summary_ and assessment_ what the run says."""

    def fit(self, X, y, sites=None):
        """Fit to rows X with classes y. sites says of each row where it lies; None: all in one place."""
        y = _target(y)
        if y.dtype.kind == "f" and (y != np.floor(y)).any():
            raise ValueError("Unknown label type: continuous")
        self.classes_, places = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y must have more than 1 class; it has one class")
        self._words = [f"class {k}" for k in range(len(self.classes_))]  # a text may be empty, or end in blanks
        self._fit(X, places, sites, "classification", self._words)
        rare = [str(c) for c, word in zip(self.classes_, self._words) if word not in self.model_.classes]
        if rare:
            warnings.warn(f"no site has 5 rows of {', '.join(rare)}: these rows were left out")
        return self

    def predict_proba(self, X, sites=None):
        """Return the probability of each of classes_, row by row. sites says where rows lie, whose level counts
        with options such as ["-site-effects=auto"]; without, and of others than in fit, it is that of all sites."""
        probabilities = self._each(X, sites, Model.predict_proba)
        known = {word: k for k, word in enumerate(self.model_.classes)}
        return np.column_stack([probabilities[:, known[w]] if w in known else np.zeros(len(probabilities))
                                for w in self._words])

    def predict(self, X, sites=None):
        """Return the likeliest class of each row, see predict_proba."""
        likeliest = self.predict_proba(X, sites).argmax(axis=1)
        return self.classes_[likeliest]


class DsboRegressor(RegressorMixin, _Estimator):
    """A regression whose penalties dsbo tunes, over the rows of one site or of several.

    After fit, model_ has the Model, summary_ and assessment_ what the run says."""

    def fit(self, X, y, sites=None):
        """Fit to rows X with numbers y. sites says of each row where it lies; None: all in one place."""
        return self._fit(X, np.asarray(_target(y), float), sites, "regression", None)

    def predict(self, X, sites=None):
        """Return the number that each row has. sites is as in DsboClassifier.predict_proba."""
        return self._each(X, sites, Model.predict)


class DsboSurvival(_Estimator):
    """Cox's model of survival times, a stratum for each site, whose penalties dsbo tunes.

    After fit, model_ has the Model, summary_ and assessment_ what the run says."""

    def fit(self, X, y, sites=None):
        """Fit to rows X with y as scikit-survival has it: an array of two fields, events and times."""
        y = np.asarray(y)
        if y.dtype.names is None or len(y.dtype.names) != 2 or y.ndim != 1:
            raise ValueError("y must be an array of two fields, whether there was an event and the time")
        event, time = (y[name] for name in y.dtype.names)
        if not np.isin(event, (0, 1)).all():
            raise ValueError("the first field of y must be whether there was an event")
        return self._fit(X, _target(time.astype(float)), sites, "survival", None, event)

    def predict(self, X):
        """Return the hazard of each row beside the mean row's."""
        return Model.predict(self.model_, self._columns(X))

    def predict_survival(self, X, times):
        """Return the probability of no event up to each of times, a row for each row of X."""
        columns = self._columns(X)
        return self.model_.predict_survival(columns, times)


def _table(X):
    """Return the names of X's columns, None of an array, and the columns: float64, or objects that are words."""
    if hasattr(X, "toarray"):
        raise TypeError("sparse input is not supported: a dense array is required")
    if hasattr(X, "columns") and hasattr(X, "iloc"):
        names = list(X.columns) if all(isinstance(n, str) for n in X.columns) else None
        columns = [_column(X.iloc[:, i]) for i in range(X.shape[1])]
    else:
        X = np.asarray(X)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data either using "
                             "array.reshape(-1, 1) if it has one feature or array.reshape(1, -1) if it is one sample.")
        names, columns = None, list(X.astype(float).T)
    if not columns:
        raise ValueError(f"0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required.")
    if not len(columns[0]):
        raise ValueError(f"Found array with 0 sample(s) (shape={np.shape(X)}) while a minimum of 1 is required.")
    if any(c.dtype != object and np.isinf(c).any() for c in columns):
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    return names, columns


def _column(series):
    """Return a pandas column: numbers as float64, and times as seconds since 1970, NaN where there is none; all
    else as objects, which are words."""
    values, kind = series.to_numpy(object), getattr(series.dtype, "kind", "O")
    given = [v for v in values if not _is_missing(v)]
    if kind in "Mm" or given and all(isinstance(v, (datetime.date, np.datetime64)) for v in given):
        unit = "m8[ns]" if kind == "m" else "M8[ns]"
        times = series.to_numpy(unit) if kind in "Mm" else np.array([None if _is_missing(v) else v for v in values], unit)
        return np.where(np.isnat(times), np.nan, times.astype("int64") / 1e9)
    if kind in "biuf" or given and all(isinstance(v, Decimal) for v in given):
        return np.array([np.nan if _is_missing(v) else float(v) for v in values])
    return values


def _target(y):
    """Return y as an array of one axis, or raise ValueError."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected.", DataConversionWarning)
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity.")
    return y


def _file_names(names, count):
    """Return the names of columns for files: the user's, where a command line can list them."""
    plain = names is not None and len(set(names)) == count and all(re.fullmatch(r"\w[\w .()/%+-]*", n) for n in names)
    return list(names) if plain else [f"x{i}" for i in range(count)]


def _cell(value):
    return "" if _is_missing(value) else repr(float(value)) if isinstance(value, float) else str(value)


def _program(path):
    path = path or os.environ.get("DSBO") or shutil.which("dsbo")
    if not path:
        raise FileNotFoundError("the program dsbo is needed: go install ./cmd/dsbo, or set $DSBO to its path")
    return str(Path(path).resolve())


def _call(command, folder):
    """Run a command in a folder. What it refuses is a ValueError with its own words."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        error = ValueError if done.returncode == 2 else RuntimeError
        raise error(done.stderr.strip().rpartition("\n")[2] or f"dsbo ended with {done.returncode}")
