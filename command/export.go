package command

import (
	"context"
	"fmt"
	"io"

	"dsbo"
	"dsbo/runs/report"
)

const exportIntro = `Writes runs into a file store of MLflow, for which "mlflow ui" has a page: settings as params,
each evaluation as metrics, the verdict as the description, and the files of the run folder as
artifacts. RUN is a run folder. A run that the store has already is replaced.`

// export is the verb export: it writes runs in the form of other programs.
func (p *program) export(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("export", exportIntro, "-mlflow FOLDER RUN...", "-mlflow mlruns results/tune-tuned-seed1")
	store := f.String("mlflow", "", "`folder` of the file store, which is made if it is not there")
	f.Group("Flags", "mlflow")
	if err := f.ParseOperands(args, stdout, "mlflow"); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return dsbo.ConfigErrorf("a run folder is required (-h explains the use)")
	}
	all := make([]*report.Run, f.NArg())
	for i, folder := range f.Args() { // before anything is written
		var err error
		if all[i], err = report.Load(folder); err != nil {
			return err
		}
	}
	s, err := openMLflow(*store)
	if err != nil {
		return err
	}
	for i, r := range all {
		path, err := s.write(r, f.Arg(i))
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, path)
	}
	return nil
}
