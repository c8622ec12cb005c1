package experiment

import (
	"context"
	"encoding/json"
	"fmt"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/runs"
)

// kept returns the result of a stage after the iterations, which is the same at all agents; T must
// survive JSON. If agents may be lost and come back, each keeps the result in its folder until the
// run is over. If all members have it from the same epoch, find is skipped: the result and the
// traffic of finding it are read from the file.
func kept[T any](ctx context.Context, e *ending, stage string, find func() (T, error)) (T, error) {
	r := e.run
	if !r.layout.ownsFiles() {
		return find()
	}
	var of struct {
		Found T
		Sent  dsbo.Traffic // of all stages after the iterations so far
	}
	name := fmt.Sprintf("%s%s.%d", runs.KeptPrefix, stage, e.result.Epoch.Session)
	if r.layout.hasKept(name) {
		data, err := files.ReadFile(r.folder.Path(name))
		if err == nil {
			err = json.Unmarshal(data, &of)
		}
		if err == nil {
			*e.problem.Sent = of.Sent
		}
		return of.Found, err
	}
	var err error
	if of.Found, err = find(); err != nil {
		return of.Found, err
	}
	of.Sent = *e.problem.Sent
	data, err := json.Marshal(of)
	if err != nil {
		return of.Found, err
	}
	return of.Found, r.layout.save(ctx, func() error { return files.WriteBytes(r.folder.Path(name), data) })
}
