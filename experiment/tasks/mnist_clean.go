package tasks

import (
	"fmt"
	"slices"
	"strings"

	"dsbo"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/plan"
	"dsbo/models"
)

// cleaning names the models that weigh training examples by the trust in their labels.
var cleaning = []string{"hyperclean", "hyperclean-mlp"}

// checkMislabel checks -mislabel.
func (t *mnist) checkMislabel() error {
	if !(t.mislabel >= 0 && t.mislabel < 1) {
		return dsbo.ConfigErrorf("-mislabel must be at least 0 and below 1; it is %v", t.mislabel)
	}
	return nil
}

// withMislabels makes a share of the training labels of the agents in this process wrong, and
// keeps which.
func (t *mnist) withMislabels(task data.Task, a experiment.Agents) (data.Task, error) {
	t.wrong = make([][]int, len(task.Shards))
	if t.mislabel == 0 {
		return task, nil
	}
	task.Shards = slices.Clone(task.Shards)
	for i, s := range task.Shards {
		if s.Train.Len() == 0 {
			continue // it is not here
		}
		var err error
		if task.Shards[i].Train, t.wrong[i], err = data.Mislabel(s.Train, t.mislabel, a.Seed, i); err != nil {
			return task, err
		}
	}
	return task, nil
}

// Finish reports how many of the wrong labels the trust in examples has found, if the task made
// labels wrong. It also reports the quality of the model that is trained on the validation examples
// too, whose labels are right.
func (t *mnist) Finish(f experiment.FinishedRun) error {
	if t.detectionNumbers() == 0 {
		return nil
	}
	if err := t.noteDetections(f); err != nil {
		return err
	}
	all, m, err := t.withValidation()
	if err != nil {
		return err
	}
	x, trained := slices.Repeat([]float64{fullTrust}, all.TrainRows()), t.loaded.TrainRows()
	copy(x, f.X[:trained])
	solved, err := f.Solve(all, m, x)
	if err != nil {
		return err
	}
	f.Note("Trained on the validation examples too, beside these weights, the model has test accuracy %.2f %%.",
		100*float64(solved.TestAccuracy))
	return nil
}

// fullTrust is an x whose weight is 1 but for the last digits.
const fullTrust = 40

// withValidation returns the data with the validation examples of each agent behind its training
// examples, and the model of these: IDs of validation examples follow the labels of all
// training examples.
func (t *mnist) withValidation() (all data.Task, m models.Model, err error) {
	all = t.loaded
	all.Shards = slices.Clone(all.Shards)
	size, first := t.sizeWithValidation(), t.loaded.TrainRows()
	validation := (size.Examples - first) / len(all.Shards)
	for i, s := range all.Shards {
		if s.Train.Len() == 0 {
			continue // it is not here
		}
		if all.Shards[i].Train, err = data.Join(s.Train, s.Val, first+i*validation); err != nil {
			return all, nil, err
		}
	}
	all.AllTrainRows = size.Examples
	m, err = models.ByName(t.model, size)
	return all, m, err
}

// sizeWithValidation returns the size of the model of all examples. All agents have as many
// validation examples.
func (t *mnist) sizeWithValidation() models.Size {
	size, shards := t.size, t.loaded.Shards
	here := slices.IndexFunc(shards, func(s data.Shard) bool { return s.Val.Len() > 0 })
	size.Examples += len(shards) * shards[here].Val.Len()
	return size
}

// noteDetections reports the number of wrong labels found.
func (t *mnist) noteDetections(f experiment.FinishedRun) error {
	sums := make([]float64, t.detectionNumbers())
	err := f.Collective.Sum(sums, func(i int, part []float64) error {
		wrong := map[int]bool{}
		for _, row := range t.wrong[i] {
			wrong[row] = true
		}
		for row, id := range t.loaded.Shards[i].Train.ID {
			part[detection(wrong[row], f.X[id] < 0)]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	f.Note("%s", detections(sums).String())
	return nil
}

// Ending is the task's.
func (t *mnist) Ending() (e plan.Ending) {
	if n := t.detectionNumbers(); n > 0 {
		e.Sums = []plan.Quantity{plan.Sum("counts of labels", n, plan.Once)}
		if m, err := models.ByName(t.model, t.sizeWithValidation()); err == nil {
			e.X, e.Model = m.Dims()
			e.Solves = 1
		}
	}
	return e
}

// detectionNumbers returns the length of the sum of detections, 0 where there are none.
func (t *mnist) detectionNumbers() int {
	if t.mislabel > 0 && slices.Contains(cleaning, t.model) {
		return 4
	}
	return 0
}

// detection returns the entry of [detections] of a label that is wrong or not and is found to be
// or not.
func detection(wrong, found bool) (entry int) {
	if wrong {
		entry = 2
	}
	if found {
		entry++
	}
	return entry
}

// detections are the numbers of right labels that are trusted and that are not, and of wrong labels
// that are trusted and that are not.
type detections []float64

// f1 returns the harmonic mean of precision and recall, of numbers that are rightly named and
// others that are wrongly named or left out; 1 where there is nothing to name.
func f1(named, wrongly, left float64) float64 {
	if named+wrongly+left == 0 {
		return 1
	}
	return 2 * named / (2*named + wrongly + left)
}

// String returns the sentence for people. Found is where the weight of an example is below that at
// the start, ½.
func (d detections) String() string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"Of %.0f wrong training labels %.0f are found (weight below ½), and of %.0f right ones %.0f are taken "+
			"for wrong: ",
		d[2]+d[3], d[3], d[0]+d[1], d[1])
	fmt.Fprintf(&b, "F1 of wrong labels %.2f %%, of right ones %.2f %%.", 100*f1(d[3], d[1], d[2]),
		100*f1(d[0], d[2], d[1]))
	return b.String()
}
