package data

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dsbo"
	"dsbo/internal/must"
)

func TestReadCSV(t *testing.T) {
	for _, c := range []struct {
		name, text, target string
		x, want            []float64
	}{
		{"plain", "1,2,3\n4,5,6\n", "", []float64{1, 2, 4, 5}, []float64{3, 6}},
		{"header", "a,b,c\n1,2,3\n4,5,6", "", []float64{1, 2, 4, 5}, []float64{3, 6}},
		{"named", "a, label ,c\n1,2,3\n4,5,6\n", "label", []float64{1, 3, 4, 6}, []float64{2, 5}},
		{"spaces, quotes, signs, CRLF", "\"x\",y\r\n -1.5e3 ,+.5\r\n\r\n\"2\",1\r\n", "", []float64{-1500, 2}, []float64{.5, 1}},
		{"byte order mark", "\xef\xbb\xbf1,2\n", "", []float64{1}, []float64{2}},
		{"small numbers", "5e-324,1e-400\n", "", []float64{math.SmallestNonzeroFloat64}, []float64{0}},
	} {
		e, err := ReadCSV(strings.NewReader(c.text), c.target)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.x, numbersOf(e.X)) + cmp.Diff(c.want, numbersOf(e.Target)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestReadCSVErrors(t *testing.T) {
	for _, c := range []struct{ name, text, target, err string }{
		{"empty", "", "", ": no examples"},
		{"blank", "\n\n", "", ": no examples"},
		{"header only", "a,b\n", "", ": no examples"},
		{"one column", "1\n2\n", "", ", line 1: a line must have at least one feature and the target, separated by commas; it has 1 column"},
		{"ragged", "1,2\n\n3,4,5\n", "", ", line 3: a line must have 2 columns, as those before it; it has 3"},
		{"ragged header", "a,b,c\n1,2\n", "", ", line 2: a line must have 3 columns, as those before it; it has 2"},
		{"word", "1,2\n3,four\n", "", `, line 2: column 2: "four" is not a finite number`},
		{"word in the first line", "1,two\n3,4\n", "", `, line 1: column 2: "two" is not a finite number`},
		{"word under a header", "a, b\n1,2\n3,\n", "", `, line 3: column 2 (b): "" is not a finite number`},
		{"NaN", "1,2\nNaN,4\n", "", `, line 2: column 1: "NaN" is not a finite number`},
		{"infinite", "1,2\n3,-Inf\n", "", `, line 2: column 2: "-Inf" is not a finite number`},
		{"too large", "1,2\n3,1e400\n", "", `, line 2: column 2: "1e400" is not a finite number`},
		{"long field", "1," + strings.Repeat("x", 99), "", `, line 1: column 2: "` + strings.Repeat("x", 40) + `" is not a finite number`},
		{"quote", "1,2\n3,4\"5\n", "", `, line 2: byte 4: bare " in non-quoted-field`},
		{"no header", "1,2\n", "label", `: a named target needs a header line; there is none for "label"`},
		{"no such column", "a,b\n1,2\n", "label", `, line 1: exactly one column must be named "label"; the columns are ["a" "b"]`},
		{"two such columns", "a,b,a\n1,2,3\n", "a", `, line 1: exactly one column must be named "a"; the columns are ["a" "b" "a"]`},
	} {
		_, err := ReadCSV(strings.NewReader(c.text), c.target)
		wantError(t, c.name, err, dsbo.ErrConfig, "input"+c.err)
	}
	name := filepath.Join(t.TempDir(), "bad.csv")
	must.OK(os.WriteFile(name, []byte("1,x\n"), 0o666))
	f := must.Get(os.Open(name))
	defer f.Close()
	if _, err := ReadCSV(f, ""); err == nil || !strings.HasPrefix(err.Error(), name+", line 1: ") {
		t.Errorf("error %q does not name the file", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func TestReadersPassOnErrors(t *testing.T) {
	if _, err := ReadCSV(brokenReader{}, ""); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("CSV: error %v", err)
	}
	if _, err := ReadNPY(brokenReader{}); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("NPY: error %v", err)
	}
}

func FuzzReadCSV(f *testing.F) {
	for _, seed := range []string{"1,2\n3,4\n", "a,b\n1,2\n", "\"1\",\"2\n\"", "1;2\n", "\xef\xbb\xbf1,NaN", "1,2\n3\n"} {
		f.Add(seed, "")
		f.Add(seed, "a")
	}
	f.Fuzz(func(t *testing.T, text, target string) {
		e, err := ReadCSV(strings.NewReader(text), target)
		if err != nil {
			var file *FileError
			if !errors.As(err, &file) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if e.Len() == 0 || e.Target.Rows() != e.Len() || e.Target.Cols() != 1 {
			t.Fatalf("%d examples with %d×%d targets", e.Len(), e.Target.Rows(), e.Target.Cols())
		}
	})
}

func ExampleReadCSV() {
	file := strings.NewReader(`height,weight,species
1.0,20,0
1.1,22,0
3.0,21,1
2.9,25,1
`)
	examples, err := ReadCSV(file, "species")
	if err != nil {
		fmt.Println(err)
		return
	}
	if examples.Target, err = OneHot(examples.Target, 2); err != nil {
		fmt.Println(err)
		return
	}
	task, err := NewTask(examples, Examples{}, Split{Agents: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range task.Shards {
		fmt.Printf("agent %d: %d to train on, %d to validate, %d features, %d classes\n", i, s.Train.Len(), s.Val.Len(), task.Features, task.Classes)
	}
	// Output:
	// agent 0: 1 to train on, 1 to validate, 2 features, 2 classes
	// agent 1: 1 to train on, 1 to validate, 2 features, 2 classes
}
