package main

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// patches hold the bugs: bugs/*.patch, each bug with its name, the test that finds it, and edits.
//
//	bug: a session under way does not end
//	test: network/session.TestSeeds
//	--- network/session/handle.go
//	@@
//	-	a.current = nil
//	+	a.current = s
//
// A hunk has no line numbers: its old lines stand in the file exactly once, so that a bug moves
// with the code around it.
//
//go:embed bugs/*.patch
var patches embed.FS

// An edit makes a bug of right code: the old lines of a hunk, and the new ones.
type edit struct {
	file     string
	old, new string
}

// A bug is one that somebody could write.
type bug struct {
	name  string
	test  string // the test that finds it, as in "network/session.TestSeeds"; "dsbo" is the root
	edits []edit
}

// bugs returns all bugs, in the order of the patches.
func bugs() (all []bug, err error) {
	files, err := fs.Glob(patches, "bugs/*.patch")
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := patches.ReadFile(name)
		if err != nil {
			return nil, err
		}
		some, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// parse reads the bugs of a patch.
func parse(text string) (all []bug, err error) {
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "bug: "); ok {
			all, file = append(all, bug{name: name}), ""
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("a patch must begin with a line bug: NAME; it begins with %q", line)
		}
		b := &all[len(all)-1]
		if test, ok := strings.CutPrefix(line, "test: "); ok {
			b.test = test
		} else if name, ok := strings.CutPrefix(line, "--- "); ok {
			file = name
		} else if line == "@@" {
			b.edits = append(b.edits, edit{file: file})
		} else if line != "" && (len(b.edits) == 0 || !b.edits[len(b.edits)-1].add(line)) {
			return nil, fmt.Errorf("%s: line %q must begin with a blank, + or -, below @@", b.name, line)
		}
	}
	return all, nil
}

// add adds a line of a hunk, if it is one.
func (e *edit) add(line string) bool {
	text := line[1:] + "\n"
	switch line[0] {
	case ' ':
		e.old, e.new = e.old+text, e.new+text
	case '-':
		e.old += text
	case '+':
		e.new += text
	default:
		return false
	}
	return true
}

// plantedFiles returns the files of a folder with the bug in them, by their names.
func (b bug) plantedFiles(root string) (map[string]string, error) {
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

// testsOf returns the tests of some names in a folder, as arguments of go test.
func testsOf(folder string, names ...string) []string {
	args := []string{"./" + folder, "-run=^(" + strings.Join(names, "|") + ")$"}
	if folder == "." { // where a test that takes minutes wants a flag
		args = append(args, "-fused")
	}
	return args
}
