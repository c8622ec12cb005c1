package ad

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Derivative names what a [Derivs] computes, for listings and pictures.
type Derivative uint8

// The derivatives, and the loss itself.
const (
	LossOf        Derivative = iota // the value
	GradientOf                      // ∇_x and ∇_y
	HVPOf                           // (∇²_yy) v
	MixedHVPOf                      // (∇²_xy) v
	GaussNewtonOf                   // the product with the Gauss-Newton matrix
)

// derivativesOf are the stage and the nodes behind each Derivative.
var derivativesOf = [...]struct {
	name  string
	stage stage
	of    []int
}{
	{"the loss", gradients, []int{lossValue}}, {"its gradients by x and y", gradients, []int{gradX, gradY}},
	{"its Hessian-vector product by y", secondOrder, []int{hvp}},
	{"its mixed Hessian-vector product", secondOrder, []int{jvp}},
	{"its Gauss-Newton product", linearized, []int{gnp}},
}

// String returns its name.
func (of Derivative) String() string { return derivativesOf[of].name }

// A Listing is what a program does to compute one derivative.
type Listing struct {
	Of    Derivative
	Rows  int // examples of the batch
	Steps []ListedStep
}

// A ListedStep of a [Listing] computes one value.
type ListedStep struct {
	Name       string   // of the value, by which later steps read it: "%1", "%2", ...
	Op         string   // such as MatMul(A, Bᵀ)
	Args       []string // names of values, inputs and constants
	Rows, Cols int      // of the value; a vector has one column
	// Flops counts two for each number that a product of matrices sums, and one for each number of
	// other ops, whatever their functions cost.
	Flops int
	Bytes int  // of the value; 0: it lies in the memory of its argument
	Kept  bool // the value stays for the next product at the same point
}

// Flops returns the sum over all steps.
func (l Listing) Flops() (sum int) {
	for _, s := range l.Steps {
		sum += s.Flops
	}
	return sum
}

// String writes the listing as a table, a step a line.
func (l Listing) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	bytes, kept := 0, 0
	fmt.Fprintf(w, "value\tshape\tflops\tbytes\tkept\tstep\n")
	for _, s := range l.Steps {
		keeps := ""
		if bytes += s.Bytes; s.Kept {
			keeps = "kept"
			kept += s.Bytes
		}
		fmt.Fprintf(w, "%s\t%d×%d\t%d\t%d\t%s\t%s of %s\n", s.Name, s.Rows, s.Cols, s.Flops, s.Bytes, keeps, s.Op,
			strings.Join(s.Args, ", "))
	}
	w.Flush()
	return fmt.Sprintf("%v, %d examples: %d steps, %d flops, values of %d bytes, %d of them kept\n%s",
		l.Of, l.Rows, len(l.Steps), l.Flops(), bytes, kept, &b)
}

// Listing returns the steps by which one derivative is computed alone, in their order. Values that
// are kept from other calls at the same point are in it, and are not computed again.
func (d *Derivs) Listing(of Derivative) (Listing, error) {
	outs, key, err := d.outputs(of)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{Of: of, Rows: d.f.Rows}
	if len(outs) == 0 { // the derivative is 0
		return l, nil
	}
	p, err := d.planOf(key, false)
	if err != nil {
		return l, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	names, at, size := map[int]string{}, map[int]*Node{}, 8
	for n, slot := range d.slots {
		if at[slot] = n; isLeaf(n) {
			names[slot] = leafName(n)
		}
	}
	if d.f.Float32 {
		size = 4
	}
	for _, s := range d.template.Steps(p) {
		n := at[s.Out]
		rows, cols := dims(n)
		step := ListedStep{Name: fmt.Sprintf("%%%d", len(l.Steps)+1), Op: ruleOf(n).String(), Rows: rows, Cols: cols,
			Flops: flops(n), Bytes: rows * cols * size, Kept: s.Kept}
		if s.View {
			step.Flops, step.Bytes = 0, 0
		}
		names[s.Out] = step.Name
		for _, a := range s.Args {
			if a >= 0 {
				step.Args = append(step.Args, names[a])
			}
		}
		l.Steps = append(l.Steps, step)
	}
	return l, nil
}

// outputs returns the nodes of a derivative that are not 0, which it builds, and their bits.
func (d *Derivs) outputs(of Derivative) (list nodes, key int, err error) {
	if err := d.build(derivativesOf[of].stage); err != nil {
		return nil, 0, err
	}
	for _, i := range derivativesOf[of].of {
		if n := d.nodes[i]; n != nil {
			list, key = append(list, n), key|1<<i
		}
	}
	return list, key, nil
}

// flops counts the arithmetic of a node.
func flops(n *Node) int {
	rows, cols := dims(n)
	rule := ruleOf(n)
	if b, ok := rule.(batchRule); ok {
		rule = b.matmulRule
		if b.tA { // the rows of one matrix, where those below are of others
			return 2 * rows * cols * b.ra
		}
	}
	if m, ok := rule.(matmulRule); ok {
		r, c := dims(children(n)[0])
		if m.tA {
			c = r
		}
		return 2 * rows * cols * c
	}
	most := rows * cols
	for _, a := range children(n) {
		r, c := dims(a)
		most = max(most, r*c) // of a sum
	}
	return most
}

// leafName returns what people call a leaf.
func leafName(n *Node) string {
	if r, ok := ruleOf(n).(leafRule); ok {
		return strings.TrimPrefix(r.name, "input:")
	}
	if n.Name() != "" {
		return n.Name()
	}
	return fmt.Sprint(n.Value())
}

// WriteDOT draws the graph of a loss and of one of its derivatives in the language of Graphviz, by
// a name of the picture: what the loss has is drawn solid, and what the derivative adds dashed.
func (d *Derivs) WriteDOT(w io.Writer, name string, of Derivative) error {
	outs, _, err := d.outputs(of)
	if err != nil {
		return err
	}
	ofLoss := map[*Node]bool{}
	for _, n := range topological(d.outs[0]) {
		ofLoss[n] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n\trankdir=BT\n", name)
	ids := map[*Node]int{}
	for _, n := range topological(append(nodes{d.outs[0]}, outs...)...) {
		ids[n] = len(ids)
		var label, look string
		if isLeaf(n) {
			label, look = leafName(n), "shape=box"
		} else {
			label, look = ruleOf(n).String(), "shape=ellipse"
		}
		switch {
		case n == d.outs[0]:
			look += ", penwidth=3"
		case slices.Contains(outs, n):
			look += ", penwidth=3, style=dashed"
		case !ofLoss[n]:
			look += ", style=dashed"
		}
		fmt.Fprintf(&b, "\tn%d [label=%q, %s]\n", ids[n], fmt.Sprintf("%s\n%v", label, n.Shape()), look)
		for _, a := range children(n) {
			fmt.Fprintf(&b, "\tn%d -> n%d\n", ids[a], ids[n])
		}
	}
	_, err = io.WriteString(w, b.String()+"}\n")
	return err
}
