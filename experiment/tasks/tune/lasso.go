package tune

import (
	"fmt"
	"strconv"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/candidates"
	"dsbo/runs"
	"dsbo/tables/features"
)

// Values of -penalty, and of -lambda.
const (
	lasso    = "l1"
	elastic  = "elastic"
	leastOne = "min"
	oneError = "1se"
)

// lassoFlags are the flags of a lasso or an elastic net.
type lassoFlags struct {
	ratio  string // α, or auto
	lambda string // rule for λ
}

// wantsLasso reports whether the flags ask for a lasso or an elastic net.
func wantsLasso(t *tune) bool { return t.penalty == lasso || t.penalty == elastic }

// wantedLasso returns what is asked of it; nil: none is asked for.
func wantedLasso(t *tune) *candidates.Lasso {
	if !wantsLasso(t) {
		return nil
	}
	l := &candidates.Lasso{Ratio: 1, OneError: t.lasso.lambda == oneError}
	if t.penalty == elastic {
		l.Ratio, _ = strconv.ParseFloat(t.lasso.ratio, 64) // which Check has read; 0 of auto
	}
	return l
}

// checkLasso checks the flags.
func checkLasso(t *tune) error {
	if !wantsLasso(t) {
		if t.lasso != (lassoFlags{"0.5", leastOne}) {
			return dsbo.ConfigErrorf("-l1-ratio and -lambda must come with -penalty l1 or elastic; -penalty is %s",
				t.penalty)
		}
		return nil
	}
	ratio, err := strconv.ParseFloat(t.lasso.ratio, 64)
	switch {
	case t.penalty == lasso && t.lasso.ratio != "0.5":
		return dsbo.ConfigErrorf("-l1-ratio must come with -penalty elastic; that of l1 is 1")
	case t.lasso.ratio != auto && !(err == nil && ratio > 0 && ratio < 1):
		return dsbo.ConfigErrorf("-l1-ratio must be auto, or above 0 and below 1; it is %s", t.lasso.ratio)
	case t.lasso.lambda != leastOne && t.lasso.lambda != oneError:
		return dsbo.ConfigErrorf("-lambda must be min or 1se; it is %s", t.lasso.lambda)
	case t.model != "" && t.model != linear:
		return dsbo.ConfigErrorf("-model must be linear with -penalty %s; it is %s", t.penalty, t.model)
	case t.folds == "0":
		return dsbo.ConfigErrorf("-folds must be 2 to 100 with -penalty %s, whose λ they choose; it is 0", t.penalty)
	case t.from != "":
		return dsbo.ConfigErrorf("-from must be left out with -penalty %s, whose path begins with no weight at all",
			t.penalty)
	}
	return nil
}

// tellPenalties writes λ by name. For a lasso it also writes the path, in glmnet's λ, and lists the
// kept model's features.
func tellPenalties(t *tune, f experiment.FinishedRun, a *runs.Assessment, all []runs.Penalty) error {
	if err := f.Folder.WriteLambdaTable(all); err != nil || f.Lasso == nil {
		return err
	}
	unit, l, target := 1.0, f.Lasso, t.prepared.Recipe.Target
	if target.Kind == features.Value {
		unit = target.Deviation
	}
	told := &runs.KeptFeatures{Of: l.Of, Lambda: float64(l.Lambda * unit), Ratio: l.Ratio}
	for _, p := range all {
		if p.Kept {
			told.Names = append(told.Names, p.Name)
		}
	}
	a.Lasso = told
	glmnet := fmt.Sprintf("; glmnet's lambda is %.6g, its alpha %.4g", told.Lambda, told.Ratio)
	if target.Kind == features.Value && t.loss != squared { // which glmnet does not have
		glmnet = ""
	}
	f.Note("The kept model has %d of %d features (lambda.csv)%s.", len(told.Names), told.Of, glmnet)
	text := []byte("lambda,loss,error,nonzero\n")
	for _, at := range l.Path {
		text = fmt.Appendf(text, "%.10g,%.10g,%.10g,%.4g\n", at.Lambda*unit, float64(at.Loss), float64(at.Error),
			at.Nonzero)
	}
	return f.Folder.WriteFile(runs.PathFile, text)
}
