package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"dsbo"
	"dsbo/internal/testkit"
)

// FuzzRecords: lines of metrics.jsonl are read, or refused with an error of the input; what is read
// is written and read as it was, but for times.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"iteration":0,"phi":1e3,"seconds":null}` + "\n" + `{"iteration":1}` + "\n"))
	f.Add([]byte("{}\n\n{\"iteration\":-1,\"phi\":\"x\"}\n"))
	f.Add([]byte(`{"iteration":1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, _, err := ReadRecords("metrics.jsonl", bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %v is not dsbo.ErrConfig", err)
			}
			return
		}
		var text bytes.Buffer
		for _, r := range records {
			text.Write(append(testkit.Get(json.Marshal(r)), '\n'))
		}
		again, cut, err := ReadRecords("again", &text)
		if err != nil || cut || len(again) != len(records) {
			t.Errorf("%d records are read as %d: cut %t, %v", len(records), len(again), cut, err)
		}
	})
}

// FuzzFiles: the JSON of a run folder is read, or refused with an error of the input; what is read
// can be written.
func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"format":3,"problem":{"kind":"tune"},"flags":null}`))
	f.Add([]byte(`{"state":"finished","phi":"NaN","gain":{"low":null},"verdict":7}`))
	f.Add([]byte(`{"effects":[{"name":"a","estimate":1,"error":-1}],"measures":{}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		writable[Config](t, data)
		writable[Summary](t, data)
		writable[Assessment](t, data)
		writable[Setup](t, data)
		writable[Membership](t, data)
	})
}

// writable reads a file as a T, and writes it.
func writable[T any](t *testing.T, data []byte) {
	t.Helper()
	v, err := parseFile[T]("file.json", data)
	if err != nil {
		if !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%T: error %v is not dsbo.ErrConfig", v, err)
		}
		return
	}
	if _, err := json.Marshal(v); err != nil {
		t.Errorf("%T: %q is read and cannot be written: %v", v, data, err)
	}
}

// FuzzLambdaTable: a lambda.csv is read, or refused with an error of the input; the penalties that
// are read are finite.
func FuzzLambdaTable(f *testing.F) {
	head := "feature,lambda,penalty,size,kept\n"
	f.Add([]byte(head + "a,1,2,3,yes\n"))
	f.Add([]byte(head + "\"'=a\",1,2,NaN,\n"))
	f.Add([]byte(head + "a,1\n"))
	folder := Folder(f.TempDir())
	f.Fuzz(func(t *testing.T, data []byte) {
		testkit.OK(folder.WriteFile(LambdaTableFile, data))
		all, err := folder.ReadLambdaTable()
		if err != nil {
			if !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %v is not dsbo.ErrConfig", err)
			}
			return
		}
		for _, p := range all {
			if v := p.Lambda + p.Norm; math.IsNaN(v) || math.IsInf(p.Lambda, 0) || math.IsInf(p.Norm, 0) {
				t.Errorf("%q is read as %+v", data, p)
			}
		}
	})
}
