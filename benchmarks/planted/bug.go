package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An edit makes a bug of right code.
type edit struct {
	file     string
	old, new string
}

// A bug is one that somebody could write.
type bug struct {
	name  string
	test  string // the one that is known to find it, as in "network/grpc.TestWindow"; the module's own package is "dsbo"
	edits []edit
}

// one returns a bug of one edit.
func one(name, test, file, old, new string) bug { return bug{name, test, []edit{{file, old, new}}} }

// bugs returns all.
func bugs() []bug {
	return slices.Concat(exchangeBugs(), fileBugs(), memberBugs(), lossBugs(), sumBugs(), trustBugs(), computingBugs())
}

// apply returns the files of a folder with the bug in them, by their names.
func (b bug) apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range b.edits {
		text, ok := files[e.file]
		if !ok {
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.name, err)
			}
			text = string(data)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s: %s must have this once; it has it %d times:\n%s", b.name, e.file, n, e.old)
		}
		files[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return files, nil
}

// folderOf returns the folder and the name of a test.
func folderOf(test string) (folder, name string) {
	dot := strings.LastIndex(test, ".")
	if folder, name = test[:dot], test[dot+1:]; folder == "dsbo" {
		folder = "."
	}
	return folder, name
}

// narrow returns the one test that is known to find the bug, as arguments of go test.
func (b bug) narrow() [][]string {
	folder, name := folderOf(b.test)
	return [][]string{{"./" + folder, "-run=^(" + name + ")$"}}
}

// wide returns all tests of the packages that the bug is in and of that of its test, first those of -short.
func (b bug) wide() (all [][]string) {
	folder, _ := folderOf(b.test)
	packages := []string{folder}
	for _, e := range b.edits {
		if dir := filepath.ToSlash(filepath.Dir(e.file)); !slices.Contains(packages, dir) {
			packages = append(packages, dir)
		}
	}
	for _, more := range [][]string{{"-short"}, nil} {
		for _, p := range packages {
			all = append(all, append([]string{"./" + p}, more...))
		}
	}
	return all
}

// simulated returns the simulator's test.
func simulated(seeds int) [][]string {
	return [][]string{{"./experiment/simulate", "-run=^TestSeeds$", fmt.Sprintf("-seeds=%d", seeds)}}
}
