package candidates

import (
	"context"
	"encoding/json"
	"fmt"

	"dsbo/runs"
)

// keptStructures are what [Structures.Encode] writes; the first of List is null.
type keptStructures struct {
	List          []keptStructure
	Tried         []runs.Constant
	Y, Penalties  []float64
	Loss, Error   float64
	Parts, Length int // of the model
}

// A keptStructure is a [Structure], with the place in the list of the one whose weights shape it;
// -1: none do.
type keptStructure struct {
	runs.Structure
	Penalties   [][]float64
	Parts, All  []float64
	Kappa       float64
	From, Steps int
}

// Encode returns what was found, which all agents have alike, for [CrossFit.Restore]: numbers with
// all their bits.
func (s *Structures) Encode() ([]byte, error) {
	k := keptStructures{Tried: s.Tried, Y: s.Y, Penalties: s.Penalties, Loss: s.Loss, Error: s.Error,
		Parts: s.fit.Model.Count, Length: s.fit.features}
	places := map[*Structure]int{nil: -1}
	for place, st := range append([]*Structure{s.null}, s.List...) {
		places[st] = place
		k.List = append(k.List, keptStructure{st.Structure, st.penalties, st.y, st.all, st.kappa, places[st.from],
			st.steps})
	}
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
	if k.Parts != f.Model.Count || k.Length != f.features || len(k.List) < 2 {
		return nil, fmt.Errorf("structures must be of %d parts and %d features; those kept are %d of %d and %d",
			f.Model.Count, f.features, len(k.List), k.Parts, k.Length)
	}
	s := &Structures{Tried: k.Tried, Y: k.Y, Loss: k.Loss, Error: k.Error, Penalties: k.Penalties, fit: f}
	for place, of := range k.List {
		if of.From >= place {
			return nil, fmt.Errorf("structure %d must follow from one before; it follows from %d", place, of.From)
		}
		st := &Structure{Structure: of.Structure, penalties: of.Penalties, y: of.Parts, all: of.All, kappa: of.Kappa,
			steps: of.Steps}
		if of.From == 0 {
			st.from = s.null
		} else if of.From > 0 {
			st.from = s.List[of.From-1]
		}
		if place == 0 {
			s.null = st
		} else {
			s.List = append(s.List, st)
		}
	}
	return s, nil
}
