// Package num has numbers with the same bits on every machine: exponentials, logarithms and the
// like, normally distributed numbers, the hash behind named draws, a median, and the risk sets of
// survival times.
package num
