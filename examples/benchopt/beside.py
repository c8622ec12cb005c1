"""dsbo beside methods as others wrote them: classes of solvers of benchopt/benchmark_bilevel.

    python3 beside.py CLONE TASK [SECONDS]

CLONE is a clone of the benchmark at f3549c1, its last revision but for one whose solvers run on NumPy and
Numba alone, without JAX, which is stubbed here as benchopt is. TASK is quadratic, mnist (the
pickle that the benchmark makes of MNIST in this folder) or ijcnn1, which is drawn here with a fifth of its rows.
Steps are those that the benchmark's own search found (config/*_best_params.yml). SECONDS bounds the
processor time of each solver, 60 by default. Lines of stdout are CSV: task, solver, processor
seconds, then what the benchmark measures, whose time does not count.
"""
import importlib
import os
import resource
import sys
import time
import types
from unittest import mock

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[threads] = "1"
import numpy as np

RIVALS = {
    "quadratic": {
        "SOBA": dict(step_size=.1, outer_ratio=1., eval_freq=64, framework="none"),
        "SABA": dict(step_size=.1, outer_ratio=1., eval_freq=64, framework="none"),
        "AmIGO": dict(step_size=.01, outer_ratio=1., eval_freq=16, framework="none", n_inner_steps=10),
        "F2SA": dict(step_size=.1, outer_ratio=1., eval_freq=16, framework="none", lmbda0=1, delta_lmbda=.01),
    },
    "mnist": {
        "SOBA": dict(step_size=1., outer_ratio=1e-4, eval_freq=512, framework="none"),
        "SABA": dict(step_size=.1, outer_ratio=1e-3, eval_freq=512, framework="none"),
        "AmIGO": dict(step_size=.001, outer_ratio=1e-5, eval_freq=512, framework="none", n_inner_steps=10),
        "F2SA": dict(step_size=.1, outer_ratio=1e-4, eval_freq=64, framework="none", lmbda0=1., delta_lmbda=1.),
    },
    "ijcnn1": {
        "SOBA": dict(step_size=.03125, outer_ratio=.01, eval_freq=16384, framework="numba"),
        "SABA": dict(step_size=.125, outer_ratio=1., eval_freq=16384, framework="numba"),
        "AmIGO": dict(step_size=.125, outer_ratio=.31622776601683794, eval_freq=16384, framework="numba",
                      n_inner_steps=10),
        "F2SA": dict(step_size=.1, outer_ratio=1., eval_freq=2048, framework="numba"),
    },
}
DATASETS = {"quadratic": dict(n_samples_inner=32768, n_samples_outer=1024, dim_inner=100, dim_outer=10),
            "mnist": dict(ratio=.5), "ijcnn1": {}}


def main():
    clone, task, seconds = os.path.abspath(sys.argv[1]), sys.argv[2], float((sys.argv + ["60"])[3])
    sys.path.insert(0, clone)
    stub()
    dataset = instance(importlib.import_module(f"datasets.{task}").Dataset, **DATASETS[task])
    importlib.import_module("benchmark_utils.oracles").LogisticRegressionOracle.inner_var_star = solution
    objective = instance(importlib.import_module("objective").Objective)
    objective.set_data(**dataset.get_data())
    for name, parameters in RIVALS[task].items():
        module = importlib.import_module(f"solvers.{name.lower()}")
        record(task, name, objective, instance(module.Solver, **parameters), seconds)
    record_dsbo(task, objective, seconds)


def instance(kind, **parameters):
    """An object whose parameters are attributes, the first of each list by default, as benchopt makes it."""
    one = kind()
    for name, values in getattr(kind, "parameters", {}).items():
        setattr(one, name, parameters.get(name, values[0]))
    return one


def solution(oracle, x):
    """y* of a logistic loss, for what is measured, by Newton's method: the benchmark's L-BFGS stops far from it
    once penalties are as unlike as e^12 and e^-14."""
    y, penalty = np.zeros(oracle.X.shape[1]), np.exp(x)
    for _ in range(100):
        right = 1 / (1 + np.exp(oracle.y * (oracle.X @ y)))
        slope = penalty * y - oracle.X.T @ (oracle.y * right) / len(right)
        step = np.linalg.solve((oracle.X.T * (right * (1 - right))) @ oracle.X / len(right) + np.diag(penalty), slope)
        share, before = 1, oracle.get_value(y, x)
        while share > 1e-3 and oracle.get_value(y - share * step, x) > before:
            share /= 2
        y = y - share * step
        if np.linalg.norm(step) < 1e-12:
            break
    return y


def record(task, name, objective, solver, seconds):
    solver.set_objective(**objective.get_objective())
    solver.run_once = lambda n: solver.run(count(n))
    if hasattr(solver, "warm_up"):
        solver.warm_up()
    spent = [0., time.process_time()]

    def callback():
        spent[0] += time.process_time() - spent[1]
        show(task, name, spent[0], objective, **solver.get_result())
        spent[1] = time.process_time()
        return spent[0] < seconds

    solver.run(callback)


def count(n):
    left = iter(range(n))
    return lambda: next(left, None) is not None


def record_dsbo(task, objective, seconds):
    """Whole runs of 1, 2, 4, ... iterations, each with its start."""
    import dsbo
    told = objective.get_objective()
    kind, arrays = problem_of(task, told["f_train"](), told["f_val"]())
    problem = dsbo.Problem(kind, arrays, told["outer_var0"], told["inner_var0"])
    show(task, "dsbo", 0., objective, told["inner_var0"], told["outer_var0"], 0.)
    spent, k = 0., 1
    while spent < seconds and k <= 1024:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        x, y = problem.solve(k, "newtoncg", 1, [])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        show(task, "dsbo", spent, objective, y, x, 0.)
        k *= 2


def problem_of(task, inner, outer):
    if task == "quadratic":
        names = ("hess_inner", "hess_outer", "linear_inner", "linear_outer")
        levels = (("inner", inner), ("outer", outer))
        arrays = {f"{level}_{name}": getattr(oracle, name + "_full") for level, oracle in levels for name in names}
        return "quadratic", arrays | {level + "_cross": oracle.cross_mat_full for level, oracle in levels}
    arrays = {"x_train": inner.X, "t_train": inner.y, "x_val": outer.X, "t_val": outer.y}
    if task == "mnist":
        return "cleaning", arrays | {"ridge": inner.reg}
    return "logistic", arrays


def show(task, name, spent, objective, inner_var, outer_var, memory):
    found = objective.evaluate_result(inner_var, outer_var, memory)
    values = [f"{key} {value:.6g}" for key, value in found.items() if key != "memory"]
    print(task, name, f"{spent:.2f}", *values, sep=",", flush=True)


def drawn():
    """Data like ijcnn1's: ten indicators of which one is 1, twelve numbers, a tenth of the labels +1."""
    rng = np.random.default_rng(1)
    slopes, pairs = rng.normal(size=22), rng.normal(size=(22, 22)) / 5
    made = {}
    for name, rows in (("ijcnn1", 9998), ("ijcnn1_test", 18340)):
        x = np.hstack([np.eye(10)[rng.integers(10, size=rows)], rng.normal(size=(rows, 12)) / 3])
        score = x @ slopes + np.einsum("ri,ij,rj->r", x, pairs, x) + rng.logistic(size=rows) / 2
        made[name] = x, np.where(score > np.quantile(score, .9), 1., -1.)
    return made


def stub():
    """Stand-ins for what the classes import and do not need here."""
    benchopt = types.ModuleType("benchopt")
    base = type("Base", (), {})
    benchopt.BaseSolver = benchopt.BaseDataset = benchopt.BaseObjective = base
    benchopt.safe_import_context = mock.MagicMock
    criterion = types.ModuleType("benchopt.stopping_criterion")
    criterion.SufficientProgressCriterion = lambda **_: None
    svm = types.ModuleType("libsvmdata")
    svm.fetch_libsvm = lambda name: drawn()[name]
    sys.modules |= {"benchopt": benchopt, "benchopt.stopping_criterion": criterion, "libsvmdata": svm}
    for name in ("jax", "jax.lax", "jax.nn", "jax.numpy", "jax.random"):
        sys.modules[name] = mock.MagicMock()
    sys.modules["jax"].jit = lambda f=None, **_: f
    for name in ("numba", "numba.experimental"):
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = mock.MagicMock()


if __name__ == "__main__":
    main()
