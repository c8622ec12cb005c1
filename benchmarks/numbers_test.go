package benchmarks

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"dsbo/internal/testkit"
)

// TestStatedNumbers: what documents state of a table of results follows from the table.
func TestStatedNumbers(t *testing.T) {
	book, methods := "README.md", filepath.Join("..", "docs", "methods.md")
	stated := map[string]string{}
	for _, name := range []string{book, methods} {
		stated[name] = strings.Join(strings.Fields(string(testkit.Get(os.ReadFile(name)))), " ")
	}
	for _, c := range []struct{ document, want string }{
		{methods, places()}, {book, paperStarts()}, {book, productsOverGradients()}, {book, notCovered()},
	} {
		if !strings.Contains(stated[c.document], c.want) {
			t.Errorf("%s must state %q", c.document, c.want)
		}
	}
}

// places counts the problems of field.csv where newtoncg is the first of its task.
func places() string {
	words := []string{"no", "one", "two", "three", "four", "five"}
	rows := results("field.csv")
	tasks, lowest := map[string]bool{}, map[string]int{}
	for _, column := range []string{"phi", "test_loss"} {
		least, by := map[string]float64{}, map[string]string{}
		for _, row := range rows {
			task, v := row["task"], testkit.Get(strconv.ParseFloat(row[column], 64))
			if tasks[task] = true; by[task] == "" || v < least[task] {
				least[task], by[task] = v, row["method"]
			}
		}
		for _, method := range by {
			if method == "newtoncg" {
				lowest[column]++
			}
		}
	}
	return fmt.Sprintf("mean Φ is the lowest on %s of %s problems, its test loss on %s", words[lowest["phi"]],
		words[len(tasks)], words[lowest["test_loss"]])
}

// paperStarts lists Φ of newtoncg and of the best constants from the start of the paper.
func paperStarts() string {
	rows := results("figure-1a-3.csv")
	var ends, constants []string
	for _, row := range rows {
		if row[""] == "newtoncg" {
			ends, constants = append(ends, row["Φ at the end"]), append(constants, row["Φ, best constant λ"])
		}
	}
	return "`newtoncg` from there: Φ " + strings.Join(ends, ", ") + ", constants " + strings.Join(constants, ", ")
}

// productsOverGradients returns how many gradients a product takes, from the least to the most.
func productsOverGradients() string {
	rows := results("derivatives.csv")
	least, most, gradient := math.Inf(1), 0.0, 0.0
	for _, row := range rows {
		v := testkit.Get(strconv.ParseFloat(row["ad, µs"], 64))
		switch row["derivative"] {
		case "gradient":
			gradient = v
		case "HVP":
			least, most = min(least, v/gradient), max(most, v/gradient)
		}
	}
	return fmt.Sprintf("%.2f to %.2f gradients", least, most)
}

// notCovered returns the shares of intervals of measures that neither contain the truth nor are
// marked: the two that are above 7 %, which are the only ones.
func notCovered() string {
	rows := results("measures.csv")
	var above []string
	for _, row := range rows {
		if v, err := strconv.ParseFloat(row["unmarked_missed"], 64); err == nil && v > .07 {
			above = append(above, fmt.Sprintf("%.0f", 100*v))
		}
	}
	return "neither marked nor covered up to 7 %, else " + strings.Join(above, ", ") + " %"
}

// results reads the rows of a table of results, by column.
func results(name string) (rows []map[string]string) {
	text := testkit.Get(os.ReadFile(filepath.Join("results", name)))
	all := testkit.Get(csv.NewReader(strings.NewReader(string(text))).ReadAll())
	for _, record := range all[1:] {
		row := map[string]string{}
		for j, column := range all[0] {
			row[column] = record[j]
		}
		rows = append(rows, row)
	}
	return rows
}
