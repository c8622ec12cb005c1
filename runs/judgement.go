package runs

import (
	"math"

	"dsbo/internal/num"
)

// Judgement returns a sentence or two that compare the predictions with guessing: the commonest
// class of the test rows, or the mean, for every row.
func (a Assessment) Judgement() string { return prose("judgement", a) }

// measure returns the measure of a name; unknown where there is none.
func (a Assessment) measure(name string) Measure {
	for _, m := range a.Measures {
		if m.Name == name {
			return m
		}
	}
	return Measure{Value: Unknown(), Low: Unknown(), High: Unknown()}
}

// overGuessing returns by which share of the test rows the model is right more often than always
// the commonest class, whose name it has. The interval is of pairs, by Agresti and Min (2005): half
// a row is added to each of the four kinds of pairs.
func (a Assessment) overGuessing() Measure {
	commonest, most, n := 0, 0.0, 0.0
	for k, row := range a.Confusion {
		sum := 0.0
		for _, count := range row {
			sum += count
		}
		if n += sum; sum > most {
			commonest, most = k, sum
		}
	}
	won, lost := 0.0, most-a.Confusion[commonest][commonest]
	for k, row := range a.Confusion {
		if k != commonest {
			won += row[k]
		}
	}
	all := n + 2
	d := (won - lost) / all
	e := float64(num.Normal95 * math.Sqrt(((won+lost+1)/all-float64(d*d))/all))
	return Measure{Name: a.Classes[commonest].Name, Value: Number((won - lost) / n), Low: Number(d - e),
		High: Number(d + e)}
}
