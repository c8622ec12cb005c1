package models

import (
	"slices"

	"dsbo"
	"dsbo/ad"
)

// Penalties groups the weights of a model that share a log-penalty, an entry of x: [PerFeature],
// [PerGroup], [PerLayer] or [OnePenalty]. A value of x means the same in each grouping: at x_r = λ
// for all r, the loss is [OnePenalty]'s at λ.
type Penalties interface {
	// check returns an error that names the group that does not fit a model of the given features.
	check(features int) error
	// number returns the number of groups that the first layer's weights are in.
	number(features int) int
	// group returns the group of the first layer's weights of feature j.
	group(j int) int
	// layerGroup returns the group of the first layer's biases, for layer 0, or of a later layer.
	// count is the count of the first layer.
	layerGroup(layer, count int) int
}

// PerFeature is a penalty for the weights of each feature and, in a network, one for the first
// layer's biases and one for each later layer.
type PerFeature struct{}

func (PerFeature) check(int) error                 { return nil }
func (PerFeature) number(features int) int         { return features }
func (PerFeature) group(j int) int                 { return j }
func (PerFeature) layerGroup(layer, count int) int { return count + layer }

// PerGroup is [PerFeature] with groups of features that share a penalty, such as the features of
// one categorical column.
type PerGroup struct {
	Of []int // the group of each feature, from 0 on without gaps
}

// check implements [Penalties]: each feature has a group, and no group is empty.
func (g PerGroup) check(features int) error {
	if len(g.Of) != features {
		return dsbo.ConfigErrorf("each of %d features must have a group; there are groups of %d",
			features, len(g.Of))
	}
	seen := make([]bool, features)
	for j, group := range g.Of {
		if group < 0 || group >= features {
			return dsbo.ConfigErrorf("groups of %d features must be from 0 to %d; feature %d has %d",
				features, features-1, j, group)
		}
		seen[group] = true
	}
	if empty := slices.Index(seen[:g.number(features)], false); empty >= 0 {
		return dsbo.ConfigErrorf("each group must have a feature; group %d of %d has none", empty,
			g.number(features))
	}
	return nil
}

func (g PerGroup) number(int) int                  { return slices.Max(g.Of) + 1 }
func (g PerGroup) group(j int) int                 { return g.Of[j] }
func (g PerGroup) layerGroup(layer, count int) int { return count + layer }

// A oneGroup has all of the first layer's weights in one group.
type oneGroup struct{}

func (oneGroup) check(int) error { return nil }
func (oneGroup) number(int) int  { return 1 }
func (oneGroup) group(int) int   { return 0 }

// PerLayer is a penalty for each layer with its biases.
type PerLayer struct{ oneGroup }

func (PerLayer) layerGroup(layer, _ int) int { return layer }

// OnePenalty is one for all.
type OnePenalty struct{ oneGroup }

func (OnePenalty) layerGroup(_, _ int) int { return 0 }

// penaltiesOrDefault returns p, or [PerFeature] for nil.
func penaltiesOrDefault(p Penalties) Penalties {
	if p == nil {
		return PerFeature{}
	}
	return p
}

// featurePenalty builds Σ_kj e_{group(j)} w_kj² for a layer's weights w, a column a feature, with e
// = e^x.
func featurePenalty(p Penalties, e, w *ad.Node) *ad.Node {
	features := w.Shape()[1]
	groups, own := make([]float64, features), true // own: group j is feature j, so no Gather is needed
	for j := range groups {
		groups[j] = float64(p.group(j))
		own = own && p.group(j) == j
	}
	if own {
		return ad.Dot(ad.PartVec(e, 0, features), ad.ColDot(w, w))
	}
	return ad.Dot(ad.Gather(e, ad.NewConst(e, "groups of features", features, 0, groups)), ad.ColDot(w, w))
}
