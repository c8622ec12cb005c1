// Package algotest proves methods: a conformance suite for any [dsbo.Algorithm], and the pieces that
// tests of methods need, which are oracles with closed forms and a record of what was asked, and a
// small in-process exchange.
package algotest
