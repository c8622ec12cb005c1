// Command planted proves the tests: it plants bugs, one after the other, in a copy of the repository, and says which test finds
// each.
//
//	go run ./benchmarks/planted
//
// A bug is a text of a file in place of another one, so that it moves with the code around it. One whose old text is not in its
// file exactly once is an error, which TestPlanted finds: whoever changes that code says how the bug looks from then on. The
// copy is of the last commit. The exit code is 1 if a bug is not found.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dsbo"
	"dsbo/internal/cli"
)

func main() { os.Exit(cli.Main("planted", command)) }

// An edit makes a bug of right code.
type edit struct {
	file     string
	old, new string
}

// A bug is one that somebody could write.
type bug struct {
	name  string
	edits []edit
	// packages are those whose tests have to find it, if the simulator does not, those that take least first.
	packages []string
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

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := cli.NewFlags("planted", "planted plants bugs in a copy of the repository, and says which test finds each.", "")
	only := f.String("only", "", "`part` of the names of the bugs that are planted; \"\": all are")
	limit := f.Duration("limit", 5*time.Minute, "`time` that the tests of a package may take")
	seeds := f.Int("seeds", 150, "`number` of seeds that the simulator runs, before the tests of packages; 0: none")
	alone := f.Bool("alone", false, "run the simulator alone")
	f.Group("Bugs", "only", "limit", "seeds", "alone")
	if err := f.Parse(args, stdout); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(bugs(), func(b bug) bool { return !strings.Contains(b.name, *only) })
	if len(chosen) == 0 {
		return dsbo.Errorf(dsbo.ErrConfig, "-only must be part of a bug's name; no name has %q", *only)
	}
	c, err := newCopy(ctx, *limit)
	if err != nil {
		return err
	}
	defer c.remove()
	found := 0
	for _, b := range chosen {
		began := time.Now()
		by, err := c.find(ctx, b, b.tests(*seeds, *alone))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			by = "not planted: " + cli.OneLine(err)
		case by == "":
			by = "NOT FOUND"
		default:
			found++
		}
		fmt.Fprintf(stdout, "| %s | %s | %.0f s |\n", b.name, by, time.Since(began).Seconds())
	}
	fmt.Fprintf(stdout, "%d of %d found\n", found, len(chosen))
	if found < len(chosen) {
		return fmt.Errorf("%d bugs are not found", len(chosen)-found)
	}
	return nil
}

// tests returns the tests that have to find the bug, as arguments of go test: of packages first those of -short, then all.
func (b bug) tests(seeds int, alone bool) (all [][]string) {
	if seeds > 0 {
		all = append(all, []string{"./simulate", "-run=TestSeeds", fmt.Sprintf("-seeds=%d", seeds)})
	}
	if alone {
		return all
	}
	for _, more := range [][]string{{"-short"}, nil} {
		for _, p := range b.packages {
			all = append(all, append([]string{"./" + p}, more...))
		}
	}
	return all
}
