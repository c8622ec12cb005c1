package models

import (
	"fmt"
	"slices"
	"sync"

	"dsbo/ad"
	"dsbo/data"
	"dsbo/internal/kernel"
)

// Programs are the compiled parts of a model: its losses with their derivatives, its closed forms
// and its scores. There is one of each for a number of rows, kinds of inputs and an element type.
// The oracles and scores of all agents of a process share them, and scratch memory for as many as
// compute at one time; data and values are an agent's own. Programs are safe for concurrent use.
type Programs struct {
	model  Model
	pool   ad.Pool
	mu     sync.Mutex
	losses map[compilation]*ad.Derivs // these never run: agents have forks of them
	forms  map[compilation]form

	vectors kernel.Spares[[]float64] // scratch of oracles
}

// A compilation is the key of a compiled part of a model.
type compilation struct {
	of      part
	inputs  string // their names, shapes and kinds
	rows    int
	float32 bool
	keep    int
	tape    bool // on Gorgonia's TapeMachine
}

// A part is one of the things that are compiled of a model.
type part string

// The parts of a model. Errors name losses by them.
const (
	lowerLoss    part = "lower"
	upperLoss    part = "upper"
	diagonalForm part = "diagonal"
	scoreForm    part = "score"
	levelForm    part = "level"
)

// A form is a compiled closed form or score.
type form struct {
	program *ad.Program
	values  int // that the program has; 0: the model has no such form
}

// NewPrograms returns the programs of m. Each is compiled on first use.
func NewPrograms(m Model) *Programs {
	return &Programs{model: m, losses: map[compilation]*ad.Derivs{}, forms: map[compilation]form{}}
}

// Workspace returns a new workspace whose scratch memory the programs share.
func (p *Programs) Workspace() *ad.Workspace { return &ad.Workspace{Pool: &p.pool} }

// scratch returns a vector of n numbers, which the caller returns by vectors.Add.
func (p *Programs) scratch(n int) *[]float64 {
	v := p.vectors.Get()
	*v = slices.Grow((*v)[:0], n)[:n]
	return v
}

// key returns the key of a part compiled for n rows of e.
func (e *examples) key(of part, rows int, float32 bool) compilation {
	return compilation{of: of, inputs: fmt.Sprintf("%+v", e.inputs()), rows: rows, float32: float32}
}

// differentiate returns a loss of the model on batches of n rows of e, with memory in w.
func (p *Programs) differentiate(of part, e *examples, rows int, c Config,
	w *ad.Workspace) (_ *ad.Derivs, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := e.key(of, rows, c.Float32)
	key.keep, key.tape = c.Keep, c.Gorgonia
	d := p.losses[key]
	if d == nil {
		loss := p.model.Lower
		if of == upperLoss {
			loss = p.model.Upper
		}
		x, y := p.model.Dims()
		if d, err = e.differentiate(loss, x, y, rows, c); err != nil {
			return nil, err
		}
		p.losses[key] = d
	}
	return d.Fork(w), nil
}

// compileAll is compile for all examples of e, which it binds to the form's program.
func (p *Programs) compileAll(of part, e data.Examples, float32 bool, w *ad.Workspace,
	build func(x, y *ad.Node, b Batch) ([]*ad.Node, error)) (form, error) {
	ex, err := newExamples(e, float32)
	if err != nil {
		return form{}, err
	}
	f, err := p.compile(of, &ex, ex.rows, float32, w, build)
	if err == nil {
		err = ex.bind(f.program, nil) // nil: all rows
	}
	return f, err
}

// compile returns the form that build builds, on batches of the given number of rows of e, with
// memory in w. It is compiled once for each key. If build returns no nodes, the model has no such
// form: the result then has values = 0 and, as a program must have a value, a program that returns
// y. It is stored like others, so that build is called once.
func (p *Programs) compile(of part, e *examples, rows int, float32 bool, w *ad.Workspace,
	build func(x, y *ad.Node, b Batch) ([]*ad.Node, error)) (form, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := e.key(of, rows, float32)
	f, known := p.forms[key]
	if !known {
		x, y := p.model.Dims()
		var wrong error
		program, err := e.compile(x, y, rows, float32, func(x, y *ad.Node, b Batch) []*ad.Node {
			var values []*ad.Node
			if values, wrong = build(x, y, b); len(values) == 0 {
				return []*ad.Node{y}
			}
			f.values = len(values)
			return values
		})
		if err == nil {
			err = wrong
		}
		if err != nil {
			return form{}, err
		}
		f.program = program
		p.forms[key] = f
	}
	f.program = f.program.Fork(w)
	return f, nil
}
