package tasks_test

import (
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
)

// TestPlan: each task sends what its plan has.
func TestPlan(t *testing.T) {
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 90, 30))
	images := "-data=" + folder + " -agents=3 -train=15 -val=10 -K=2 "
	experimenttest.TestPlan(t, tasks.Synthetic(), "-p=5 -r=1 -agents=3 -K=2 -train=20 -val=20 -test=50")
	for _, args := range []string{"-model=mlp -hidden=4 -algorithm=adamcg -set=T=2 -set=N=2", "",
		"-wire=float64 -best-start", "-model=mlp -hidden=4", "-model=hyperclean -mislabel=0.3",
		"-model=hyperclean-mlp -hidden=4 -mislabel=0.5 -batch=10 -set=T=2 -set=N=2"}[:testkit.Sized(1, 3, 6)] {
		experimenttest.TestPlan(t, tasks.MNIST(), images+args)
	}
}
