package tasks_test

import (
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
)

func TestMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("solves a problem of 800 numbers for every preset")
	}
	// One unit has a tenth of the default's weights, and few examples are solved in few products of
	// 7,840 numbers; records that solve the problem are proved by smaller tasks.
	folder := t.TempDir()
	testkit.OK(testkit.WriteMNIST(folder, 60, 20))
	experimenttest.TestTask(t, tasks.MNIST(), "-data="+folder, "-model=mlp", "-hidden=1", "-train=2", "-val=2",
		"-batch=0", "-evaluate=off")
}

func TestSynthetic(t *testing.T) {
	experimenttest.TestTask(t, tasks.Synthetic(), "-r=1", "-p=5", "-train=20", "-val=20", "-test=10")
}

func TestPolicy(t *testing.T) {
	experimenttest.TestTask(t, tasks.Policy(), "-states=12", "-features=3", "-transitions=3")
}
