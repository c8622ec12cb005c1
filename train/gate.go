package train

import (
	"context"
	"sync"
)

// A gate lets agents into iterations, and stops all of them after the same one: they depend on each
// other's exchanges, so an iteration that one has begun all must end.
type gate struct {
	ctx     context.Context // when it ends, the gate stops
	mu      sync.Mutex
	limit   int // iterations from here on are closed
	entered int // the highest iteration that an agent has begun, plus 1
}

func newGate(ctx context.Context, done, limit int) *gate {
	return &gate{ctx: ctx, limit: limit, entered: done}
}

// enter reports whether an agent may begin iteration k.
func (g *gate) enter(k int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		g.limit = min(g.limit, g.entered)
	}
	if k >= g.limit {
		return false
	}
	g.entered = max(g.entered, k+1)
	return true
}

// stop closes all iterations that nobody has begun.
func (g *gate) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = min(g.limit, g.entered)
}
