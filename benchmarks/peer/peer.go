// Package peer holds the program that dsbo is measured against: the paper's own stack, PyTorch
// autograd and MPI. README.md says how to run it by hand; command compare, in the folder of that
// name, runs it and dsbo in turn.
package peer

import _ "embed"

// Program is the text of the Python program.
//
//go:embed ref_torch_mpi.py
var Program []byte

// Products is the text of a Python program that times one agent's gradients and products of deep networks.
//
//go:embed ref_torch_products.py
var Products []byte
