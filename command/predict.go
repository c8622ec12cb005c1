package command

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"

	"dsbo/internal/cli"
	"dsbo/tables"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

const predictIntro = `Predicts with the model of a run of tables. It writes CSV: one row for each row of the
table, in order, with the prediction and, for classes, the probability p_NAME of each. The
table has the columns of training, found by their names; it need not have the target. What
stands in it as no training row had it, such as a word that is not known, is said.`

// predict is the verb predict: it writes the predictions for the rows of a table.
func (p *program) predict(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := p.flags("predict", predictIntro, "", "-model results/tune-tuned-seed1 -data new.csv > predictions.csv")
	model := f.String("model", "", "run `folder`, or its file model.json")
	data := f.String("data", "", "`file` with the table, in any format that runs read")
	dates := f.String("dates", "", "`order` of dates such as 1/2/2006: dmy or mdy (default: found)")
	f.Group("Files", "model", "data", "dates")
	if err := f.Parse(args, stdout, "model", "data"); err != nil {
		return err
	}
	m, err := modelfile.Open(*model)
	if err != nil {
		return err
	}
	o := m.Recipe().Options()
	o.Dates = *dates
	t, err := tables.Open(*data, o)
	if err != nil {
		return err
	}
	in, err := m.Recipe().NewEncoder(t)
	if err != nil {
		return err
	}
	for _, note := range append(in.Notes(), t.Notes...) {
		_ = cli.Paragraph(stderr, "warning: "+*data+", "+note)
	}
	return writePredictions(ctx, stdout, m, in)
}

// writePredictions writes the predictions for all rows as CSV.
func writePredictions(ctx context.Context, to io.Writer, m *modelfile.Model, in *features.Encoder) error {
	w := csv.NewWriter(to)
	names := []string{"prediction"}
	if target := m.Recipe().Target; target.Kind == features.Class {
		for _, class := range target.Classes {
			names = append(names, "p_"+class)
		}
	}
	if err := w.Write(names); err != nil {
		return err
	}
	err := modelfile.PredictAll(m, in, func(made modelfile.Predictions) error {
		for i := range made.Rows() {
			fields := names[:0:0]
			if made.Labels != nil {
				fields = append(fields, made.Labels[i])
			}
			for _, v := range made.Numbers(i) {
				fields = append(fields, strconv.FormatFloat(v, 'g', 9, 64))
			}
			if err := w.Write(fields); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}
