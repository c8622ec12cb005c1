// Package algotest tests methods: a conformance suite for any [dsbo/algo.Method], of this module or
// another, and the pieces that tests of methods need: quadratic oracles with known answers, a
// record of what an oracle was asked, and an exchange that counts.
package algotest
