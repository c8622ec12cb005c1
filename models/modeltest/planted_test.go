package modeltest_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/linalg"
	"dsbo/models"
	"dsbo/models/modeltest"
)

// ridge is a right model to spoil: f = ½ mean (a'y − t)², g = f + ½ Σ_j e^{x_j} y_j².
type ridge struct{ features int }

func (r ridge) Dims() (p, q int) { return r.features, r.features }

func (r ridge) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(r.Upper(x, y, b), r.penalty(x, y))
}

func (r ridge) Upper(_, y *ad.Node, b models.Batch) *ad.Node { return ad.Mean(r.each(y, b)) }

// each builds the loss of each example.
func (r ridge) each(y *ad.Node, b models.Batch) *ad.Node {
	return ad.Scale(.5, ad.Square(ad.Sub(ad.MatVec(b.X, y, false), b.T)))
}

func (r ridge) penalty(x, y *ad.Node) *ad.Node { return ad.Scale(.5, ad.Dot(ad.Exp(x), ad.Square(y))) }

// claimed is a ridge with all its claims, right ones.
type claimed struct{ ridge }

func (claimed) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ridge{}.each(y, b), nil
}
func (claimed) Modulus(x []float64) float64 { return math.Exp(slices.Min(x)) }
func (claimed) Shape() (rows, cols int)     { return 1, 3 }
func (claimed) Start(y []float64)           { linalg.Fill(y, .1) }
func (claimed) StartX(x []float64)          { linalg.Fill(x, -1) }
func (claimed) Layers() []models.Layer      { return []models.Layer{{In: 3, Out: 1}} }
func (claimed) Meaning() models.Meaning {
	return models.Meaning{Symbol: "λ", One: "penalty", Many: "penalties"}
}
func (claimed) Baselines() []models.Baseline {
	return []models.Baseline{{Name: "none", X: []float64{-9, -9, -9}}}
}
func (claimed) Diagonal(_, _ *ad.Node, b models.Batch) *ad.Node {
	return ad.Scale(1/float64(b.Rows), ad.ColDot(b.X, b.X))
}
func (claimed) Penalty(dst, x []float64) {
	for j, v := range x {
		dst[j] = math.Exp(v)
	}
}

func TestClaimedModelPasses(t *testing.T) { modeltest.TestModel(t, claimed{ridge{3}}, numbers(3)) }

// The spoiled models, each wrong in one way.
type (
	randomBuild     struct{ claimed } // builds another loss each time
	keptState       struct{ claimed } // depends on how often it was built
	trainingBatch   struct{ claimed } // validates on training examples that it keeps
	xIgnored        struct{ ridge }
	wrongSign       struct{ ridge } // of the penalty: the loss is unbounded
	linear          struct{ ridge } // unbounded: its loss has no term that bounds y
	meanOrSum       struct{ ridge } // the mean of large batches, the sum of small ones
	twiceMean       struct{ ridge } // divides by the rows twice
	timesRows       struct{ ridge } // multiplies the sum by the rows
	rootless        struct{ ridge } // has the root of a number below 0
	steep           struct{ ridge } // loses all its digits in float32
	tooConvex       struct{ ridge }
	notConvex       struct{ ridge }
	badHits         struct{ ridge }
	endlessLoss     struct{ ridge }
	batchLoss       struct{ ridge } // gives each example the loss of all
	shortScore      struct{ ridge }
	otherScore      struct{ ridge } // scores by the absolute residual
	endlessStart    struct{ ridge }
	randomStart     struct{ ridge }
	partialStart    struct{ ridge }
	partialStartX   struct{ ridge }
	farStart        struct{ ridge } // where the loss overflows
	halfPenalty     struct{ ridge } // writes one entry
	negativePenalty struct{ ridge }
	largePenalty    struct{ claimed }
	doublePenalty   struct{ ridge }   // forgets the ½ of the definition
	otherPenalty    struct{ ridge }   // takes features in another order
	wrongDiagonal   struct{ ridge }   // sums where the loss has means
	twicePenalized  struct{ claimed } // counts the penalty in the diagonal too
	wrongShape      struct{ ridge }
	wrongLayers     struct{ ridge }
	wordless        struct{ ridge }
	shortBaseline   struct{ ridge }
	otherSimpler    struct{ ridge } // its simpler model takes other features
	halted          struct{ ridge } // takes weights of examples, which depend on y, for constants
)

var built int

func (randomBuild) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	built++
	return ad.Scale(1+1e-9*float64(built), claimed{}.Lower(x, y, b))
}

func (keptState) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	built++
	return ad.Scale(1+float64(built%2), claimed{}.Upper(x, y, b))
}

func (trainingBatch) Upper(x, y *ad.Node, b models.Batch) *ad.Node {
	train, features, targets := numbers(3).Train, []float64(nil), []float64(nil)
	for i := range 8 {
		for j := range 3 {
			features = append(features, train.X.At(i, j))
		}
		targets = append(targets, train.Target.At(i, 0))
	}
	b.X, b.T = ad.NewConst(y, "X", 8, 3, features), ad.NewConst(y, "T", 8, 0, targets)
	return claimed{}.Upper(x, y, b)
}

func (xIgnored) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(ridge{}.Upper(x, y, b), ad.Dot(y, y))
}

func (wrongSign) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Sub(ridge{}.Upper(x, y, b), ridge{}.penalty(x, y))
}

func (linear) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(ad.Mean(ad.MatVec(b.X, y, false)), ad.Dot(x, y))
}

func (meanOrSum) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	fit := ridge{}.each(y, b)
	if b.Rows < 20 {
		return ad.Add(ad.SumAll(fit), ridge{}.penalty(x, y))
	}
	return ad.Add(ad.Mean(fit), ridge{}.penalty(x, y))
}

func (twiceMean) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Scale(1/float64(b.Rows), ad.Mean(ridge{}.each(y, b)))
}

func (timesRows) Lower(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(ad.Scale(float64(b.Rows), ad.SumAll(ridge{}.each(y, b))), ridge{}.penalty(x, y))
}

func (rootless) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	return ad.SumAll(ad.Sqrt(ad.Offset(-100, ad.Square(y))))
}

func (steep) Upper(_, y *ad.Node, _ models.Batch) *ad.Node {
	return ad.SumAll(ad.Offset(-1e8, ad.Offset(1e8, ad.Square(y))))
}

func (halted) Upper(_, y *ad.Node, b models.Batch) *ad.Node {
	each := ridge{}.each(y, b)
	return ad.Mean(ad.Mul(ad.StopGradient(ad.Exp(ad.Neg(each))), each))
}

// declared names the reason.
type declared struct{ halted }

func (declared) Stopped() string { return "the weights of examples, which are constants of a step" }

// TestStopped: a model that stops gradients on purpose passes if it is marked.
func TestStopped(t *testing.T) { modeltest.TestModel(t, declared{halted{ridge{3}}}, numbers(3)) }

func (tooConvex) Modulus([]float64) float64 { return 100 }
func (notConvex) Modulus([]float64) float64 { return 0 }

func (badHits) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Square(b.T), ad.Offset(1.5, b.T)
}

func (endlessLoss) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Log(ad.Neg(ad.Square(b.T))), nil
}

func (batchLoss) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.ScaleBy(ad.Mean(ad.Square(b.T)), b.T), nil
}

func (shortScore) Score(_, _ *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Mean(b.T), nil
}

func (otherScore) Score(_, y *ad.Node, b models.Batch) (losses, hits *ad.Node) {
	return ad.Sqrt(ridge{}.each(y, b)), nil
}

func (endlessStart) Start(y []float64) {
	clear(y)
	y[0] /= y[0]
}

func (randomStart) Start(y []float64) {
	for j := range y {
		built++
		y[j] = float64(built)
	}
}

func (partialStart) Start(y []float64)   { y[0] = 1 }
func (partialStartX) StartX(x []float64) { x[0] = 1 }
func (farStart) StartX(x []float64)      { linalg.Fill(x, 1000) }

func (halfPenalty) Penalty(dst, x []float64)     { dst[0] = 1 }
func (negativePenalty) Penalty(dst, x []float64) { linalg.Fill(dst, -1) }
func (largePenalty) Penalty(dst, x []float64) {
	claimed{}.Penalty(dst, x)
	linalg.Add(dst, dst, []float64{0, 1000, 0})
}

func (doublePenalty) Penalty(dst, x []float64) {
	claimed{}.Penalty(dst, x)
	linalg.Scale(dst, 2, dst)
}

func (otherPenalty) Penalty(dst, x []float64) {
	claimed{}.Penalty(dst, x)
	slices.Reverse(dst)
}

func (wrongDiagonal) Diagonal(_, _ *ad.Node, b models.Batch) *ad.Node { return ad.ColDot(b.X, b.X) }

func (twicePenalized) Diagonal(x, y *ad.Node, b models.Batch) *ad.Node {
	return ad.Add(claimed{}.Diagonal(x, y, b), ad.Exp(x))
}

func (wrongShape) Shape() (rows, cols int) { return 2, 2 }
func (wrongLayers) Layers() []models.Layer { return []models.Layer{{In: 3, Out: 1, Bias: true}} }
func (wordless) Meaning() models.Meaning   { return models.Meaning{Symbol: "λ"} }
func (shortBaseline) Baselines() []models.Baseline {
	return []models.Baseline{{Name: "none", X: []float64{0}}}
}

func (otherSimpler) Simpler() (name string, m models.Model) {
	return "linear", models.Linear{Features: 2, Outputs: 1, Loss: models.Squared{}}
}

// alarms collects what the suite says of a model, up to what it must say.
type alarms struct {
	testing.TB
	awaits mistake
	all    []string
	said   bool
}

func (a *alarms) Helper() {}
func (a *alarms) Errorf(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	a.all = append(a.all, s)
	if strings.HasPrefix(s, a.awaits.claim+": ") && strings.Contains(s, a.awaits.says) {
		a.said = true
		runtime.Goexit() // as FailNow does
	}
}

// A mistake is a wrong model, with what the suite must say of it, of which claim.
type mistake struct {
	model models.Model
	claim string
	says  string
}

// test fails t if the suite does not say so of the model on some examples.
func (m mistake) test(t *testing.T, s data.Shard) {
	t.Helper()
	a := &alarms{TB: t, awaits: m}
	var wg sync.WaitGroup
	wg.Go(func() { modeltest.TestModel(a, m.model, s) })
	if wg.Wait(); !a.said {
		t.Errorf("%T: the suite must say of %q that %q; it says\n%s", m.model, m.claim, m.says,
			strings.Join(a.all, "\n"))
	}
}

// TestPlantedMistakes: each mistake that a model can make is called by the name of what it breaks.
// Mistakes in derivatives themselves are planted beside the ops (package ad).
func TestPlantedMistakes(t *testing.T) {
	r := ridge{3}
	for _, c := range []mistake{
		{randomBuild{claimed{r}}, "names", "built again"},
		{keptState{claimed{r}}, "whole", "all rows by batch"},
		{trainingBatch{claimed{r}}, "score", "the upper loss must be the mean or the sum of the score's"},
		{xIgnored{r}, "x", "x has no effect"},
		{wrongSign{r}, "bounded", "falls without bound"},
		{linear{r}, "bounded", "falls without bound"},
		{meanOrSum{r}, "copies", "lower loss is neither a mean nor a sum"},
		{twiceMean{r}, "copies", "upper loss is neither a mean nor a sum"},
		{timesRows{r}, "copies", "lower loss is neither a mean nor a sum"},
		{rootless{r}, "derivatives", "the loss is not finite around this point"},
		{steep{r}, "float32", "upper loss in float32: value"},
		{tooConvex{r}, "convexity", "claims at least 100"},
		{notConvex{r}, "convexity", "must be positive"},
		{badHits{r}, "score", "must be from 0 to 1"},
		{endlessLoss{r}, "score", "is NaN"},
		{batchLoss{r}, "score", "where it is the only one"},
		{shortScore{r}, "score", "an entry for each of 30 examples"},
		{otherScore{r}, "score", "the upper loss must be the mean or the sum of the score's"},
		{endlessStart{r}, "start", "not finite"},
		{randomStart{r}, "start", "two starts differ"},
		{partialStart{r}, "start", "two starts differ"},
		{partialStartX{r}, "start", "x: two starts differ"},
		{farStart{r}, "start", "finite at the start"},
		{halfPenalty{r}, "penalty", "entry 1 is NaN"},
		{negativePenalty{r}, "penalty", "entry 0 is -1"},
		{largePenalty{claimed{r}}, "penalty", "more than the Hessian's"},
		{doublePenalty{r}, "penalty", "which x enters by a penalty alone"},
		{otherPenalty{r}, "penalty", "which x enters by a penalty alone"},
		{wrongDiagonal{r}, "diagonal", "exact is true"},
		{twicePenalized{claimed{r}}, "diagonal", "exact is true"},
		{wrongShape{r}, "shape", "2×2"},
		{wrongLayers{r}, "layers", "has 4 weights"},
		{wordless{r}, "meaning", "must have a symbol and words"},
		{shortBaseline{r}, "baselines", "3 finite hyperparameters"},
		{otherSimpler{r}, "simpler", "must take the same examples"},
		{ridge{4}, "derivatives", "lower loss: "},
		{halted{r}, "derivatives", "The loss has StopGradient: a model that means it is a models.Stopped"},
	} {
		c.test(t, numbers(3))
	}
}
