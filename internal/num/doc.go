// Package num has numbers with the same bits on every machine: exponentials, logarithms and their
// like, normally distributed numbers, the hash of which named draws are made, a median, and
// the risk sets of survival times.
package num
