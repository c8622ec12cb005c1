package command

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
)

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

// initialize is the verb init: it makes a folder with an example: a tutorial, a cluster file, and
// tables of clinics and of new patients.
func (p *program) initialize(f *call) error {
	if err := f.parseOperands(); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return dsbo.ConfigErrorf("the name of one new folder is required; there are %d names", f.NArg())
	}
	folder := f.Arg(0)
	if err := os.Mkdir(folder, 0o777); err != nil {
		return dsbo.ConfigErrorf("the folder must be new: %w", err)
	}
	files := map[string][]byte{
		"README.md":    []byte(strings.ReplaceAll(tutorial, "$DSBO", p.name)),
		"cluster.json": []byte(exampleCluster),
		"new.csv":      clinicTable(clinicCount),
	}
	for i := range clinicCount {
		files[fmt.Sprintf("site%d.csv", i)] = clinicTable(i)
	}
	if err := writeNew(folder, files); err != nil {
		return err
	}
	return cli.Printf(f.stdout, "%s: read %s\n", folder, filepath.Join(folder, "README.md"))
}
