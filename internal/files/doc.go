// Package files reads and writes small file formats without trust in what a file announces:
// arrays (NumPy's .npy, IDX), inputs of an announced length, and strict JSON.
package files
