package tables

import (
	"strings"
	"testing"

	"dsbo/internal/files"
)

func FuzzLIBSVM(f *testing.F) {
	for _, seed := range []string{"+1 1:0.5 3:2 # a remark\n-1\n", "1 qid:1 1:1\n", "0 1:1 1:1",
		"1.5 134217728:1e-3\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		in, err := files.NewInput("a.svm", strings.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		table, err := svmFormat{}.Read(in, Options{})
		if err == nil {
			checkTable(t, table)
		}
	})
}

func FuzzArrays(f *testing.F) {
	f.Add([]byte(npyFile("<f8", "False", "(2, 2)", 1, 2, 3, 4)), "\x93NUMPY")
	f.Add([]byte(npyFile("<i8", "True", "(3,)", 0, 0, 0)), "\x93NUMPY")
	f.Add([]byte("\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x01\x01\x02"), "\x00\x00\x08\x02")
	f.Add([]byte("\x00\x00\x0e\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), "\x00\x00\x0e\x01")
	f.Fuzz(func(t *testing.T, content []byte, magic string) {
		fuzzFile(t, "a", magic+string(content[min(len(content), len(magic)):]), Options{})
	})
}

// FuzzGzip: damaged files that are compressed.
func FuzzGzip(f *testing.F) {
	f.Add([]byte(zip("a,b\n1,2\n")))
	f.Add([]byte(zip(npyFile("<f8", "False", "(2, 2)", 1, 2, 3, 4))))
	f.Add([]byte(zip("1 1:2\n"))[:20])
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzFile(t, "a.gz", string(content), Options{})
	})
}
