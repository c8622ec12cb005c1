package algo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dsbo"
	"dsbo/internal/linalg"
	"dsbo/internal/wording"
)

// A Method is one agent's side of a decentralized method. It is a pointer to a struct whose
// exported fields are the method's parameters: zero means the default that the field's tag states,
// and the JSON name of a field is the parameter's name.
type Method interface {
	dsbo.Algorithm
	// Init readies the method for x of length p, y of length q and a run of K iterations: it fills
	// in defaults, makes all memory anew, and sets x, y and the rest of the state to zero. K
	// matters to schedules that depend on it, and bounds k of Step and Cost. Another start may be
	// copied into X() and Y() afterwards, the same on all agents. A parameter that cannot work is
	// an error that names it and matches [dsbo.ErrConfig]; p or q below 1 is an error that matches
	// [dsbo.ErrShape].
	Init(p, q, K int) error
	// Cost returns one agent's cost of iteration k, after Init. If it depends on the iteration's
	// results, it is the most before the iteration and exact after it.
	Cost(k int) Cost
}

// Described is an algorithm with traits, as the methods of this package are.
type Described interface {
	dsbo.Algorithm
	// Traits works before Init, except for the fields of [Traits] that state otherwise.
	Traits() Traits
}

// Traits are what the loop around a method may know of it. All are optional: a method without runs
// on any graph with any oracle, and its x and y alone are looked at.
type Traits struct {
	OneAgent       bool // runs with one agent only
	ExactAverage   bool // needs a mixer that is the exact average: the complete graph with weights 1/n
	Personalized   bool // solves the problem in which each agent has its own y
	Compositional  bool // is right only for lower problems g_i = y'y/2 − G_i(x)'y
	Differentiates bool // asks for products to differentiate its own steps, which are with the Hessian itself

	// KeepsBest is true if x and y are of the best iteration so far, and may stay the same.
	KeepsBest bool
	// Directed is true if the method exchanges by Pull and Push alone, and so runs on graphs of
	// directed edges.
	Directed bool
	// FixedGraph is the reason why the weights of the graph must stay the same in all iterations;
	// "": they may change, as long as they are doubly stochastic.
	FixedGraph string
	// OneLoop is true if the method exchanges each variable once an iteration. The rounding error
	// of a wire of 8 bits is then added to the variable's next value (error feedback), without
	// which sparkle drifts far away. With several loops it would arrive many values later, as noise
	// that can make the method diverge.
	OneLoop bool
	// FullBatch is set if the method asks for all examples whatever the batch, and names its
	// setting that takes draws instead; "": it takes draws.
	FullBatch string
	// Dense returns the bytes of the method's matrices on one agent; nil: it has none, and any
	// oracle will do. A method with matrices asks its oracle for Hessian and Jacobian of
	// [dsbo.OracleCapabilities], whose own memory comes on top.
	Dense func(p, q int) int64
	// Adapt sets parameters that the user left open to suit a run, before Init, and reports whether
	// it gave up the search for the start of x for lack of penalties; nil: there are none.
	Adapt func(Setting) (gaveUpSearch bool)
	// Bounds turns the bounds of steps along ∇_y g and Hz − b into the bounds of the method's own
	// steps of y and z; nil: they are the same. See [BoundsOf].
	Bounds func(Curvature) Curvature
	// Central is λ of a method that takes central differences of a penalty, for which λg − f must
	// have a minimum in y, f and g averaged; 0: there is no such need.
	Central float64
	// HoldX sets the parameter with which all iterations leave x where it is; nil: there is none.
	// See [Held].
	HoldX func()

	// The rest is of a method after Init.

	// Z and U are views of z_i and u_i, the estimates of (Σ H)⁻¹ Σ b and of the hypergradient of
	// the last iteration; nil: there are none.
	Z, U []float64
	// SecondY is a view of z_i of a method whose z is a second y: it starts where y does.
	SecondY []float64
	// Alike is true if all agents have the same state, to the bit, with exact averages.
	Alike bool
	// Terms is true if Step asks its oracle in terms of averages alone when the mixer has
	// AverageTerms of [dsbo.MixerCapabilities]: with Alike, one method then serves all agents of a
	// process.
	Terms bool
	// Pairs are products (v, D v) with the averaged Hessian's data part, which all agents have
	// alike where averages are exact; nil: there are none. They stay the method's.
	Pairs *linalg.Memory
	// StartConstant returns the constant that a search found for the start of x; found is false if
	// there was no search, and StartConstant nil if there is never one.
	StartConstant func() (c float64, found bool)
}

// A Setting is the circumstances that a method's parameters may be adapted to.
type Setting struct {
	Nonconvex  bool                        // the lower problem may not be convex
	StartKnown bool                        // the user or the problem gives the start of x
	Penalties  bool                        // oracles give the Hessian's penalty part
	Given      func(parameter string) bool // the user has set a parameter
}

// TraitsOf returns the traits of an algorithm, the zero ones if it has none.
func TraitsOf(m dsbo.Algorithm) Traits {
	if t, ok := m.(Described); ok {
		return t.Traits()
	}
	return Traits{}
}

// TakesMatrix reports whether the products that a method asks for may be with another matrix than
// the Hessian itself ([dsbo.CurvatureMatrix]).
func (t Traits) TakesMatrix() bool { return t.Dense == nil && !t.Differentiates && !t.Compositional }

// LongestVector returns a bound on the numbers of each vector that a method with these traits
// exchanges, for x of p numbers and y of q: a message joins at most 8 of either or, of a method
// with matrices, a q×q one, two p×q ones, or one of these with few vectors.
func (t Traits) LongestVector(p, q int) int {
	if t.Dense != nil {
		return (p + q + 2) * (p + q + 2)
	}
	return 8 * (p + q)
}

// NamesWhere returns the names of the methods whose traits are so, with default parameters.
func NamesWhere(so func(Traits) bool) (names []string) {
	for _, e := range methods {
		if so(TraitsOf(e.construct())) {
			names = append(names, e.name)
		}
	}
	return names
}

// An entry is a method's name and constructor.
type entry struct {
	name      string
	construct func() Method
}

// of is the entry of a method of this package.
func of[T any, M interface {
	*T
	Method
}](name string) entry {
	return entry{name, func() Method { return M(new(T)) }}
}

// methods is the table of all methods. Adding one takes a line here, and nothing else outside of
// the method's own file.
var methods = []entry{
	of[MADSBO]("madsbo"),
	of[Tuned]("madsbo_tuned"),
	of[NewtonCG]("newtoncg"),
	of[AdamCG]("adamcg"),
	of[JHIP]("jhip"),
	of[GBDSBO]("gbdsbo"),
	of[FedNest]("fednest"),
	of[MDBO]("mdbo"),
	of[Gossip]("pdsbo_gossip"),
	of[Lagrangian]("pdsbo_al"),
	of[DASCGD]("dascgd"),
	of[DSOBA]("dsoba"),
	of[Sparkle]("sparkle"),
	of[AIDCG]("aidcg"),
	of[ITD]("itd"),
	of[StocBiO]("stocbio"),
	of[ALSET]("alset"),
	of[SOBA]("soba"),
	of[VRDBO]("vrdbo"),
	of[DBIFO]("dbifo"),
	of[AdaSDBO]("adasdbo"),
	of[F2SA]("f2sa"),
	of[SABA]("saba"),
	of[SRBA]("srba"),
	of[FAB]("fab"),
	of[C2DFB]("c2dfb"),
	of[FedMSA]("fedmsa"),
	of[FedBiOAcc]("fedbioacc"),
	of[SimFBO]("simfbo"),
	of[BRFedBi]("brfedbi"),
	of[SubBiO]("subbio"),
	of[LancBiO]("lancbio"),
	of[SUNDSBO]("sundsbo"),
	of[Search]("search"),
}

// Register adds a method of another module to the methods that [New] knows; construct returns one
// with default parameters. It is for init functions, and panics if the name is taken.
func Register(name string, construct func() Method) {
	if slices.Contains(Names(), name) {
		panic(fmt.Sprintf("algo: a method named %q is registered already", name))
	}
	methods = append(methods, entry{name, construct})
}

// Names returns the names of the methods that [New] knows, MA-DSBO first.
func Names() (names []string) {
	for _, e := range methods {
		names = append(names, e.name)
	}
	return names
}

// New returns the named method with default parameters, before Init.
func New(name string) (Method, error) {
	for _, e := range methods {
		if e.name == name {
			return e.construct(), nil
		}
	}
	return nil, dsbo.ConfigErrorf("algorithm %q is unknown; it must be one of %s", name,
		strings.Join(Names(), ", "))
}

// NameOf returns the name under which a method's type is registered, or the name of its type if it
// is not.
func NameOf(m Method) string {
	for _, e := range methods {
		if reflect.TypeOf(e.construct()) == reflect.TypeOf(m) {
			return e.name
		}
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", m), "*")
}

// Clone returns a method with the same parameters, before Init: an agent's own copy of a template.
// It copies all exported fields, also those that are no parameters.
func Clone(m Method) Method {
	from := reflect.ValueOf(m).Elem()
	made := reflect.New(from.Type())
	for _, f := range fieldsOf(from.Type()) {
		if f.IsExported() && len(f.Index) == 1 { // deeper ones are within these
			made.Elem().FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
		}
	}
	return made.Interface().(Method)
}

// Held returns a method as [Clone] does that leaves x where it is in all iterations, so that its y
// solves the lower problem at that x by the method's own steps and draws; nil for a method
// that cannot.
func Held(m Method) Method {
	held := Clone(m)
	hold := TraitsOf(held).HoldX
	if hold == nil {
		return nil
	}
	hold()
	return held
}

// Parameters returns the names of a method's parameters, in the order of its fields.
func Parameters(m Method) []string {
	var names []string
	for _, p := range parametersOf(m) {
		names = append(names, p.name)
	}
	return names
}

// Decode sets the parameters that a JSON object names and leaves the others as they are. It returns
// an error for text that is no JSON object, a value of another type, and a name that the method
// does not have; names are case-sensitive, unlike in encoding/json.
func Decode(m Method, object []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil {
		return dsbo.ConfigErrorf("%s: parameters must be a JSON object: %v", NameOf(m), err)
	}
	known := Parameters(m)
	for name, value := range given {
		if !slices.Contains(known, name) {
			if instead, is := wording.Struck(NameOf(m) + " " + name); is {
				return dsbo.ConfigErrorf("parameter %s of %s is gone: %s", name, NameOf(m), instead)
			}
			return dsbo.ConfigErrorf("%s has no parameter %q; it has %s", NameOf(m), name,
				strings.Join(known, ", "))
		}
		// one at a time, so that an error names the parameter
		d := json.NewDecoder(bytes.NewReader(fmt.Appendf(nil, "{%q:%s}", name, value)))
		d.DisallowUnknownFields() // within a value that is an object
		err := d.Decode(m)
		if of := (*json.UnmarshalTypeError)(nil); errors.As(err, &of) {
			return dsbo.ConfigErrorf("%s: %s must be %s; it is %s", NameOf(m), name, kindOf(of.Type, value), value)
		}
		if err != nil {
			return dsbo.ConfigErrorf("%s: %s must not be %s: %v", NameOf(m), name, value, err)
		}
	}
	return nil
}

// kindOf returns in words what type of JSON value was expected in place of value. t is the Go type
// of the parameter or, if the error is in an entry of a list, of its entries.
func kindOf(t reflect.Type, value []byte) string {
	switch list := value[0] == '['; {
	case t.Kind() == reflect.Slice:
		return "a list, such as [1,2]"
	case list && t.Kind() == reflect.Float64:
		return "a list of numbers"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	}
	return "text"
}
