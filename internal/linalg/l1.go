package linalg

import (
	"cmp"
	"math"
)

// An L1 is a convex problem of independent blocks of equal length,
//
//	min_u  Σ_k s_k(u_k) + Σ_j τ_j |u_j|
//
// given by gradients and products with the Hessian of s, each for all blocks at once. τ_j = 0
// leaves an entry free, and +Inf fixes it at 0.
//
// Newton's method minimizes a quadratic model of each block (Byrd, Nocedal, Oztoprak: "An inexact
// successive quadratic approximation method for L-1 regularized optimization", Math. Program. 2016;
// Dostál's proportioning). It takes conjugate-gradient steps among the nonzero entries. It takes a
// proximal step where a sign would change, or where the entries at 0 dominate the subgradient. Each
// block has its own step, and all blocks share a product. A step is shortened until the slope at
// its end is small, so no function values are needed.
type L1 struct {
	Blocks     int
	Thresholds []float64 // τ, of all blocks
	Gradient   func(dst, u []float64) error
	Product    func(dst, u, v []float64) error // of the Hessian at u and v

	Gradients, Products int // taken so far

	curvature []float64 // of each block, the largest seen along a step
}

// Bounds of the steps of a solution, and of the products of each.
const (
	mostL1Steps    = 60
	mostL1Products = 1000
)

// slopeLeft is the share of a step's starting slope that may be left at its end. A longer step is
// shortened by a factor from leastShortens to mostShortens.
const (
	slopeLeft     = 0.5
	leastShortens = 0.1
	mostShortens  = 0.7
)

// leastGain is the share of a subgradient beyond which a step that leaves it has come to round-off,
// if that is as small as roughestFloor of the first one.
const (
	leastGain     = 0.5
	roughestFloor = 1e-6
)

// Solve moves u to the minimum, from where it is: until in each block no subgradient is longer
// than tol. It returns the gradient of s there, and whether all blocks have come there, or as near
// as round-off lets them.
func (p *L1) Solve(u []float64, tol float64) (gradient []float64, converged bool, err error) {
	n := len(u)
	gradient, z, r := make([]float64, n), make([]float64, n), make([]float64, n)
	if err := p.gradient(gradient, u); err != nil {
		return nil, false, err
	}
	first, last := p.norms(u, gradient), make([]float64, p.Blocks)
	Fill(last, math.Inf(1))
	for range mostL1Steps {
		norms, left, ended := p.norms(u, gradient), make([]float64, p.Blocks), true
		for k, norm := range norms {
			floor := norm >= leastGain*last[k] && norm <= roughestFloor*first[k]
			if left[k] = math.Inf(1); !(norm <= tol || floor) {
				left[k], ended = max(norm*min(0.1, math.Sqrt(norm/first[k])), tol/2), false
			}
			last[k] = norm
		}
		if ended {
			return gradient, true, nil
		}
		copy(z, u)
		copy(r, gradient)
		if err := p.quadratic(u, z, r, p.Thresholds, left); err != nil {
			return nil, false, err
		}
		if moved, err := p.step(u, z, gradient); err != nil || !moved {
			return gradient, false, err
		}
	}
	return gradient, false, nil
}

// SolveFree returns v of H v = b with the Hessian at u, of the entries that are free: where u is
// not 0, or the threshold is. Elsewhere v is 0. The residual of each block is at most
// tol of b.
func (p *L1) SolveFree(u, b []float64, tol float64) (v []float64, err error) {
	v, r, thresholds, left := make([]float64, len(u)), make([]float64, len(u)), make([]float64, len(u)),
		make([]float64, p.Blocks)
	Scale(r, -1, b)
	for j, at := range u {
		if at == 0 && p.Thresholds[j] > 0 {
			thresholds[j] = math.Inf(1)
		}
	}
	m := len(u) / p.Blocks
	for k := range left {
		left[k] = tol * Norm(b[k*m:][:m])
	}
	return v, p.quadratic(u, v, r, thresholds, left)
}

// gradient counts.
func (p *L1) gradient(dst, u []float64) error {
	p.Gradients++
	return p.Gradient(dst, u)
}

// norms returns the length of the shortest subgradient of each block.
func (p *L1) norms(u, gradient []float64) []float64 {
	all := make([]float64, p.Blocks)
	for k := range all {
		b := p.block(k, u, gradient, p.Thresholds)
		free, zero := b.subgradients()
		all[k] = math.Sqrt(free + zero)
	}
	return all
}

// step moves each block of u towards z, as far as its slope allows, and sets gradient to the one
// there. A block that has to be shortened to nearly nothing, as by round-off, ends the solution:
// moved is false then, and u and gradient stay.
func (p *L1) step(u, z, gradient []float64) (moved bool, err error) {
	n, m := len(u), len(u)/p.Blocks
	d, back, trial, after := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	Sub(d, z, u)
	Sub(back, u, z) // −d
	copy(trial, z)
	shares, slopes := make([]float64, p.Blocks), make([]float64, p.Blocks)
	for k := range shares {
		at := k * m
		shares[k], slopes[k] = 1, slopeAlong(u[at:][:m], d[at:][:m], gradient[at:][:m], p.Thresholds[at:][:m])
	}
	for shortened := true; shortened; {
		if err := p.gradient(after, trial); err != nil {
			return false, err
		}
		shortened = false
		for k, t := range shares {
			own := d[k*m:][:m]
			// From the side of u, since an entry that ends at 0 has another slope beyond.
			end := -slopeAlong(trial[k*m:][:m], back[k*m:][:m], after[k*m:][:m], p.Thresholds[k*m:][:m])
			if slopes[k] >= 0 || end <= -slopeLeft*slopes[k] { // at its minimum, or short enough
				continue
			}
			cut := -slopes[k] / (end - slopes[k]) // where the line through both slopes is 0
			if !(cut >= leastShortens) {          // not a number, too
				cut = leastShortens
			}
			if shares[k] = t * min(cut, mostShortens); shares[k] < roughestFloor {
				return false, nil
			}
			shortened = true
			Comb(trial[k*m:][:m], 1, u[k*m:][:m], shares[k], own)
		}
	}
	copy(u, trial)
	copy(gradient, after)
	return true, nil
}

// slopeAlong returns the slope of a block's s + Σ τ|u| at u towards u + d.
func slopeAlong(u, d, gradient, thresholds []float64) (slope float64) {
	for j, v := range d {
		switch {
		case v == 0: // an infinite τ times 0 would be NaN
			continue
		case u[j] == 0:
			slope += float64(thresholds[j] * math.Abs(v))
		default:
			slope += float64(thresholds[j] * math.Copysign(v, float64(v*u[j])))
		}
		slope += float64(gradient[j] * v)
	}
	return slope
}

// quadratic moves z to the minimum of the quadratic models of s at u plus the thresholds' term,
// until block k's shortest subgradient is at most left[k] long. r is the models' gradients at z.
// One product serves the steps of all blocks, as the Hessian is zero between them.
func (p *L1) quadratic(u, z, r, thresholds, left []float64) error {
	if p.curvature == nil {
		p.curvature = make([]float64, p.Blocks)
	}
	n, m := len(u), len(u)/p.Blocks
	v, product, blocks := make([]float64, n), make([]float64, n), make([]*l1Block, p.Blocks)
	for k := range blocks {
		blocks[k] = p.block(k, z, r, thresholds)
		blocks[k].left, blocks[k].curvature = left[k], &p.curvature[k]
		blocks[k].way = make([]float64, m)
	}
	for range mostL1Products {
		moving := false
		for k, b := range blocks {
			own := v[k*m:][:m]
			if b.ended = b.ended || !b.chooseWay(); b.ended {
				Fill(own, 0)
				continue
			}
			copy(own, b.way)
			moving = true
		}
		if !moving {
			return nil
		}
		p.Products++
		if err := p.Product(product, u, v); err != nil {
			return err
		}
		for k, b := range blocks {
			if !b.ended {
				b.move(product[k*m:][:m])
			}
		}
	}
	return nil
}

// block returns block k at z.
func (p *L1) block(k int, z, r, thresholds []float64) *l1Block {
	m := len(z) / p.Blocks
	return &l1Block{z: z[k*m:][:m], r: r[k*m:][:m], thresholds: thresholds[k*m:][:m]}
}

// An l1Block is the quadratic model of a block at z.
type l1Block struct {
	z, r, thresholds []float64 // the point, the gradient there, τ
	left             float64   // length of a subgradient that may be left
	curvature        *float64  // the largest seen
	way              []float64 // of the next step
	proximal         bool      // so is that step
	blocked          bool      // an entry has come to 0, where conjugate gradients end
	square           float64   // of the free subgradient before the last step of conjugate gradients; 0: they begin
	ended            bool      // no further step is needed, or leads anywhere
}

// subgradient returns the entry of the shortest subgradient, and whether the entry of z is free.
func (b *l1Block) subgradient(j int) (g float64, free bool) {
	t := b.thresholds[j]
	switch z := b.z[j]; {
	case t == 0:
		return b.r[j], true
	case z == 0:
		return softThreshold(b.r[j], t), false
	default:
		return b.r[j] + math.Copysign(t, z), true
	}
}

// softThreshold returns v, nearer to 0 by t, and not beyond it.
func softThreshold(v, t float64) float64 { return math.Copysign(max(0, math.Abs(v)-t), v) }

// subgradients returns the squared lengths of the two parts of the shortest subgradient: the free
// entries', and the entries' at 0.
func (b *l1Block) subgradients() (free, zero float64) {
	for j := range b.z {
		if g, ok := b.subgradient(j); ok {
			free += float64(g * g)
		} else {
			zero += float64(g * g)
		}
	}
	return free, zero
}

// chooseWay sets the way of the next step: of a proximal one after an entry came to 0, or where the
// entries at 0 dominate the subgradient, else the next conjugate direction of the free entries. It
// returns false where no step is needed.
func (b *l1Block) chooseWay() bool {
	free, zero := b.subgradients()
	if !(math.Sqrt(free+zero) > b.left) {
		return false
	}
	if b.proximal = b.blocked || zero > free; b.proximal {
		b.blocked, b.square = false, 0
		c := cmp.Or(*b.curvature, 1) // any step where none is known yet: move finds its length
		for j, z := range b.z {
			b.way[j] = softThreshold(z-b.r[j]/c, b.thresholds[j]/c) - z
		}
		return true
	}
	share := 0.0 // Fletcher and Reeves's; 0 for the first of conjugate directions
	if b.square > 0 {
		share = free / b.square
	}
	for j, way := range b.way {
		if g, ok := b.subgradient(j); ok {
			b.way[j] = float64(share*way) - g
		} else {
			b.way[j] = 0
		}
	}
	b.square = free
	return true
}

// move steps along b.way, given its product with the Hessian, and brings r to the new z. It ends
// the block instead, and leaves z, where the way leads to no lower value or has no end.
func (b *l1Block) move(product []float64) {
	bend, square := Dot(b.way, product), Dot(b.way, b.way)
	if bend > float64(*b.curvature*square) {
		*b.curvature = bend / square
	}
	var share float64
	first := -1 // the entry that comes to 0 first
	if b.proximal {
		share = b.proximalShare(bend)
	} else {
		share, first = b.conjugateShare(bend)
	}
	if b.ended = share == 0 || math.IsInf(share, 1); b.ended {
		return
	}
	for j, v := range b.way {
		at := b.z[j]
		if b.z[j] = at + float64(share*v); b.proximal && share == 1 && v == -at {
			b.z[j] = 0
		}
	}
	if first >= 0 {
		b.z[first] = 0
	}
	Axpy(b.r, share, product)
}

// proximalShare returns the share of the way up to its least value of the model with the
// thresholds' term, at most 1; 0: that does not fall along it.
func (b *l1Block) proximalShare(bend float64) float64 {
	slope := Dot(b.r, b.way)
	for j, v := range b.way {
		if v != 0 { // an infinite τ times 0 would be NaN
			slope += float64(b.thresholds[j] * (math.Abs(b.z[j]+v) - math.Abs(b.z[j])))
		}
	}
	switch {
	case !(slope < 0):
		return 0
	case bend > 0:
		return min(1, -slope/bend)
	}
	return 1
}

// conjugateShare returns the multiple of the way up to its least value of the model, or up to where
// the first entry comes to 0, and sets blocked: beyond it the threshold's term has another slope.
// It is infinite where the model is flat or falls without an end.
func (b *l1Block) conjugateShare(bend float64) (share float64, first int) {
	share, first = math.Inf(1), -1
	if bend > 0 {
		share = b.square / bend
	}
	for j, v := range b.way {
		if z := b.z[j]; b.thresholds[j] > 0 && float64(z*v) < 0 && -z/v <= share {
			share, first = -z/v, j
		}
	}
	b.blocked = first >= 0
	return share, first
}
