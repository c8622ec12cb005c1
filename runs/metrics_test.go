package runs_test

import (
	"testing"

	"dsbo/internal/disk"
	"dsbo/internal/must"
	"dsbo/runs"
)

// TestRecordsBeforeCheckpoint: whatever a crash leaves, records that a checkpoint may know of are there.
func TestRecordsBeforeCheckpoint(t *testing.T) {
	const dir = "/records before a checkpoint"
	files := disk.NewMemory()
	must.OK(files.MkdirAll(dir))
	must.OK(files.SyncDir("/"))
	defer disk.Mount(dir, files)()
	m := must.Get(runs.Folder(dir).OpenMetrics())
	must.OK(m.Write(runs.Record{Iteration: 1}))
	size, _ := must.Get2(m.Sync())
	for left := range files.States() {
		info, err := left.Stat(runs.Folder(dir).Path(runs.MetricsFile))
		if err != nil || info.Size() < size {
			t.Fatalf("after a crash there are not the %d bytes of records that were brought to the disk: %v", size, err)
		}
	}
}
