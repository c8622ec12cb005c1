package algo_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"dsbo"
	"dsbo/algo"
	"dsbo/algo/algotest"
	"dsbo/internal/linalg"
	"dsbo/internal/testkit"
	"dsbo/network"
)

// Where the methods with a constant step end, on quadratics with a closed form.

// pushPull are three changing, unbalanced graphs of four agents, whose union alone is strongly
// connected: an edge from each agent to the next, and one more. Rows of pull and columns of push
// share the weight evenly.
func pushPull() (pull, push [][][]float64) {
	for _, edges := range [][][2]int{{{0, 1}, {1, 2}, {0, 2}}, {{2, 3}, {3, 0}}, {{1, 0}, {3, 1}}} {
		a, b := identity(4), identity(4)
		for _, e := range edges {
			a[e[1]][e[0]], b[e[1]][e[0]] = 1, 1
		}
		for i := range 4 {
			row, column := 0.0, 0.0
			for j := range 4 {
				row, column = row+a[i][j], column+b[j][i]
			}
			for j := range 4 {
				a[i][j] /= row
			}
			for j := range 4 {
				b[j][i] /= column
			}
		}
		pull, push = append(pull, a), append(push, b)
	}
	return pull, push
}

// directedMixers joins the agents of a directed graph, with the rows of its matrices.
func directedMixers(pull, push [][][]float64) []*algotest.Mixer {
	return algotest.NewMixersOver(testkit.Get(network.NewDirected(pull, push)))
}

func identity(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		m[i][i] = 1
	}
	return m
}

// A pulled exchange pushes by the weights of the pull, whose rows sum to 1, and not the columns.
type pulled struct{ *algotest.Mixer }

func (m pulled) Capabilities() *dsbo.MixerCapabilities {
	of := *m.Mixer.Capabilities()
	of.Of, of.Push = m, of.Pull
	return &of
}

// A pulledMethod is a method over such an exchange.
type pulledMethod struct{ algo.Method }

func (a pulledMethod) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	return a.Method.Step(ctx, k, o, pulled{m.(*algotest.Mixer)})
}

// endOf runs a method on quadratics and returns the mean of x.
func endOf(t *testing.T, name, object string, K int, qs []*algotest.Quadratic, ms []*algotest.Mixer,
	wrap ...func(algo.Method) algo.Method) []float64 {
	t.Helper()
	p, q := qs[0].Dims()
	as, os := agentsOn(qs, func() algo.Method {
		m := made(t, name, object)
		testkit.OK(m.Init(p, q, K))
		for _, with := range wrap {
			m = with(m)
		}
		return m
	})
	iterate(t, K, as, os, ms)
	return average(each(as, algo.Method.X))
}

// TestExactFixedPoints: methods that are exact end where the gradient of Φ vanishes, those with a
// penalty or an envelope at their closed forms, though agents differ, and though the draws of saba
// and srba have errors. A fixed point is found to the rounding of its iteration, 1e-16 times a
// condition below 1e4.
func TestExactFixedPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	const p, q, lambda = 3, 4, 5
	first := func(qs []*algotest.Quadratic) []float64 { return penaltySolution(qs, lambda, 1) }
	second := func(qs []*algotest.Quadratic) []float64 { return penaltySolution(qs, lambda, 2) }
	envelope := func(qs []*algotest.Quadratic) []float64 { return envelopeSolution(qs, 0.1, 2) }
	penalty := fmt.Sprintf(`"lam":%d,"alpha":0.03,"beta":0.02`, lambda)
	for _, c := range []struct {
		name, object string
		agents, K    int
		end          func(qs []*algotest.Quadratic) []float64 // nil: exact
	}{
		{"dbifo", `{` + penalty + `,"gamma":0.02,"a":1}`, 4, 2400, first},
		{"dbifo", `{` + penalty + `,"gamma":0.02,"a":0.2}`, 4, 2400, first},
		{"fab", `{` + penalty + `,"gamma":0.02}`, 4, 2800, first},
		{"c2dfb", `{` + penalty + `,"gamma":0.1,"T":3}`, 4, 2400, first},
		{"c2dfb", `{` + penalty + `,"gamma":0.1,"T":3,"gin":0.3,"compress":{"kind":"top","keep":2}}`, 4, 2400, first},
		{"c2dfb", `{` + penalty + `,"gamma":0.1,"T":3,"compress":{"kind":"round","bits":4}}`, 4, 2400, first},
		{"f2sa", `{"lam0":5,"alpha":0.03,"beta":0.03,"gamma":0.1,"T":3}`, 1, 4500, first},
		{"dbifo", `{` + penalty + `,"gamma":0.02,"a":0.2,"order":2}`, 4, 2400, second},
		{"fab", `{` + penalty + `,"gamma":0.02,"order":2}`, 4, 2800, second},
		{"c2dfb", `{` + penalty + `,"gamma":0.1,"T":3,"gin":0.3,"compress":{"kind":"top","keep":2},"order":2}`, 4, 2400,
			second},
		{"f2sa", `{"lam0":5,"alpha":0.03,"beta":0.03,"gamma":0.15,"T":3,"order":2}`, 1, 4500, second},
		{"sundsbo", `{"mu":0.1,"env":2,"alpha":0.2,"beta":0.1,"gamma":0.1}`, 4, 4000, envelope},
		{"subbio", `{"alpha":0.05,"beta":0.1,"gamma":0.1,"T":3}`, 1, 2400, nil},
		{"lancbio", `{"dim":2,"alpha":0.05,"beta":0.1,"T":3}`, 1, 2400, nil},
		{"lancbio", `{"dim":7,"alpha":0.05,"beta":0.1,"T":3}`, 1, 2400, nil},
		{"adasdbo", `{"track":true,"alpha":0.3,"beta":0.3,"gamma":0.3}`, 4, 5000, nil},
		{"adasdbo", `{}`, 1, 1800, nil},
		{"fedmsa", `{"tau":4,"alpha":0.03,"beta":0.08,"gamma":0.08}`, 4, 900, nil},
		{"simfbo", `{"tau":1,"shro":true,"alpha":0.03,"beta":0.1,"gamma":0.1}`, 4, 2400, nil},
		{"brfedbi", `{"mom":0.5,"alpha":0.03,"beta":0.1,"gamma":0.1}`, 4, 2400, nil},
		{"saba", `{"batches":5,"alpha":0.02,"beta":0.06,"gamma":0.06}`, 1, 5800, nil},
		{"saba", `{"batches":[3,7],"init":"full","alpha":0.02,"beta":0.06,"gamma":0.06}`, 1, 5800, nil},
		{"srba", `{"period":7,"alpha":0.02,"beta":0.06,"gamma":0.06}`, 1, 5800, nil},
		{"srba", `{"refresh":[1,0,0,1,0],"alpha":0.02,"beta":0.06,"gamma":0.06}`, 1, 5800, nil},
	} {
		t.Run(c.name+c.object, func(t *testing.T) {
			qs := algotest.NewQuadratics(c.agents, p, q, 5)
			if c.name == "saba" || c.name == "srba" {
				qs[0].Noise = 0.3
			}
			ms := algotest.NewMixers(algotest.Ring(c.agents, 0.5))
			switch traits := algo.TraitsOf(made(t, c.name, c.object)); {
			case traits.ExactAverage:
				ms = algotest.NewMixers(algotest.Average(c.agents))
			case c.name == "fab":
				ms = directedMixers(pushPull())
			}
			x := endOf(t, c.name, c.object, c.K, qs, ms)
			off := norm(algotest.Solve(qs).Gradient(x))
			if c.end != nil {
				off = math.Sqrt(linalg.Dist2(x, c.end(qs)))
			}
			if !(off <= 1e-10) {
				t.Errorf("it is off by %.3g after %d iterations; it must be 1e-10 at most", off, c.K)
			}
		})
	}
}

// TestBiasIsOfItsOrder: bias of order e halves with e, up to a share of order e, and bias of order
// e² quarters.
func TestBiasIsOfItsOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	qs := algotest.NewQuadratics(4, 3, 4, 5)
	solution := algotest.Solve(qs)
	for _, c := range []struct {
		name, object string // with %g for e
		e            float64
	}{
		{"fedbioacc", `{"I":4,"cx":%g,"cy":%[1]g,"cz":%[1]g,"alpha":0.03}`, 0.1},
		{"simfbo", `{"tau":3,"ex":%g,"ey":%[1]g,"ez":%[1]g,"alpha":0.01,"beta":0.05,"gamma":0.05}`, 0.008},
	} {
		off := func(e float64) float64 {
			ms := algotest.NewMixers(algotest.Average(4))
			return norm(solution.Gradient(endOf(t, c.name, fmt.Sprintf(c.object, e), 3000, qs, ms)))
		}
		coarse, fine := off(c.e), off(c.e/2)
		if r := coarse / fine; !(math.Abs(r-2) < 0.2 && coarse > 1e-4) {
			t.Errorf("%s: the gradient ends at %.4g and, with half of e, at %.4g: the ratio must be about 2", c.name,
				coarse, fine)
		}
	}
	// The methods with a penalty end at x_λ, 1/λ or 1/λ² from x*: to a share of that order.
	for _, lambda := range []float64{10, 20, 40} {
		for order, within := range map[int]float64{1: 1 / lambda, 2: 4 / (lambda * lambda)} {
			coarse := norm(solution.Gradient(penaltySolution(qs, lambda, order)))
			fine := norm(solution.Gradient(penaltySolution(qs, 2*lambda, order)))
			if r := coarse / fine; !(math.Abs(r-float64(2*order)) < within) {
				t.Errorf("order %d: the gradient at x_λ is %.4g for λ = %g and %.4g for twice that", order, coarse,
					lambda, fine)
			}
		}
	}
}

// TestBiasOfAnotherProblem: methods that are biased end at the solution of the problem that their
// docs say, to the order of local steps of 1e-9.
func TestBiasOfAnotherProblem(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	qs := algotest.NewQuadratics(4, 3, 4, 5)
	wants := func(name string, x, want []float64, at float64) {
		t.Helper()
		if d := math.Sqrt(linalg.Dist2(x, want)); !(d <= at) {
			t.Errorf("%s ends %.3g from where it must", name, d)
		}
	}
	solution := algotest.Solve(qs).X
	weighted := algotest.NewQuadratics(4, 3, 4, 5)
	for i, o := range weighted {
		for _, part := range [][]float64{o.A, o.B, o.C, o.D, o.E, o.LinearTerm} {
			linalg.Scale(part, float64(i+1), part)
		}
	}
	const local = `{"tau":[1,2,3,4],"shro":%t,"ex":1e-9,"ey":1e-9,"ez":1e-9,"alpha":0.01,"beta":0.03,"gamma":0.03}`
	for shro, want := range map[bool][]float64{true: solution, false: algotest.Solve(weighted).X} {
		x := endOf(t, "simfbo", fmt.Sprintf(local, shro), 4500, qs, algotest.NewMixers(algotest.Average(4)))
		wants(fmt.Sprintf("simfbo with shro %t", shro), x, want, 1e-7)
	}

	const inverses = `{"N":80,"lg":4,"alpha":0.05,"beta":0.15}` // each agent's own
	ring := func() []*algotest.Mixer { return algotest.NewMixers(algotest.Ring(4, 0.5)) }
	x := endOf(t, "vrdbo", inverses, 1500, qs, ring())
	wants("vrdbo", x, endOf(t, "mdbo", inverses, 1500, qs, ring()), 1e-10)
	if d := math.Sqrt(linalg.Dist2(x, solution)); !(d > 0.1) {
		t.Errorf("vrdbo ends %.3g from the solution, though agents differ", d)
	}
	equal := []*algotest.Quadratic{qs[0], qs[0], qs[0], qs[0]}
	wants("vrdbo of equal agents", endOf(t, "vrdbo", inverses, 2500, equal, ring()), algotest.Solve(equal[:1]).X, 1e-10)

	pull, push := pushPull()
	const penalty = `{"lam":5,"alpha":0.03,"beta":0.02,"gamma":0.02}`
	x = endOf(t, "fab", penalty, 1000, qs, directedMixers(pull, push),
		func(m algo.Method) algo.Method { return pulledMethod{m} })
	if d := math.Sqrt(linalg.Dist2(x, penaltySolution(qs, 5, 1))); !(d > 0.05) {
		t.Errorf("fab whose trackers have rows that sum to 1 ends %.3g from x_λ; it must be off", d)
	}
}

// TestLiarsAreOutvoted: with 2 liars among 5 equal clients median and trimmed mean are exact, and a
// mean is not even bounded.
func TestLiarsAreOutvoted(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	one := algotest.NewQuadratics(1, 3, 4, 5)[0]
	qs := []*algotest.Quadratic{one, one, one, one, one}
	for agg, exact := range map[string]bool{`{"kind":"median"}`: true, `{"kind":"trim","f":2}`: true, `{}`: false} {
		object := `{"alpha":0.06,"beta":0.15,"gamma":0.15,"byz":[1,3],"attack":4,"agg":` + agg + `}`
		x := endOf(t, "brfedbi", object, 1600, qs, algotest.NewMixers(algotest.Average(5)))
		off := norm(algotest.Solve(qs[:1]).Gradient(x))
		if exact && !(off <= 1e-10) || !exact && off < 1e10 {
			t.Errorf("with %s the gradient ends at %g", agg, off)
		}
	}
}

// stateOf returns the named part of a method's state, nil where there is none.
func stateOf(m algo.Method, name string) []float64 {
	for _, part := range m.State() {
		if part.Name == name {
			return part.Value
		}
	}
	return nil
}

// TestGraphsThatChange: methods that converge exactly do so over weights that change, or say that
// they cannot, and why.
func TestGraphsThatChange(t *testing.T) {
	if testing.Short() {
		t.Skip("runs thousands of iterations")
	}
	qs := algotest.NewQuadratics(5, 3, 4, 5)
	w := testkit.Get(network.NewMatrix(algotest.Ring(5, 0.4)))
	const steps = `"alpha":0.03,"beta":0.08,"gamma":0.08`
	for _, c := range []struct {
		name, object string
		K            int
	}{
		{"dbifo", `{"a":1,"lam":5,"alpha":0.03,"beta":0.02,"gamma":0.02}`, 2400},
		{"sparkle", `{` + steps + `,"strategy":{"x":"gt","y":"gt","z":"gt"}}`, 1500},
		{"sparkle", `{` + steps + `}`, 1500},
		{"sparkle", `{` + steps + `,"strategy":{"x":"extra","y":"extra","z":"extra"}}`, 1500},
		{"c2dfb", `{"lam":5,"alpha":0.02,"beta":0.01,"gamma":0.08,"T":3}`, 1500},
	} {
		fixed := algo.TraitsOf(made(t, c.name, c.object)).FixedGraph != ""
		for _, x := range []network.Mixing{network.Failing{Probability: 0.3}, network.Matchings{}} {
			if fixed && x != (network.Matchings{}) {
				continue // it may converge or not
			}
			m := testkit.Get(w.WithMixing(x))
			end := endOf(t, c.name, c.object, c.K, qs, algotest.NewMixersOver(m))
			off := norm(algotest.Solve(qs).Gradient(end))
			if c.name != "sparkle" {
				axpy(end, -1, penaltySolution(qs, 5, 1))
				off = norm(end)
			}
			if !fixed && !(off <= 1e-10) || fixed && off < 0.1 {
				t.Errorf("%s %s, %v: off by %.3g; it needs a fixed graph: %t", c.name, c.object, x, off, fixed)
			}
		}
	}
}
