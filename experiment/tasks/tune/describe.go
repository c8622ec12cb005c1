package tune

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"dsbo/data"
	"dsbo/internal/wording"
	"dsbo/models"
	"dsbo/tables/features"
)

// describe is the task's Describe.
func (t *tune) describe(task data.Task, m models.Model) (map[string]any, string) {
	r, rows := t.prepared.Recipe, t.prepared.Rows
	what := wording.Count(task.Classes, "class")
	switch r.Target.Kind {
	case features.Value:
		what = "a number"
	case features.Counts:
		what = "a count"
	case features.Survival:
		e := t.prepared.Events
		what = fmt.Sprintf("the time until an event (%s)", wording.Count(int(e[0]+e[1]+e[2]), "event"))
	}
	settings := map[string]any{
		"model": t.taken, "target": r.Target.Name, "task": r.Target.Kind, "classes": r.Target.Classes,
		"event": t.event, "ties": t.ties, "features": task.Features,
		"features_sha256": digestOf(t.layering(layersOf(m)).names), "penalty": t.shared, "loss": t.loss,
		"blocks":  digestOf(append(t.blocks.Names, fmt.Sprint(t.blocks.Of))),
		"balance": t.balance, "train": rows[0], "val": rows[1], "test": rows[2],
	}
	if wantsLasso(t) {
		settings["l1_ratio"], settings["lambda"] = t.lasso.ratio, t.lasso.lambda
	}
	counts := "rows that nobody counts"
	if rows[0] > 0 {
		if counts = fmt.Sprintf("%d training, %d validation", rows[0], rows[1]); t.prepared.Folds > 0 { // the same rows
			counts = fmt.Sprint(rows[0], " training")
		}
		counts += fmt.Sprintf(" and %s together", wording.Count(rows[2], "test row"))
	}
	return settings, fmt.Sprintf("%s, %s of %s; %s; %s with %s", r.Target.Name, what,
		wording.Count(task.Features, "feature"), describeModel(m, t), wording.Count(t.sites, "site"), counts)
}

// describeModel describes the model of Load for people, with the penalties that it has in the end.
func describeModel(m models.Model, t *tune) string {
	p, q := m.Dims()
	folds, ok := m.(models.Folds)
	if !ok {
		return fmt.Sprintf("%s with %s and %s", t.taken, wording.Count(q, "weight"), wording.Count(p, "penalty"))
	}
	if t.shared == auto {
		p = folds.Of.Features
	}
	penalties := wording.Count(p, "penalty")
	if wantsLasso(t) {
		penalties = "the penalty " + t.penalty
	}
	text := fmt.Sprintf("linear with %s and %s, in %d folds", wording.Count(q/folds.Count, "weight"), penalties,
		folds.Count)
	if t.taken == auto {
		text += ", or a network of hidden units " + strings.Join(t.hidden.Sizes(), " or ")
	}
	return text
}

// digestOf returns a digest of a list of names, in place of a line in the settings for each. The
// names are in lambda.csv.
func digestOf(names []string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(names, "\n"))))
}

// layersOf returns the number of a model's layers.
func layersOf(m models.Model) int {
	if l, ok := m.(models.Layered); ok {
		return len(l.Layers())
	}
	return 1
}
