package tasks_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dsbo/experiment/experimenttest"
	"dsbo/experiment/tasks"
	"dsbo/internal/testkit"
)

// writeSites writes a file for each of n unlike sites, with words, missing values and a class, a
// number and a count to predict. It returns the pattern of their names.
func writeSites(t *testing.T, folder string, n int) string {
	t.Helper()
	for i := range n {
		r := rand.New(rand.NewPCG(3, uint64(i)))
		var b strings.Builder
		b.WriteString("age,colour,noise,ill,cost,visits\n")
		for range 40 + 20*i {
			age, colour := 50+float64(5*i)+10*r.NormFloat64(), []string{"red", "blue", "green"}[r.IntN(3)]
			signal := (age - 50) / 10
			if colour == "red" {
				signal++
			}
			ill := "no"
			if signal+r.NormFloat64() > 0.5 {
				ill = "yes"
			}
			shown := fmt.Sprintf("%.1f", age)
			if r.IntN(10) == 0 {
				shown = ""
			}
			fmt.Fprintf(&b, "%s,%s,%.3f,%s,%.2f,%d\n", shown, colour, r.NormFloat64(), ill,
				100+20*signal+5*r.NormFloat64(), int(max(0, 2+signal+r.NormFloat64())))
		}
		testkit.OK(os.WriteFile(filepath.Join(folder, fmt.Sprintf("site%d.csv", i)), []byte(b.String()), 0o644))
	}
	return filepath.Join(folder, "site{agent}.csv")
}

func TestTune(t *testing.T) {
	data := "-data=" + writeSites(t, t.TempDir(), 3)
	for name, flags := range map[string][]string{
		"classes":    {"-target=ill", "-drop=cost,visits"},
		"balanced":   {"-target=ill", "-balance", "-penalty=group", "-folds=2"},
		"regression": {"-target=cost", "-drop=ill", "-loss=huber", "-weight=visits", "-folds=2"},
		"counts":     {"-target=visits", "-task=count", "-features=age,colour", "-penalty=one", "-folds=2"},
		"network":    {"-target=ill", "-model=mlp", "-hidden=4", "-penalty=layer"},
	} {
		t.Run(name, func(t *testing.T) { experimenttest.TestTask(t, tasks.Tune(), append(flags, data)...) })
	}
}

// TestTuneDealt: the rows of one file are dealt to agents.
func TestTuneDealt(t *testing.T) {
	folder := t.TempDir()
	writeSites(t, folder, 3)
	experimenttest.TestTask(t, tasks.Tune(), "-target=ill", "-folds=2", "-data="+filepath.Join(folder, "site2.csv"))
}
