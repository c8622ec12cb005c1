package data

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/internal/num"
)

// A Partition is the law of the agents' label distributions, from alike to unlike. The zero value
// is iid.
type Partition struct {
	// Dirichlet, if not 0, draws the label distribution of each agent from a symmetric Dirichlet
	// distribution with this parameter, from 0.001 to 1e6: small is very unlike, large is
	// almost iid.
	Dirichlet float64
	// Labels, if not 0, gives each agent this many of the labels only.
	Labels int
}

// parsePartition reads [Partition.String]'s output: "iid", "dirichlet:0.3" or "labels:2".
func parsePartition(text string) (Partition, error) {
	var p Partition
	var err error
	switch kind, value, _ := strings.Cut(text, ":"); kind {
	case "dirichlet":
		p.Dirichlet, err = strconv.ParseFloat(value, 64)
	case "labels":
		p.Labels, err = strconv.Atoi(value)
	}
	if err != nil || (p == Partition{}) != (text == "iid") { // unknown kinds and zeros leave p zero
		return Partition{}, dsbo.ConfigErrorf(
			"partition must be iid, dirichlet:A (as in dirichlet:0.3) or labels:K (as in labels:2); it is %q", text)
	}
	if err := p.Validate(); err != nil {
		return Partition{}, err
	}
	return p, nil
}

// Validate reports a parameter that cannot work, as [dsbo.ErrConfig].
func (p Partition) Validate() error {
	switch {
	case p.Dirichlet != 0 && p.Labels != 0:
		return dsbo.ConfigErrorf(
			"dirichlet and labels are mutually exclusive in a partition; they are %g and %d", p.Dirichlet, p.Labels)
	case p.Dirichlet != 0 && !(p.Dirichlet >= 1e-3 && p.Dirichlet <= 1e6):
		return dsbo.ConfigErrorf("A of the partition dirichlet:A must be from 0.001 to 1e6; it is %g",
			p.Dirichlet)
	case p.Labels < 0 || p.Labels > 256:
		return dsbo.ConfigErrorf("K of the partition labels:K must be from 1 to 256; it is %d", p.Labels)
	}
	return nil
}

// String returns the form that [parsePartition] reads.
func (p Partition) String() string {
	switch {
	case p.Dirichlet != 0:
		return "dirichlet:" + strconv.FormatFloat(p.Dirichlet, 'g', -1, 64)
	case p.Labels != 0:
		return "labels:" + strconv.Itoa(p.Labels)
	}
	return "iid"
}

// MarshalText is [Partition.String], for flags and JSON.
func (p Partition) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is [parsePartition], for flags and JSON.
func (p *Partition) UnmarshalText(text []byte) error {
	q, err := parsePartition(string(text))
	if err == nil {
		*p = q
	}
	return err
}

// laws draws each agent's label distribution, up to a factor.
func (p Partition) laws(r *rand.Rand, agents, classes int) [][]float64 {
	laws := make([][]float64, agents)
	for i := range laws {
		laws[i] = make([]float64, classes)
	}
	switch {
	case p.Dirichlet != 0:
		for _, law := range laws {
			dirichlet(r, p.Dirichlet, law)
		}
	case p.Labels != 0:
		// Put the labels on a circle, in random order. Agents, in random order, take runs of
		// consecutive labels whose starts are evenly spaced, so that each label goes to about as
		// many agents as any other.
		label := r.Perm(classes)
		for place, i := range r.Perm(agents) {
			first := place * classes / agents
			for j := range p.Labels {
				laws[i][label[(first+j)%classes]] = 1
			}
		}
	default:
		for i := range laws {
			laws[i] = slices.Repeat([]float64{1}, classes)
		}
	}
	return laws
}

// dirichlet fills law with a draw from the symmetric Dirichlet distribution with parameter a, up
// to a factor: independent gamma variables. In logarithms, because for a small a most would be 0.
func dirichlet(r *rand.Rand, a float64, law []float64) {
	top := math.Inf(-1)
	for c := range law {
		law[c] = logGamma(r, a)
		top = max(top, law[c])
	}
	for c := range law {
		law[c] = max(num.Exp(law[c]-top), 1e-300) // never 0: any label may be all that is left
	}
}

// logGamma draws the logarithm of a gamma variable with shape a by the rejection method of
// Marsaglia and Tsang (2000) at shape a+1, times U^(1/a).
func logGamma(r *rand.Rand, a float64) float64 {
	d := a + 1 - 1.0/3
	for {
		x := num.Normal(r)
		v := 1 + x/math.Sqrt(9*d)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if num.Log(1-float64(r.Float64())) < float64(x*x/2)+d-float64(d*v)+float64(d*num.Log(v)) {
			return num.Log(d*v) + num.Log(1-float64(r.Float64()))/a
		}
	}
}
