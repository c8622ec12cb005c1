"""dsbo in benchopt's benchmark of bilevel methods (benchopt/benchmark_bilevel), as a solver of it.

Copy this file to the benchmark's folder solvers, build the program with

    go build -o dsbo-benchopt .

in this folder, put it on PATH, and run

    benchopt run . -s dsbo -s SOBA -d simulated

It solves the tasks whose losses the program knows: simulated, mnist (data cleaning) and ijcnn1 with
reg_parametrization exp. Each point of a curve is a whole run of the program, with its start.
"""
import inspect
import json
import pathlib
import subprocess
import tempfile

from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion
import numpy as np


class Solver(BaseSolver):
    """Any method of dsbo, on agents that have equal parts of the examples."""

    name = "dsbo"
    stopping_criterion = SufficientProgressCriterion(patience=3, strategy="iteration")
    parameters = {
        "algorithm": ["newtoncg"],
        "agents": [1],
        "flags": [""],  # further ones of the program, such as "-batch 64 -set alpha=0.1"
    }

    def skip(self, f_inner, f_outer, **_):
        try:
            problem_of(f_inner, f_outer)
        except ValueError as e:
            return True, str(e)
        return False, None

    def set_objective(self, f_inner, f_outer, inner_var0, outer_var0, **_):
        kind, arrays = problem_of(f_inner, f_outer)
        self.problem = Problem(kind, arrays, np.asarray(outer_var0), np.asarray(inner_var0))

    def run(self, iterations):
        self.found = self.problem.solve(iterations, self.algorithm, self.agents, self.flags.split())

    def get_result(self):
        outer_var, inner_var = self.found
        return dict(inner_var=inner_var, outer_var=outer_var)


def problem_of(f_inner, f_outer):
    """The kind of a problem and its arrays, by the data that its losses close over."""
    inner, outer = closure(f_inner), closure(f_outer)
    if "hess_inner" in inner:
        return "quadratic", quadratic_arrays(inner, outer)
    dataset = inner.get("self")
    arrays = {"x_train": inner.get("X_train"), "t_train": inner.get("y_train"),
              "x_val": outer.get("X_val"), "t_val": outer.get("y_val")}
    if getattr(dataset, "reg_parametrization", None) == "exp" and np.ndim(arrays["t_train"]) == 1:
        return "logistic", arrays
    if isinstance(getattr(dataset, "reg", None), float) and np.ndim(arrays["t_train"]) == 2:
        return "cleaning", arrays | {"ridge": dataset.reg}
    raise ValueError("dsbo's program has no model of these losses")


def closure(f):
    """What a function closes over, below what JAX has made of it."""
    return inspect.getclosurevars(inspect.unwrap(f)).nonlocals


def quadratic_arrays(inner, outer):
    """The mean over samples of each array of a simulated problem."""
    names = ("hess_inner", "hess_outer", "cross", "linear_inner", "linear_outer")
    return {f"{level}_{name}": np.mean(data[name], axis=0)
            for level, data in (("inner", inner), ("outer", outer)) for name in names}


class Problem:
    """A folder with a problem, for the program."""

    def __init__(self, kind, arrays, x0, y0):
        self.kind, self.q_shape = kind, y0.shape
        self.folder = tempfile.TemporaryDirectory()
        arrays = dict(arrays)
        about = {"kind": kind, "p": x0.size, "q": y0.size, "ridge": arrays.pop("ridge", 0)}
        if kind != "quadratic":
            about |= {"train": len(arrays["x_train"]), "val": len(arrays["x_val"]),
                      "features": arrays["x_train"].shape[1]}
        if kind == "cleaning":  # labels for one-hot rows; the program's weights are a row a class
            self.shape = (about["features"], arrays["t_train"].shape[1])
            about["classes"] = self.shape[1]
            arrays |= {name: np.argmax(arrays[name], axis=1) for name in ("t_train", "t_val")}
            y0 = y0.reshape(self.shape).T
        for name, array in (arrays | {"x0": x0, "y0": y0}).items():
            np.ascontiguousarray(array, dtype="<f8").tofile(self.path(name + ".f64"))
        self.path("problem.json").write_text(json.dumps(about))

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def solve(self, iterations, algorithm, agents, flags):
        """x and y after some iterations, as the benchmark has them."""
        out = self.path(f"run-{iterations}")
        done = subprocess.run(
            ["dsbo-benchopt", "-data", self.folder.name, "-algorithm", algorithm, "-agents", str(agents),
             "-K", str(iterations), "-dtype", "float64", "-holdout", "0", "-evaluate", "off", "-rivals=false",
             "-report=false", "-eval-every", str(max(iterations, 1)), "-out", out, *flags],
            capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        x, y = np.load(out / "lambda.npy"), np.load(out / "omega.npy")
        if self.kind == "cleaning":
            y = y.reshape(self.shape[::-1]).T
        return x.reshape(-1), y.reshape(self.q_shape)
