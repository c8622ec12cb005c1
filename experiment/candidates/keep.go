package candidates

import (
	"context"
	"encoding/json"
	"fmt"

	"dsbo"
	"dsbo/runs"
)

// keptStructures are what [Structures.Encode] writes; the first of List is null.
type keptStructures struct {
	List          []keptStructure
	Tried         []runs.Constant
	Best          int // its place in List
	One, Whole    whole
	Parts, Length int // of the model
}

// A keptStructure is a [Structure], with the place in the list of the one whose weights shape it;
// -1: none do.
type keptStructure struct {
	runs.Structure
	Penalties [][]float64
	Parts     []float64
	Kappa     float64
	From      int
}

// Encode returns what was found, which all agents have alike, for [CrossFit.Restore]: numbers with
// all their bits.
func (s *Structures) Encode() ([]byte, error) {
	k := keptStructures{Tried: s.Tried, One: s.one, Whole: s.best, Parts: s.fit.Model.Count, Length: s.fit.features}
	places := map[*Structure]int{nil: -1}
	for place, st := range append([]*Structure{s.null}, s.List...) {
		places[st] = place
		k.List = append(k.List, keptStructure{st.Structure, st.penalties, st.y, st.kappa, places[st.from]})
	}
	k.Best = places[s.Best]
	return json.Marshal(k)
}

// Restore returns the structures that [Structures.Encode] of the same problem has kept.
func (c CrossFit) Restore(ctx context.Context, kept []byte) (*Structures, error) {
	f, err := c.newCrossFit(ctx)
	if err != nil {
		return nil, err
	}
	var k keptStructures
	if err := json.Unmarshal(kept, &k); err != nil {
		return nil, err
	}
	if k.Parts != f.Model.Count || k.Length != f.features {
		return nil, fmt.Errorf("structures must be of %d parts and %d features; those kept are of %d and %d",
			f.Model.Count, f.features, k.Parts, k.Length)
	}
	if k.Best < 1 || k.Best >= len(k.List) {
		return nil, dsbo.ConfigErrorf("structures that are kept must tell the best one: these are of a version that "+
			"kept their mean; without the files %s* of its folder the run finds them anew", runs.KeptPrefix)
	}
	var all []*Structure
	for place, of := range k.List {
		if of.From >= place {
			return nil, fmt.Errorf("structure %d must follow from one before; it follows from %d", place, of.From)
		}
		all = append(all, &Structure{Structure: of.Structure, penalties: of.Penalties, y: of.Parts, kappa: of.Kappa})
		if of.From >= 0 {
			all[place].from = all[of.From]
		}
	}
	return &Structures{List: all[1:], Tried: k.Tried, Best: all[k.Best], one: k.One, best: k.Whole, null: all[0],
		fit: f}, nil
}
