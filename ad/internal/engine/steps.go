package engine

// A stepInfo is a step of a plan, as people see it.
type stepInfo struct {
	Out  int   // the value that it computes
	Args []int // the values that it reads; −1 where the shape alone counts
	Kept bool  // the value stays from one run to the next
	View bool  // the value lies in the memory of its argument
}

// Steps returns the steps of a plan in their order.
func (t *Template) Steps(p *Plan) []stepInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]stepInfo, len(p.order))
	for i, k := range p.order {
		s := t.steps[k]
		v := t.values[s.out]
		list[i] = stepInfo{Out: s.out, Args: s.args, Kept: t.values[t.root(s.out)].kept, View: v.base >= 0}
	}
	return list
}
