package command

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dsbo/experiment/site"
	"dsbo/internal/testkit"
)

// placeholders are words of documents that stand for others.
var placeholders = strings.NewReplacer("TASK", "mnist", "VERB", "tune", "NAME", "newtoncg", "'", "", "...", "")

// aNumber is a single capital letter in place of a number.
var aNumber = regexp.MustCompile(`^[A-Zε]$`)

// programsOfDocs are the beginnings of the commands of this module in documents, each with what
// reads its words. Commands of benchmarks are read by tests beside them.
var programsOfDocs = []struct {
	begin string
	read  func(t *testing.T, args []string) error
}{
	{"dsbo ", readLine}, {"./dsbo ", readLine}, {"$DSBO ", readLine}, {"go run ./cmd/dsbo ", readLine},
	{"go run ./cmd/mnist", of("mnist")}, {"go run ./cmd/synthetic", of("synthetic")},
	{"go test ", readGoTest}, {"go build ", readFolder}, {"go install ", readFolder},
	{"go run ./benchmarks/", readFolder},
	{"benchmarks/", readFolder}, {"bash ", readFolder},
}

// readLine reads a command line of dsbo as far as its flags.
func readLine(t *testing.T, args []string) error {
	for i, a := range args {
		if args[i] = placeholders.Replace(a); aNumber.MatchString(a) {
			args[i] = "1"
		}
	}
	if len(args) > 0 && args[0] == "newtoncg" { // a task of any name
		args[0] = "mnist"
	}
	err := run(t.Context(), append(args, "-h"), io.Discard, io.Discard)
	if err != nil && strings.HasPrefix(args[len(args)-1], "-") { // of which the value is left out
		err = run(t.Context(), append(args, "1", "-h"), io.Discard, io.Discard)
	}
	return err
}

// of returns what reads a command line of a program for one task.
func of(task string) func(t *testing.T, args []string) error {
	return func(t *testing.T, args []string) error { return readLine(t, append([]string{task}, args...)) }
}

// readFolder wants the folder or the program of a command.
func readFolder(_ *testing.T, args []string) error {
	for _, a := range args {
		if a = strings.TrimSuffix(a, "..."); strings.Contains(a, "/") && !strings.Contains(a, "=") {
			_, err := os.Stat(filepath.Join("..", strings.TrimPrefix(a, "./")))
			return err
		}
	}
	return nil
}

// readGoTest wants the folder of a test, tests and benchmarks of the names, and its own flags.
func readGoTest(t *testing.T, args []string) error {
	folder, named := "..", [][2]string{}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			folder = filepath.Join("..", args[i])
		case !slices.Contains(strings.Fields("v short race"), name) && !joined:
			i++
			value = args[i]
			fallthrough
		default:
			named = append(named, [2]string{name, value})
		}
	}
	if strings.HasSuffix(folder, "...") {
		return nil
	}
	_, err := os.Stat(folder)
	source := ""
	for _, file := range testkit.Get(filepath.Glob(filepath.Join(folder, "*_test.go"))) {
		source += string(testkit.Get(os.ReadFile(file)))
	}
	for _, f := range named {
		kind := map[string]string{"run": `(?:Test|Fuzz|Example)`, "bench": `Benchmark`}[f[0]]
		top, _, _ := strings.Cut(f[1], "/")
		switch known := slices.Contains(strings.Fields("v short race timeout benchtime tags count"), f[0]); {
		case kind == "" && !known && !strings.Contains(source, `("`+f[0]+`"`):
			t.Errorf("go test %s: there is no flag -%s", strings.Join(args, " "), f[0])
		case kind == "" || f[1] == "^$" || f[1] == "xxx":
		default:
			is := regexp.MustCompile(strings.TrimPrefix(strings.Trim(top, "()"), "^"))
			names := regexp.MustCompile(`\nfunc (`+kind+`\w+)`).FindAllStringSubmatch(source, -1)
			if !slices.ContainsFunc(names, func(m []string) bool { return is.MatchString(m[1]) }) {
				t.Errorf("go test %s: no test is like %q", strings.Join(args, " "), f[1])
			}
		}
	}
	return err
}

// TestCommandsOfDocuments: flags, tests, folders and specifications of all commands in documents
// are there.
func TestCommandsOfDocuments(t *testing.T) {
	seen := map[string]bool{}
	for name, text := range testkit.Documents("..") {
		for _, p := range programsOfDocs {
			for _, words := range testkit.Commands(text, p.begin) {
				line := strings.Join(words, " ")
				if seen[line] {
					continue
				}
				seen[line] = true
				args := words[strings.Count(p.begin, " "):]
				if p.begin == "go run ./cmd/mnist" || p.begin == "go run ./cmd/synthetic" {
					args = args[1:]
				}
				if err := p.read(t, args); err != nil {
					t.Errorf("%s: %s: %v", name, line, err)
				}
			}
		}
	}
	if len(seen) < 80 {
		t.Errorf("%d commands are found; there must be more", len(seen))
	}
}

// TestDataOfDocuments: the files that documents show can be read.
func TestDataOfDocuments(t *testing.T) {
	for _, l := range testkit.BlockTests("..") {
		text := blockOf(t, l).Text
		switch word, rest, _ := strings.Cut(l.How, " "); word {
		case "parsed", "run":
			if file, _, _ := strings.Cut(text, "\n\n"); strings.HasPrefix(file, "{") {
				testkit.Get(site.ParseCluster(l.Document, []byte(file), testProgram().checkTask))
			}
		case "source":
			source := codeLines(string(testkit.Get(os.ReadFile(filepath.Join("..", rest)))))
			for _, line := range codeLines(text) {
				i := slices.Index(source, line)
				if i < 0 {
					t.Errorf("%s: %s must have this line, after the ones before it: %s", l.Document, rest, line)
					break
				}
				source = source[i+1:]
			}
		case "test":
			folder, test, _ := strings.Cut(rest, ".")
			if folder == "dsbo" {
				folder = "."
			}
			found := false
			for _, file := range testkit.Get(filepath.Glob(filepath.Join("..", folder, "*_test.go"))) {
				found = found || strings.Contains(string(testkit.Get(os.ReadFile(file))), "\nfunc "+test+"(")
			}
			if !found {
				t.Errorf("%s: there is no %s", l.Document, rest)
			}
		case "output", "python", "text", "left":
		default:
			t.Errorf("%s: unknown way to test a block: %s", l.Document, l.How)
		}
	}
}

// codeLines returns the lines of a program without comments and blanks around them.
func codeLines(program string) (lines []string) {
	for line := range strings.Lines(program) {
		line, _, _ = strings.Cut(line, "//")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// blockOf returns the block of a line of docs/testdata/blocks.txt, as dsbo.TestEveryBlock finds it.
func blockOf(t *testing.T, l testkit.BlockTest) testkit.Block {
	t.Helper()
	blocks, _ := testkit.Blocks(string(testkit.Get(os.ReadFile(filepath.Join("..", l.Document)))))
	i := slices.IndexFunc(blocks, func(b testkit.Block) bool { return strings.HasPrefix(b.First(), l.First) })
	if i < 0 {
		t.Fatalf("%s has no block %q", l.Document, l.First)
	}
	return blocks[i]
}
