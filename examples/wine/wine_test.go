package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/experiment"
	"dsbo/experiment/experimenttest"
	"dsbo/models/modeltest"
	"dsbo/network"
	"dsbo/tables"
)

// TestMain is the command where dsbo's own tests ask for it: they link this program once, for its
// tests and for runs.
func TestMain(m *testing.M) {
	if os.Getenv("WINE") == "command" {
		main()
	}
	algo.Register("oneloop", func() algo.Method { return new(oneLoop) }) // as main does
	tables.Register(ledger{})
	m.Run()
}

func TestMethod(t *testing.T) {
	algotest.TestMethod(t, func() algo.Method { return &oneLoop{Alpha: "0.05"} })
}

// TestParameters: what cannot work is refused by its name, and what is open has its default.
func TestParameters(t *testing.T) {
	err := (&oneLoop{Alpha: "-1"}).Init(1, 1, 1)
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "alpha must be positive; it is -1") {
		t.Errorf("%v must name alpha", err)
	}
	m := &oneLoop{Alpha: "0.5/sqrt(k+1)"}
	if err := m.Init(1, 1, 4); err != nil || m.Beta != "0.1" || m.alpha(3) != 0.25 {
		t.Errorf("beta is %q, alpha at k = 3 %g (%v); they must be 0.1 and 0.25", m.Beta, m.alpha(3), err)
	}
}

func TestModel(t *testing.T) {
	together := network.NewGroup(network.GroupConfig{N: 3}).Bound(t.Context())
	task, model, err := (&cellars{folder: "data"}).Load(
		experiment.Agents{N: 3, Local: []int{0, 1, 2}, Seed: 1, Collective: together})
	if err != nil {
		t.Fatal(err)
	}
	modeltest.TestModel(t, model, task.Shards[1])
}

func TestTask(t *testing.T) { experimenttest.TestTask(t, newTask(), "-data=data") }

func TestLedger(t *testing.T) {
	wines, err := tables.Open("data/agent-2.ledger", tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if last := wines.Columns[8]; wines.Rows() != 24 || last.Name != "quality" || last.Number(0) != 0.99 {
		t.Errorf("%d rows, column %s, %g", wines.Rows(), last.Name, last.Number(0))
	}
}
