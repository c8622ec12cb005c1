package runs_test

import (
	"slices"
	"testing"

	"dsbo/internal/files"
	"dsbo/internal/testkit"
	"dsbo/runs"
)

// TestRecordsBeforeCheckpoint: whatever a crash leaves, records that a checkpoint may know of are
// there, also as a run is removed.
func TestRecordsBeforeCheckpoint(t *testing.T) {
	const dir = "/records before a checkpoint"
	disk := testkit.NewMemory()
	testkit.OK(disk.MkdirAll(dir))
	testkit.OK(disk.SyncDir("/"))
	defer files.Mount(dir, disk)()
	f := runs.Folder(dir)
	m := testkit.Get(f.OpenMetrics())
	testkit.OK(m.Write(runs.Record{Iteration: 1}))
	size, _ := testkit.Get2(m.Sync())
	testkit.OK(m.Close())
	states := 0
	check := func(string) {
		for left := range disk.States() {
			states++
			// at first there are to be records for one that is to come
			if _, err := left.Stat(f.CheckpointPath(nil, 1)); err != nil && states > 1 {
				continue
			}
			info, err := left.Stat(f.Path(runs.MetricsFile))
			if err != nil || info.Size() < size {
				t.Fatalf("state %d after a crash has not the %d bytes of records that were brought to the disk: %v",
					states, size, err)
			}
		}
	}
	check("sync")
	testkit.OK(files.WriteBytes(f.CheckpointPath(nil, 1), []byte("a checkpoint")))
	testkit.OK(f.WriteConfig(runs.Config{Format: runs.Format}))
	disk.Changed = check
	testkit.OK(f.Open(runs.Replace))
	if states < 10 {
		t.Errorf("%d states alone", states)
	}
}

// TestRepeatedRecords: a run that goes back to a checkpoint and comes to the same records again
// leaves the file as it is, so that a later checkpoint stays good. From the first record that is
// another one on, the file is the new run's.
func TestRepeatedRecords(t *testing.T) {
	f := runs.Folder(t.TempDir())
	record := func(k int, seconds float64) runs.Record { return runs.Record{Iteration: k, Seconds: seconds} }
	write := func(m *runs.Metrics, records ...runs.Record) (int64, []byte) {
		for _, r := range records {
			testkit.OK(m.Write(r))
		}
		return testkit.Get2(m.Sync())
	}
	m := testkit.Get(f.OpenMetrics())
	testkit.OK(m.Truncate())
	early, earlySum := write(m, record(0, 1), record(1, 2))
	late, lateSum := write(m, record(2, 3), record(3, 4))
	testkit.OK(m.Close())
	resume := func(size int64, sum []byte) *runs.Metrics {
		m := testkit.Get(f.OpenMetrics())
		testkit.Get(m.Continue(size, sum))
		testkit.OK(m.KeepRest())
		return m
	}
	m = resume(early, earlySum)
	write(m, record(2, 30))
	testkit.OK(m.Close()) // it is lost here
	m = resume(late, lateSum)
	write(m, record(4, 5))
	testkit.OK(m.Close())
	m = resume(early, earlySum)
	write(m, record(2, 30), runs.Record{Iteration: 3, Epoch: 1, Seconds: 40})
	testkit.OK(m.Close())
	var seconds []float64
	for _, r := range testkit.Get(f.Records()) {
		seconds = append(seconds, r.Seconds)
	}
	if want := []float64{1, 2, 3, 40}; !slices.Equal(seconds, want) {
		t.Errorf("records of seconds %v, want %v", seconds, want)
	}
}
