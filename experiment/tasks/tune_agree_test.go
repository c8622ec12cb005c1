package tasks

import (
	"errors"
	"strings"
	"testing"

	"dsbo"
	"dsbo/experiment"
	"dsbo/internal/testkit"
)

// sites are what two sites tell each other, of which the second one says something of its own.
type sites struct{ second string }

func (sites) Sum([]float64, func(int, []float64) error) error { return nil }

func (s sites) Texts(of func(i int) (string, error)) ([]string, error) {
	return []string{testkit.Get(of(0)), s.second}, nil
}

// TestAgree: a site that starts elsewhere is named.
func TestAgree(t *testing.T) {
	e := &earlier{x: []float64{1}, y: []float64{2, 3}}
	testkit.OK(e.agree(experiment.Agents{Collective: sites{e.digest()}}))
	other := &earlier{x: []float64{1, 2}, y: []float64{3}}
	err := e.agree(experiment.Agents{Collective: sites{other.digest()}})
	if !errors.Is(err, dsbo.ErrConfig) || !strings.Contains(err.Error(), "site 1 starts elsewhere than site 0") {
		t.Errorf("error %v", err)
	}
}
