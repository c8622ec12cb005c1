package command

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dsbo"
	"dsbo/internal/cli"
	"dsbo/internal/wording"
	"dsbo/runs"
	"dsbo/tables"
	"dsbo/tables/assess"
	"dsbo/tables/features"
	"dsbo/tables/modelfile"
)

// predict runs the verb predict, which writes predictions for the rows of a table to stdout and
// notes to stderr. A row that cannot be read gets no prediction but a reason, and the verb fails at
// the end; with -strict the whole table is refused before any output.
func (p *program) predict(f *call) error {
	var model, data, site, dates string
	var strict bool
	f.Vars(map[string]any{"model": &model, "data": &data, "site": &site, "dates": &dates, "strict": &strict})
	var at []float64
	f.Func("at", "", func(text string) (err error) {
		at, err = parseTimes(text)
		return err
	})
	if err := f.parse("model", "data"); err != nil {
		return err
	}
	path, err := modelOfSite(model, site)
	if err != nil {
		return err
	}
	m, err := modelfile.Open(path)
	if err != nil {
		return err
	}
	if site == "" && path != model { // chosen without being asked for
		_ = cli.Paragraph(f.stderr, "predictions are by "+path+
			", with the level of its site (-site new has that of all)")
	}
	if err := checkTimes(at, m.Baseline); err != nil {
		return err
	}
	o := m.Recipe().Options()
	o.Dates, o.Spare = dates, !strict
	t, err := tables.Open(data, o)
	if err != nil {
		return err
	}
	in, err := m.Recipe().NewEncoder(t)
	if err != nil {
		return err
	}
	for _, note := range append(in.Notes(), t.Notes...) {
		_ = cli.Paragraph(f.stderr, "warning: "+data+", "+note)
	}
	n, first := badRows(in)
	counts, err := writePredictions(f.ctx, f.stdout, m, in, at, n > 0)
	if err != nil {
		return err
	}
	if note := in.Bounded(m.Recipe().Target, counts); note != "" {
		_ = cli.Paragraph(f.stderr, "warning: "+data+", "+note)
	}
	if n > 0 {
		return dsbo.ConfigErrorf("%d of %s have no prediction, for the reasons in the last column; the first one is %v",
			n, wording.Count(in.Rows(), "row"), t.Fail(first, "", "%s", in.Bad(first)))
	}
	return nil
}

// modelOfSite returns the path of the model that -site selects. If sites have levels of their own,
// the run folder has a model file for each site of this machine besides the common one; -site is
// the number of a site, "new" for the common model, or, if there is a single file, "own" or left
// out. Without such files, model itself is a file or folder, and -site must be new or left out.
func modelOfSite(model, site string) (string, error) {
	const rest = "." + runs.ModelFile
	own := map[string]string{}
	var numbers []string
	paths, err := runs.Folder(model).PathsWithPrefix(runs.OwnPrefix)
	if err != nil && site != "" {
		return "", dsbo.ConfigErrorf("-site must be given with the folder of a run: %w", err)
	}
	for _, path := range paths {
		if name, ok := strings.CutSuffix(filepath.Base(path), rest); ok {
			number := strings.TrimPrefix(name, runs.OwnPrefix)
			own[number], numbers = path, append(numbers, number)
		}
	}
	slices.Sort(numbers)
	switch {
	case site == "new" || site == "" && len(own) == 0:
		return model, nil
	case own[site] != "":
		return own[site], nil
	case (site == "" || site == "own") && len(own) == 1:
		return own[numbers[0]], nil
	case len(own) == 0:
		return "", dsbo.ConfigErrorf("-site must be new with %s, where no site has a level of its own; it is %s", model,
			site)
	}
	return "", dsbo.ConfigErrorf("-site must be one of %s, or new, as sites of %s have a level each; it is %s",
		strings.Join(numbers, ", "), model, cmp.Or(site, "not given"))
}

// badRows returns how many rows have no prediction, and the first one. It goes backwards, so that
// the first is what remains.
func badRows(in *features.Encoder) (n, first int) {
	for row := in.Rows() - 1; row >= 0; row-- {
		if in.Bad(row) != "" {
			n, first = n+1, row
		}
	}
	return n, first
}

// parseTimes returns the times of -at.
func parseTimes(text string) (times []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= 0) {
			return nil, fmt.Errorf("each time must be a number from 0; one is %q", part)
		}
		times = append(times, v)
	}
	return times, nil
}

// checkTimes refuses times that a baseline does not reach.
func checkTimes(times []float64, b *assess.Baseline) error {
	for _, v := range times {
		switch {
		case b == nil:
			return dsbo.ConfigErrorf("-at must be given with a model of survival times that has a baseline hazard; " +
				"this one has none")
		case v > b.Horizon():
			return dsbo.ConfigErrorf("-at must be at most %g, up to where enough rows were at risk; it is %g",
				b.Horizon(), v)
		}
	}
	return nil
}

// writePredictions writes the predictions for all rows as CSV: label or value, probabilities of
// classes, the probability of no event up to each time in at, and with reasons a column that tells
// why a row has no prediction. It returns predicted counts, for a warning. Numbers have nine
// digits, or more for targets with a large mean and a small deviation.
func writePredictions(ctx context.Context, to io.Writer, m *modelfile.Model, in *features.Encoder, at []float64,
	reasons bool) (counts []float64, err error) {
	w := csv.NewWriter(to)
	names := []string{"prediction"}
	target := m.Recipe().Target
	if target.Kind == features.Class {
		for _, class := range target.Classes {
			names = append(names, wording.Cell("p_"+class))
		}
	}
	for _, t := range at {
		names = append(names, "survival_"+strconv.FormatFloat(t, 'g', -1, 64))
	}
	numbers, digits := len(names), 9
	if target.Kind == features.Value {
		digits = wording.Digits(digits, target.Mean, target.Deviation)
	}
	if reasons {
		names = append(names, "reason")
	}
	if err := w.Write(names); err != nil {
		return nil, err
	}
	row := 0 // of the table, which PredictAll hands over in parts
	err = modelfile.PredictAll(m, in, func(made modelfile.Predictions) error {
		if target.Kind == features.Counts {
			counts = append(counts, made.Values...)
		}
		for i := range made.Rows() {
			fields := make([]string, 0, len(names)) // cells that are not appended are empty
			if reason := in.Bad(row); reason != "" {
				fields = append(fields[:numbers], wording.Cell(reason))
			} else {
				if made.Labels != nil {
					fields = append(fields, wording.Cell(made.Labels[i]))
				}
				for _, v := range made.Numbers(i) {
					fields = append(fields, strconv.FormatFloat(v, 'g', digits, 64))
				}
				for _, t := range at {
					fields = append(fields, strconv.FormatFloat(m.Baseline.Survival(t, made.Values[i]), 'g', 9, 64))
				}
				fields = fields[:len(names)]
			}
			if err := w.Write(fields); err != nil {
				return err
			}
			row++
		}
		return ctx.Err()
	})
	w.Flush()
	return counts, errors.Join(err, w.Error())
}
