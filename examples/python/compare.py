"""Tables of a comparison for a document, with paired t-tests: python3 compare.py FOLDER

FOLDER is what dsbo compare has left; its runs.csv has a line for each run. For each task there is a table
of means ± standard deviations over the seeds, and p of a paired t-test against the first line, as text
and as LaTeX (package booktabs). p is times the number of pairs of methods, by Bonferroni, as the first
line is chosen: of methods that are alike, one has p < 0.05 in at most 5 % of comparisons. A method that
has not finished with some seeds comes last, as its means are of other data. It needs pandas and SciPy;
LaTeX needs Jinja2 too from pandas 2 on.
"""

import math
import sys
from pathlib import Path

import pandas
from scipy import stats


def tables(runs, by="phi"):
    """Yield each task with its table: the methods at their best points, the lowest mean of by first."""
    for task, best in runs[runs.best & (runs.state == "finished")].groupby("task", sort=False):
        seeds = best.pivot(index="seed", columns="method", values=[by, "test_loss"])
        table = pandas.DataFrame({"seeds": seeds[by].count(), "mean": seeds[by].mean()})
        table = table.sort_values(["seeds", "mean"], ascending=[False, True]).drop(columns="mean")
        order, pairs = table.index, len(table) * (len(table) - 1) / 2
        for name in by, "test_loss":
            own = seeds[name][order]
            table[name] = [f"{m:.4g} ± {s:.2g}" for m, s in zip(own.mean(), own.std())]
            pairwise = (stats.ttest_rel(own[m], own[order[0]], nan_policy="omit").pvalue for m in order)
            table[f"p ({name})"] = [min(1, pairs * p) if math.isfinite(p) else math.nan for p in pairwise]
        yield task, table.join(best.groupby("method")[["megabytes", "calls_per_agent", "seconds"]].median())


if __name__ == "__main__":
    for task, table in tables(pandas.read_csv(Path(sys.argv[1], "runs.csv"))):
        print(f"{task}\n{table.to_string()}\n\n{table.to_latex(escape=True, float_format='%.3g')}")
