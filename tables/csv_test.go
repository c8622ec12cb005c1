package tables

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dsbo/internal/testkit"
)

// TestReadBack: what encoding/csv writes is read back, whatever is in the values; space around them
// is no part of them.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		separator := rapid.SampledFrom([]rune(",;|\t")).Draw(t, "separator")
		value := rapid.StringMatching(`[ab1,;|\t" \n.é-]{0,5}`)
		records := [][]string{{}}
		for j := range columns {
			records[0] = append(records[0], fmt.Sprint("column ", j))
		}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			var record []string
			for j := range columns {
				record = append(record, value.Draw(t, "value"))
				if columns == 1 && strings.TrimSpace(record[j]) == "" {
					record[j] = "x" // a blank line is no record
				}
			}
			records = append(records, record)
		}
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		w.Comma = separator
		w.UseCRLF = rapid.Bool().Draw(t, "CR LF")
		testkit.OK(w.WriteAll(records))
		s, _, reason := readSample(file.Bytes(), 0, byte(separator), len(records)+1)
		for _, record := range records {
			for j := range record {
				if record[j] = strings.TrimSpace(record[j]); w.UseCRLF {
					record[j] = strings.ReplaceAll(record[j], "\n", "\r\n")
				}
			}
		}
		if diff := cmp.Diff(records, s.records); reason != "" || diff != "" {
			t.Fatalf("%q: %s %s", file.String(), reason, diff)
		}
	})
}

// TestParts: a file of several parts, with line breaks in quotes, has its rows in order, and words
// in the order of the file.
func TestParts(t *testing.T) {
	const rows = 20_000
	var file strings.Builder
	file.WriteString("id,text,number,late\n")
	for i := range rows {
		late := "7"
		if i >= rows/2 {
			late = "seven" // the first records look like a column of numbers
		}
		fmt.Fprintf(&file, "%d,\"%s\n\"\"%d\"\" and more of the same text\",%.9g,%s\n", i,
			strings.Repeat("x", 5*(i/100%40)), i/100, float64(i)/7, late)
	}
	table := testkit.Get(read(file.String(), Options{}))
	if table.Rows() != rows {
		t.Fatalf("%d rows, want %d", table.Rows(), rows)
	}
	id, text, number, late := table.Columns[0], table.Columns[1], table.Columns[2], table.Columns[3]
	if late.Kind != Word || fmt.Sprint(late.Words) != "[7 seven]" {
		t.Errorf("late: %s %q", late.Kind, late.Words)
	}
	newest := int32(-1)
	for i := range rows {
		if id.Number(i) != float64(i) ||
			number.Number(i) != testkit.Get(strconv.ParseFloat(fmt.Sprintf("%.9g", float64(i)/7), 64)) {
			t.Fatalf("row %d: %g, %g", i, id.Number(i), number.Number(i))
		}
		code := text.Code(i)
		if code > newest+1 {
			t.Fatalf("row %d: word %d before word %d", i, code, newest+1)
		}
		newest = max(newest, code)
		if !strings.Contains(text.Words[code], fmt.Sprintf("\"%d\" and", i/100)) {
			t.Fatalf("row %d: %q", i, text.Words[code])
		}
	}
}

// TestWideRow: a record longer than a part.
func TestWideRow(t *testing.T) {
	const columns = 10_000
	value := "1.25" + strings.Repeat("0", partBytes/columns)
	line := strings.Repeat(value+",", columns-1) + value + "\n"
	table := testkit.Get(read(line+line, Options{}))
	if table.Rows() != 2 || len(table.Columns) != columns || table.Columns[columns-1].Number(1) != 1.25 {
		t.Errorf("%d rows of %d columns", table.Rows(), len(table.Columns))
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a;b\n1,5;x\n", "a\tb\r\n1\t\"x\n\"\"y\"\"\"\r\n",
		" a  b\n 1  2020-01-01 \n", "\xef\xbb\xbfa|b\n-1e5|NA\n",
		"a\n1\nx\n", "a,b\n1,\"x", "a,b\n1,2\na,b\n", "a\n2020-01-01T10:00:00Z\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, "\x1f\x8b") { // gzip, which FuzzGzip tries
			return
		}
		fuzzFile(t, "a.csv", content, Options{})
	})
}

func BenchmarkCSV(b *testing.B) {
	var file strings.Builder
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		for j := range 100 {
			if j > 0 {
				file.WriteByte(',')
			}
			fmt.Fprintf(&file, "%.6g", r.NormFloat64())
		}
		file.WriteByte('\n')
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		testkit.Get(read(file.String(), Options{}))
	}
}
