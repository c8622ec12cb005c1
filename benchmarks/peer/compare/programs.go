package main

import _ "embed"

// torchProgram is the text of the Python program that dsbo is measured against: the paper's own
// stack, PyTorch autograd and MPI. README.md of the parent folder says how to run it by hand.
//
//go:embed ref_torch_mpi.py
var torchProgram []byte

// torchProducts is the text of a Python program that times one agent's gradients and products of
// deep networks.
//
//go:embed ref_torch_products.py
var torchProducts []byte

// libtorchProducts is the text of a C++ program that times the same with libtorch.
//
//go:embed libtorch/products.cpp
var libtorchProducts []byte
