// Command benchopt solves problems of benchopt's benchmark of bilevel methods, which dsbo.py beside
// it writes to a folder, by any of dsbo's methods. It is a module outside of dsbo.
package main

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"dsbo"
	"dsbo/ad"
	"dsbo/command"
	"dsbo/data"
	"dsbo/experiment"
	"dsbo/models"
)

func main() { command.Main(newTask()) }

// problem is problem.json of a folder. Its arrays are files beside it, of little-endian float64.
type problem struct {
	Kind           string    // logistic, cleaning or quadratic
	Train, Val     int       // examples; of a quadratic 0
	P, Q           int       // lengths of x and y
	Features       int       // of an example
	Classes        int       // 0: labels are +1 and -1
	Ridge          float64   // of cleaning
	folder         string    // where it lies
	startX, startY []float64 // x0 and y0
}

func newTask() experiment.Task {
	p := new(problem)
	return experiment.Task{
		Name: "benchopt", About: "solve a problem of benchopt's benchmark of bilevel methods",
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&p.folder, "data", "", "`folder` of problem.json and its arrays")
		},
		Load:   p.load,
		Start:  func() (x, y []float64) { return p.startX, p.startY },
		Agents: func() (int, error) { return 1, nil },
	}
}

// load reads the folder. Agents have parts of the same number of examples, in their order, so that
// the mean of the agents' losses is the benchmark's.
func (p *problem) load(a experiment.Agents) (task data.Task, m models.Model, err error) {
	text, err := os.ReadFile(filepath.Join(p.folder, "problem.json"))
	if err != nil {
		return task, nil, dsbo.ConfigErrorf("-data: %v", err)
	}
	if err := json.Unmarshal(text, p); err != nil {
		return task, nil, dsbo.ConfigErrorf("problem.json: %v", err)
	}
	if p.Train%a.N != 0 || p.Val%a.N != 0 {
		return task, nil, dsbo.ConfigErrorf("-agents must divide %d training and %d validation examples; it is %d",
			p.Train, p.Val, a.N)
	}
	for name, dst := range map[string]*[]float64{"x0": &p.startX, "y0": &p.startY} {
		if *dst, err = p.array(name); err != nil {
			return task, nil, err
		}
	}
	task = data.Task{Shards: make([]data.Shard, a.N), Features: p.Features, Classes: p.Classes, AllTrainRows: p.Train}
	if p.Kind == "quadratic" {
		m, err = newQuadratic(p)
		return noExamples(a), m, err
	}
	for _, i := range a.Local {
		if err := p.loadShard(&task.Shards[i], i, a.N); err != nil {
			return task, nil, err
		}
	}
	m, err = p.model()
	return task, m, err
}

// loadShard reads the examples of agent i of n.
func (p *problem) loadShard(s *data.Shard, i, n int) error {
	for _, set := range []struct {
		name string
		rows int
		dst  *data.Examples
	}{{"train", p.Train, &s.Train}, {"val", p.Val, &s.Val}} {
		rows := set.rows / n
		x, err := p.part("x_"+set.name, set.rows, i*rows, rows)
		if err != nil {
			return err
		}
		if set.dst.X, err = ad.FloatTable(rows, p.Features, x); err != nil {
			return fmt.Errorf("x_%s: %w", set.name, err)
		}
		t, err := p.part("t_"+set.name, set.rows, i*rows, rows)
		if err != nil {
			return err
		}
		if set.dst.Target, err = p.targets(t); err != nil {
			return fmt.Errorf("t_%s: %w", set.name, err)
		}
	}
	s.Train.ID = make([]int, s.Train.Len())
	for e := range s.Train.ID {
		s.Train.ID[e] = i*len(s.Train.ID) + e
	}
	return nil
}

// targets returns the table of labels, of which classes are their numbers.
func (p *problem) targets(t []float64) (*ad.Table, error) {
	if p.Classes == 0 {
		return ad.FloatTable(len(t), 1, t)
	}
	labels := make([]uint8, len(t))
	for e, v := range t {
		labels[e] = uint8(v)
	}
	return ad.LabelTable(labels, p.Classes)
}

// model returns the losses.
func (p *problem) model() (models.Model, error) {
	switch p.Kind {
	case "logistic":
		return models.Logistic{Features: p.Features, Mean: true}, nil
	case "cleaning":
		return models.HyperClean{Features: p.Features, Classes: p.Classes, Examples: p.Train, Ridge: p.Ridge}, nil
	}
	return nil, dsbo.ConfigErrorf("kind must be logistic, cleaning or quadratic; it is %q", p.Kind)
}

// part reads some rows of an array of rows.
func (p *problem) part(name string, all, from, rows int) ([]float64, error) {
	numbers, err := p.array(name)
	if err != nil {
		return nil, err
	}
	width := len(numbers) / all
	return numbers[from*width : (from+rows)*width], nil
}

// array reads the file of an array.
func (p *problem) array(name string) ([]float64, error) {
	raw, err := os.ReadFile(filepath.Join(p.folder, name+".f64"))
	if err != nil {
		return nil, err
	}
	numbers := make([]float64, len(raw)/8)
	_, err = binary.Decode(raw, binary.LittleEndian, numbers)
	return numbers, err
}
