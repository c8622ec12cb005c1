package command

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/internal/disk"
)

const initIntro = `Makes a folder with a small example to try the program on before data of your own: tables
of three made-up clinics (site0.csv, site1.csv, site2.csv), with words and missing values,
patients without a diagnosis (new.csv), a cluster file, and README.md, which shows the way
from these tables to a model, first on one machine and then with each clinic by itself.`

// tutorial is README.md of the example, in which $DSBO is replaced by the program's name.
//
//go:embed tutorial.md
var tutorial string

// exampleCluster is the cluster file of the example, whose agents are processes of one machine.
const exampleCluster = `{
  "run": "clinics",
  "agents": 3, "address": "127.0.0.1:{7100+agent}",
  "graph": "ring",
  "task": "tune",
  "flags": ["-target=diagnosis", "-drop=patient"]
}
`

// initialize is the verb init: it makes a folder with an example.
func (p *program) initialize(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("init", initIntro, "FOLDER", "clinics")
	if err := f.ParseOperands(args, stdout); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return dsbo.ConfigErrorf("the name of one new folder is required; there are %d names", f.NArg())
	}
	folder := f.Arg(0)
	if err := os.Mkdir(folder, 0o777); err != nil {
		return dsbo.ConfigErrorf("the folder must be new: %w", err)
	}
	for _, file := range exampleFiles(p.name) {
		if err := disk.Write(filepath.Join(folder, file.name), file.write); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(stdout, "%s: read %s\n", folder, filepath.Join(folder, "README.md"))
	return err
}

// An exampleFile is a file of the example.
type exampleFile struct {
	name  string
	write func(io.Writer) error
}

// exampleFiles returns the files of the example, for a program of that name.
func exampleFiles(program string) []exampleFile {
	text := func(t string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, t)
			return err
		}
	}
	files := []exampleFile{
		{"README.md", text(strings.ReplaceAll(tutorial, "$DSBO", program))},
		{"cluster.json", text(exampleCluster)},
		{"new.csv", writeNewClinic},
	}
	for i := range clinicCount {
		files = append(files, exampleFile{fmt.Sprintf("site%d.csv", i),
			func(w io.Writer) error { return writeClinic(w, i) }})
	}
	return files
}
