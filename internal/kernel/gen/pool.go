package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The registers of pooling: of each channel the tap and its entry, of the tap in hand its number
// and its entries, scratch, and zeros.
const poolTap, poolEntry, poolNumber, poolNext, poolWhere, poolMask, poolZero = 0, 1, 2, 3, 4, 6, 7

// The parameters of all functions of pooling.
const poolSizes, poolTaps = "patches, channels int, ", "step, taps int, places *int, numbers *T"

// Predicates of comparisons: equal; none is NaN; greater, or one is NaN.
const cmpEqual, cmpOrdered, cmpNotLessEqual = 0x00, 0x07, 0x16

// pooling emits what a window does to patches side by side along a row, a register of channels at a
// time. They begin step bytes apart; the taps of each lie at places, in bytes from where it begins,
// and numbers has 0, 1, 2 ... as elements.
func (e *emitter) pooling() {
	e.fn("largestTaps",
		"sets dst, of a number of channels a patch, to the tap at which each channel is largest: to the first of "+
			"equal ones, and of NaN.",
		poolSizes+"dst, src *T, "+poolTaps, "")
	dst, src := e.arg("dst"), e.arg("src")
	e.eachWidth(e.arg("channels"), func() {
		e.eachChannels(src, []reg.GPVirtual{dst}, func(eachTap tapLoop, tap operand.Mem, k *mask) {
			e.load(tap, poolEntry, k, 0)
			e.zero(poolTap)
			eachTap(func(tap operand.Mem) {
				e.load(tap, poolNext, k, 0)
				e.where(cmpNotLessEqual, poolEntry, poolNext)
				e.andWhere(cmpOrdered, poolEntry, poolEntry)
				e.choose(poolNext, poolEntry)
				e.choose(poolNumber, poolTap)
			})
			e.store(poolTap, at(dst), k, 0)
		})
		e.ret()
	})

	e.fn("pickTaps", "sets dst, of a number of channels a patch, to the entries of src at the taps that chosen has.",
		poolSizes+"dst, chosen, src *T, "+poolTaps, "")
	dst, src = e.arg("dst"), e.arg("src")
	chosen := e.arg("chosen")
	e.eachWidth(e.arg("channels"), func() {
		e.eachChannels(src, []reg.GPVirtual{dst, chosen}, func(eachTap tapLoop, _ operand.Mem, k *mask) {
			e.load(at(chosen), poolTap, k, 0)
			e.zero(poolEntry)
			eachTap(func(tap operand.Mem) {
				e.where(cmpEqual, poolNumber, poolTap)
				e.load(tap, poolNext, k, 0)
				e.choose(poolNext, poolEntry)
			})
			e.store(poolEntry, at(dst), k, 0)
		})
		e.ret()
	})

	// A sum that is stored is soon read again, in part: a store of 64 bytes, some of them masked,
	// would hold that up.
	e.shorter(func() {
		e.spreadTaps("addTaps",
			"adds src, of a number of channels a patch, to the entries of dst at the taps that chosen has, and 0 to "+
				"those at the others.",
			func(emit func()) { emit() }, func(tap operand.Mem, k *mask) {
				e.packed("VADD", e.source(tap, poolWhere, k, 0), poolNext, poolNext)
			})
	})
	// Where patches do not overlap each entry is written once.
	e.spreadTaps("putTaps",
		"sets the entries of dst at the taps that chosen has to 0 + src, of a number of channels a patch, and those "+
			"at the others to 0.",
		func(emit func()) { e.eachWidth(e.arg("channels"), emit) }, func(operand.Mem, *mask) {
			e.packed("VADD", poolZero, poolNext, poolNext)
		})
}

// spreadTaps emits an adjoint of pickTaps for the widths of registers that widths chooses: of the
// entry of each tap, src or 0, plus what add adds.
func (e *emitter) spreadTaps(name, doc string, widths func(emit func()), add func(tap operand.Mem, k *mask)) {
	e.fn(name, doc, poolSizes+"dst, chosen, src *T, "+poolTaps, "")
	dst, chosen, src := e.arg("dst"), e.arg("chosen"), e.arg("src")
	e.zero(poolZero)
	widths(func() {
		e.eachChannels(dst, []reg.GPVirtual{src, chosen}, func(eachTap tapLoop, _ operand.Mem, k *mask) {
			e.load(at(chosen), poolTap, k, 0)
			e.load(at(src), poolEntry, k, 0)
			eachTap(func(tap operand.Mem) {
				e.where(cmpEqual, poolNumber, poolTap)
				e.zero(poolNext)
				e.choose(poolEntry, poolNext)
				add(tap, k)
				e.store(poolNext, tap, k, 0)
			})
		})
		e.ret()
	})
}

// A tapLoop emits a loop over the taps, with the memory of each.
type tapLoop func(each func(tap operand.Mem))

// eachChannels emits a loop over patches, the first of which begins at start, and the registers of
// their channels, which move the other pointers on. The body gets a function that emits a loop over
// the taps, with the broadcast number of each, and the memory of the first one.
func (e *emitter) eachChannels(start reg.GPVirtual, others []reg.GPVirtual,
	body func(eachTap tapLoop, first operand.Mem, k *mask)) {
	n, places, numbers := e.arg("channels"), e.arg("places"), e.arg("numbers")
	full := e.copyOf(n)
	e.op("SHRQ", log2(e.lanes()), full)
	e.op("ANDQ", e.lanes()-1, n)
	rest := e.mask(n, poolMask)
	image, t, off, count := e.GP64(), e.GP64(), e.GP64(), e.GP64()
	register := func(name string, k *mask) {
		eachTap := func(each func(tap operand.Mem)) {
			e.XORQ(t, t)
			e.label("%sTap", name)
			e.MOVQ(scaled(places, t, 8), off)
			e.broadcast(scaled(numbers, t, e.size), poolNumber)
			each(indexed(image, off))
			e.INCQ(t)
			e.CMPQ(t, e.param("taps"))
			e.jump("JLT", "%sTap", name)
		}
		e.MOVQ(at(places), off)
		body(eachTap, indexed(image, off), k)
	}
	e.label("patch")
	e.MOVQ(start, image)
	e.MOVQ(full, count)
	e.jumpIfZero(count, "rest")
	e.label("register")
	register("register", nil)
	for _, p := range append(others, image) {
		e.op("ADDQ", e.width, p)
	}
	e.countDown(count, "register")
	e.label("rest")
	e.jumpIfZero(n, "next")
	register("rest", &rest)
	for _, p := range others {
		e.LEAQ(scaled(p, n, e.size), p)
	}
	e.label("next")
	e.ADDQ(e.param("step"), start)
	e.countDown(e.param("patches"), "patch")
}

// where notes in which lanes a comparison holds of register x with y, and andWhere leaves those in
// which another holds too.
func (e *emitter) where(predicate, y, x int) {
	e.compare(predicate, y, x, poolWhere)
}

func (e *emitter) andWhere(predicate, y, x int) {
	if e.wide {
		e.packed("VCMP", immediate(predicate), y, x, reg.K2, reg.K2)
		return
	}
	e.compare(predicate, y, x, poolWhere+1)
	e.packed("VAND", poolWhere+1, poolWhere, poolWhere)
}

// choose copies register from to register to in the lanes that where noted.
func (e *emitter) choose(from, to int) {
	if e.wide {
		e.vectors("VMOVUP"+e.letter(), from, reg.K2, to)
		return
	}
	e.packed("VBLENDV", poolWhere, from, to, to)
}
