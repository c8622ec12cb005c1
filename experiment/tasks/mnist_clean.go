package tasks

import (
	"fmt"
	"slices"

	"dsbo/data"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/models"
)

// cleaning names the models that weigh training examples by the trust in their labels.
var cleaning = []string{"hyperclean", "hyperclean-mlp"}

// mislabelTask makes a share of the training labels of the agents in this process wrong, and stores
// their rows in t.wrong.
func (t *mnist) mislabelTask(task *data.Task, seed uint64) (err error) {
	t.wrong, task.Shards = make([][]int, len(task.Shards)), slices.Clone(task.Shards)
	for i, s := range task.Shards {
		if t.mislabel > 0 && s.Train.Len() > 0 && err == nil { // it is here
			task.Shards[i].Train, t.wrong[i], err = data.Mislabel(s.Train, t.mislabel, seed, i)
		}
	}
	return err
}

// finish reports how many of the wrong labels the trust in examples has found, if the task made
// labels wrong. It also reports the quality of the model that is trained on the validation examples
// too, whose labels are right.
func (t *mnist) finish(f experiment.FinishedRun) error {
	if t.detectionNumbers() == 0 {
		return nil
	}
	err := t.noteDetections(f)
	if err != nil {
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

// fullTrust is an x for which the weight σ(x) of an example is 1 to rounding.
const fullTrust = 40

// withValidation returns the data with the validation examples of each agent appended to its
// training examples, and the model for them. The ID of an example is the index of its weight in x:
// training examples keep their IDs, and validation examples get the next ones, agent by agent.
// Agents in other processes have no examples here.
func (t *mnist) withValidation() (all data.Task, m models.Model, err error) {
	all = t.loaded
	all.Shards = slices.Clone(all.Shards)
	size, first := t.sizeWithValidation(), t.loaded.TrainRows()
	validation := (size.Examples - first) / len(all.Shards)
	for i, s := range all.Shards {
		if s.Train.Len() > 0 && err == nil { // an agent of this process
			all.Shards[i].Train, err = data.Join(s.Train, s.Val, first+i*validation)
		}
	}
	if all.AllTrainRows = size.Examples; err == nil {
		m, err = models.ByName(t.model, size)
	}
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

// noteDetections sums over all agents how many labels are wrong and how many are found to be wrong,
// and reports the result. A label is found to be wrong if its entry of x is negative, so that its
// example weighs less than ½.
func (t *mnist) noteDetections(f experiment.FinishedRun) error {
	sums := make([]float64, t.detectionNumbers())
	err := f.Collective.Sum("counts of labels", sums, func(i int, part []float64) error {
		for row, id := range t.loaded.Shards[i].Train.ID {
			part[detection(slices.Contains(t.wrong[i], row), f.X[id] < 0)]++
		}
		return nil
	})
	if err == nil {
		f.Note("%s", detectionText(sums))
	}
	return err
}

// ending is the task's Ending.
func (t *mnist) ending() (e site.Ending) {
	if n := t.detectionNumbers(); n > 0 {
		e.Sums = []site.Quantity{site.Sum("counts of labels", n, site.Once)}
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

// detection returns the index in a sum of detections for a label. Its entries are the counts of
// right labels that are trusted, right ones that are not, wrong ones that are trusted, and wrong
// ones that are not.
func detection(wrong, found bool) (entry int) {
	if wrong {
		entry = 2
	}
	if found {
		entry++
	}
	return entry
}

// f1 returns the harmonic mean of precision and recall, of numbers that are rightly named and
// others that are wrongly named or left out; 1 where there is nothing to name.
func f1(named, wrongly, left float64) float64 {
	if named+wrongly+left == 0 {
		return 1
	}
	return 2 * named / (2*named + wrongly + left)
}

// detectionText returns the sentence on a sum of detections. A label is found where the weight of
// its example is below that at the start, ½.
func detectionText(d []float64) string {
	return fmt.Sprintf(
		"Of %.0f wrong training labels %.0f are found (weight below ½), and of %.0f right ones %.0f are taken "+
			"for wrong: F1 of wrong labels %.2f %%, of right ones %.2f %%.",
		d[2]+d[3], d[3], d[0]+d[1], d[1], 100*f1(d[3], d[1], d[2]), 100*f1(d[0], d[2], d[1]))
}
