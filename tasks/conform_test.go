package tasks_test

import (
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/internal/minimnist"
	"dsbo/internal/must"
	"dsbo/tasks"
)

func TestMNIST(t *testing.T) {
	if testing.Short() {
		t.Skip("solves a problem of 7840 numbers for every preset")
	}
	folder := t.TempDir() // -evaluate: records that solve the problem are proved by smaller tasks
	must.OK(minimnist.Write(folder, 150, 30))
	experimenttest.TestTask(t, tasks.MNIST(), "-data="+folder, "-train=20", "-val=20", "-batch=0", "-evaluate=off")
}

func TestSynthetic(t *testing.T) {
	experimenttest.TestTask(t, tasks.Synthetic(), "-r=1", "-p=5", "-train=20", "-val=20", "-test=10")
}

func TestPolicy(t *testing.T) {
	experimenttest.TestTask(t, tasks.Policy(), "-states=12", "-features=3", "-transitions=3")
}
