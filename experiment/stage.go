package experiment

import (
	"context"
	"encoding/json"
	"fmt"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/runs"
)

// kept returns what a stage after the iterations finds, which all agents have alike; T must survive
// JSON. Where agents may be lost and come back, it stays in their folders until the run is over,
// and what all members have of the same epoch is read again, together with the traffic of finding
// it.
func kept[T any](ctx context.Context, e *ending, stage string, find func() (T, error)) (T, error) {
	r := e.run
	if !r.layout.ownsFiles() {
		return find()
	}
	var of struct {
		Found T
		Sent  dsbo.Traffic // for models so far
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
