// Package files reads and writes small file formats without trust in a file's header: arrays
// (NumPy's .npy, IDX), inputs of an announced length, and strict JSON.
package files
