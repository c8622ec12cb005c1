package algo

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/linalg"
)

// InFloat32 returns a method with m's parameters, before Init, whose vectors are all float32: an iteration moves half the bytes through memory, which takes half
// the time where they are too long for a cache. Each entry that is set is rounded by up to 6e-8 of its size, and what is added to it is lost where it is
// smaller than that.
//
// Oracles and mixers are asked by vectors of float32 where they can ([dsbo.Float32Oracle], [dsbo.Float32Mixer]), else by way of float64, with the
// same results. What X, Y, Z, U and State return are copies in float64, in the same memory each time: each is as of the first call of these since the
// last Step, and the next one takes up what has been written to it.
//
// For other methods than those that [Float32Names] names the error matches [dsbo.ErrCapability].
func InFloat32(m Method) (Method, error) {
	if IsFloat32(m) {
		return Clone(m), nil
	}
	twin := float32Twin(m)
	if twin == nil {
		return nil, dsbo.Errorf(dsbo.ErrCapability, "%s has no vectors of float32; methods that have are %s", NameOf(m), strings.Join(Float32Names(), ", "))
	}
	f := &float32Method{name: NameOf(m), inner: twin}
	copyParameters(f.inner, m)
	return f, nil
}

// Float32Names returns the names of the methods that [InFloat32] takes.
func Float32Names() (names []string) {
	for _, e := range methods {
		if float32Twin(e.construct()) != nil {
			names = append(names, e.name)
		}
	}
	return names
}

// IsFloat32 reports whether a method's vectors are float32.
func IsFloat32(m Method) bool {
	_, ok := m.(*float32Method)
	return ok
}

// float32Twin returns a new method of m's kind by vectors of float32. It is nil for a method without, and for one that embeds one that has some: its steps may
// be its own.
func float32Twin(m any) method32 {
	if has, ok := m.(interface{ inFloat32() (any, method32) }); ok {
		if of, twin := has.inFloat32(); of == m {
			return twin
		}
	}
	return nil
}

// method32 is a method by vectors of float32. A method that may be has a method inFloat32, which returns itself and a new one with default parameters.
type method32 interface {
	Init(p, q, K int) error
	Cost(k int) Cost
	Step(ctx context.Context, k int, o dsbo.OracleIn[float32], m dsbo.MixerIn[float32]) error
	State() []dsbo.NamedIn[float32]
	Z() []float32
	U() []float32
	Reform()
	Handover() []dsbo.NamedIn[float32]
	Alike() bool
}

// float32Method makes a [Reformer] of a method by vectors of float32.
type float32Method struct {
	name   string
	inner  method32
	parts  []narrowPart // of the state, of which x and y come first, and z and u
	state  []dsbo.Named // copies of the state
	z, u   int          // where z and u are in parts, −1 of a method without
	oracle linalg.NarrowOracle
	mixer  narrowMixer
}

// A narrowPart is a vector of the method's with its copy.
type narrowPart struct {
	v     []float32
	wide  []float64
	shown bool // the copy has been shown since the method took it up
}

// Init implements [Method].
func (f *float32Method) Init(p, q, K int) error {
	if err := f.inner.Init(p, q, K); err != nil {
		return err
	}
	f.parts, f.state = nil, nil
	for _, part := range f.inner.State() {
		f.state = append(f.state, dsbo.Named{Name: part.Name, Value: f.parts[f.place(part.Value)].wide})
	}
	f.z, f.u = f.place(f.inner.Z()), f.place(f.inner.U())
	return nil
}

// place returns the place in parts of a vector of the method's, which it makes, −1 for nil.
func (f *float32Method) place(v []float32) int {
	if v == nil {
		return -1
	}
	i := slices.IndexFunc(f.parts, func(p narrowPart) bool { return &p.v[0] == &v[0] })
	if i < 0 {
		i = len(f.parts)
		f.parts = append(f.parts, narrowPart{v: v, wide: make([]float64, len(v))})
	}
	return i
}

// clone is [Clone].
func (f *float32Method) clone() Method {
	made := &float32Method{name: f.name, inner: float32Twin(f.inner)}
	copyParameters(made.inner, f.inner)
	return made
}

// Traits implements the optional method that [Traits] describes.
func (f *float32Method) Traits() Traits { return traitsOf(f.inner) }

// MarshalJSON writes the parameters.
func (f *float32Method) MarshalJSON() ([]byte, error) { return json.Marshal(f.inner) }

// Cost implements [Method].
func (f *float32Method) Cost(k int) Cost { return f.inner.Cost(k) }

// Step implements [dsbo.Algorithm].
func (f *float32Method) Step(ctx context.Context, k int, o dsbo.Oracle, m dsbo.Mixer) error {
	f.takeUp()
	f.mixer.Mixer = m
	return f.inner.Step(ctx, k, f.oracle.Of(o), &f.mixer)
}

// takeUp sets the vectors to the copies that have been shown, which may have been written to. Of others a rounding changes nothing.
func (f *float32Method) takeUp() {
	for i := range f.parts {
		if part := &f.parts[i]; part.shown {
			linalg.Convert(part.v, part.wide)
			part.shown = false
		}
	}
}

// show returns the copy of a vector, nil for the place −1. It is that of the present, unless it has been shown since it was taken up.
func (f *float32Method) show(i int) []float64 {
	if i < 0 {
		return nil
	}
	part := &f.parts[i]
	if !part.shown {
		linalg.Convert(part.wide, part.v)
		part.shown = true
	}
	return part.wide
}

// X implements [dsbo.Algorithm].
func (f *float32Method) X() []float64 { return f.show(0) }

// Y implements [dsbo.Algorithm].
func (f *float32Method) Y() []float64 { return f.show(1) }

// Z returns a copy of z_i; nil for a method without.
func (f *float32Method) Z() []float64 { return f.show(f.z) }

// U returns a copy of u_i; nil for a method without.
func (f *float32Method) U() []float64 { return f.show(f.u) }

// Norms returns the norms of x, y and z, 0 for a method without, as of the last Step.
func (f *float32Method) Norms() (norms [3]float64) {
	for i, place := range []int{0, 1, f.z} {
		if place >= 0 {
			norms[i] = linalg.Norm(f.parts[place].v)
		}
	}
	return norms
}

// State implements [dsbo.Algorithm].
func (f *float32Method) State() []dsbo.Named {
	for i := range f.state {
		f.show(i)
	}
	return f.state
}

// Reform implements [Reformer].
func (f *float32Method) Reform() {
	f.takeUp()
	f.inner.Reform()
}

// Alike is that of the methods of this package.
func (f *float32Method) Alike() bool { return f.inner.Alike() }

// Handover implements [Reformer].
func (f *float32Method) Handover() (parts []dsbo.Named) {
	for _, part := range f.inner.Handover() {
		parts = append(parts, dsbo.Named{Name: part.Name, Value: f.show(f.place(part.Value))})
	}
	return parts
}

// A narrowMixer exchanges vectors of float32 by any mixer.
type narrowMixer struct {
	dsbo.Mixer
	widening linalg.Widening
	averaged []float64
}

// Mix implements [dsbo.MixerIn].
func (n *narrowMixer) Mix(ctx context.Context, dst, src []float32) error {
	return n.MixAdd(ctx, dst, src, 0, nil)
}

// MixAdd implements [dsbo.AddingMixerIn].
func (n *narrowMixer) MixAdd(ctx context.Context, dst, src []float32, a float64, v []float32) error {
	return n.widening.MixAdd32(ctx, n.Mixer, dst, src, a, v)
}

// Average implements [dsbo.AveragerIn], or fails with [dsbo.ErrCapability] where the mixer has no averages.
func (n *narrowMixer) Average(ctx context.Context, dst, src []float32) error {
	a, ok := n.Mixer.(dsbo.Averager)
	if !ok {
		return dsbo.Errorf(dsbo.ErrCapability, "this exchange gives no exact averages (dsbo.Averager is missing)")
	}
	wide := linalg.Widened(&n.averaged, src)
	err := a.Average(ctx, wide, wide)
	if err == nil {
		linalg.Convert(dst, wide)
	}
	return err
}

// Part implements [dsbo.PartMixer].
func (n *narrowMixer) Part(k, length int) {
	if m, ok := n.Mixer.(dsbo.PartMixer); ok {
		m.Part(k, length)
	}
}
