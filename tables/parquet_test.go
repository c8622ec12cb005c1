package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"dsbo"
	"dsbo/internal/testkit"
)

// patient is a row with a column of each type that is read.
type patient struct {
	Age    int64     `parquet:"age"`
	Weight *float64  `parquet:"weight,optional"`
	Small  int32     `parquet:"small,delta"`
	Half   float32   `parquet:"half"`
	Count  uint32    `parquet:"count"`
	Sex    string    `parquet:"sex,dict"`
	Town   *string   `parquet:"town,optional"`
	Smokes bool      `parquet:"smokes"`
	Born   int32     `parquet:"born,date"`
	Seen   time.Time `parquet:"seen,timestamp(millisecond)"`
	Paid   int64     `parquet:"paid,decimal(2:10)"`
}

func parquetFile[T any](rows []T, options ...parquet.WriterOption) string {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	testkit.Get(w.Write(rows))
	testkit.OK(w.Close())
	return b.String()
}

func patients(n int) []patient {
	weight, town := 71.5, "Ulm"
	rows := []patient{
		{41, &weight, -7, .5, 1<<32 - 1, "f", &town, true, 19000, time.UnixMilli(1577836800000), 1250},
		{-3, nil, 7, -2, 0, "m", nil, false, -1, time.UnixMilli(0), -5},
	}
	for len(rows) < n {
		rows = append(rows, rows[len(rows)%2])
	}
	return rows[:n]
}

// withRows returns a file whose footer announces a number of rows.
func withRows(file string, rows int64) string {
	end := len(file) - 8
	begin := end - int(binary.LittleEndian.Uint32([]byte(file[end:])))
	var footer format.FileMetaData
	testkit.OK(thrift.Unmarshal(new(thrift.CompactProtocol), []byte(file[begin:end]), &footer))
	footer.NumRows = rows
	b := testkit.Get(thrift.Marshal(new(thrift.CompactProtocol), footer))
	return file[:begin] + string(b) + string(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))) + parquetMagic
}

func TestParquet(t *testing.T) {
	const want = "age number: 41 -3; weight number: 71.5 .; small number: -7 7; half number: 0.5 -2; count " +
		"number: 4.294967295e+09 0; sex word: f m; " +
		"town word: Ulm .; smokes word: true false; born time(day): 19000 -1; seen time(s): 1.5778368e+09 0; paid " +
		"number: 12.5 -0.05"
	for name, options := range map[string][]parquet.WriterOption{
		"plain":     nil,
		"version 1": {parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy)},
		"zstd":      {parquet.Compression(&parquet.Zstd)},
	} {
		table, err := read(parquetFile(patients(2), options...), Options{})
		if err != nil || shown(table) != want {
			t.Errorf("%s: %v, %v\nwant %s", name, shown(table), err, want)
		}
	}
	table := testkit.Get(read(zip(parquetFile(patients(3))),
		Options{Keep: []string{"age", "sex"}, Kinds: map[string]Kind{"age": Word}}))
	if got, want := shown(table), "age word: 41 -3 41; sex word: f m f"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	long := testkit.Get(read(
		parquetFile(patients(3*BlockRows+1), parquet.MaxRowsPerRowGroup(1000), parquet.PageBufferSize(512)), Options{}))
	checkTable(t, long)
	for row := range long.Rows() {
		if got := long.Columns[0].Number(row); got != float64(41-44*(row%2)) {
			t.Fatalf("row %d has %g", row, got)
		}
	}
}

func TestBadParquet(t *testing.T) {
	good := parquetFile(patients(5))
	lists := parquetFile([]struct {
		A []int64 `parquet:"a"`
		B int64   `parquet:"b"`
	}{{[]int64{1, 2}, 3}})
	for _, c := range []struct {
		name, file string
		options    Options
		want       string
	}{
		{"none", "PAR1 is not enough", Options{},
			`: cut short, or no Parquet file: it must end with "PAR1"; it ends with "ough"`},
		{"the magic word alone", "PAR1", Options{}, ": cut short: there is no footer"},
		{"cut", good[:len(good)/2], Options{},
			`: cut short, or no Parquet file: it must end with "PAR1"; it ends with`},
		{"footer too long", "PAR1\xff\xff\xff\x7fPAR1", Options{},
			": damaged: the footer cannot have 2147483647 bytes in a file of 12"},
		{"footer of a huge list", "PAR1\x29\xfc\xff\xff\xff\xff\x07\x07\x00\x00\x00PAR1", Options{},
			": damaged: a list or text is longer than the file, or a header has no end"},
		{"lists", lists, Options{},
			", column a: a column must have one value a row; this one has lists or groups: leave it out"},
		{"no rows", parquetFile([]patient{}), Options{}, ": there are no rows"},
		{"too many rows", withRows(good, 1<<40), Options{},
			fmt.Sprintf(": a file of %d bytes may not have %d rows of 11 columns", len(withRows(good, 1<<40)), 1<<40)},
		{"other rows", withRows(good, 6), Options{}, ": damaged Parquet data: 5 rows, 6 announced"},
		{"a time of numbers", good, Options{Kinds: map[string]Kind{"age": Time}},
			", column age: values of kind number cannot be taken for those of kind time"},
		{"a number of words", good, Options{Kinds: map[string]Kind{"sex": Number}},
			`, column sex: row 1: a value must be a finite number, at most 3.4e38; it is "f"`},
	} {
		_, err := read(c.file, c.options)
		if err == nil || !strings.HasPrefix(err.Error(), "a.csv"+c.want) || !errors.Is(err, dsbo.ErrConfig) {
			t.Errorf("%s: %v\nwant a.csv%s", c.name, err, c.want)
		}
	}
	if table, err := read(lists, Options{Drop: []string{"a"}}); err != nil || shown(table) != "b number: 3" {
		t.Errorf("without the lists: %v", err)
	}
	// Damage anywhere is an error, or changes values alone.
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		damaged := []byte(good)
		damaged[r.IntN(len(damaged))] ^= 1 << r.IntN(8)
		fuzzFile(t, "a.parquet", string(damaged), Options{})
	}
}

// FuzzParquet wants -fuzzminimizetime=10x: a new input is made shorter for a minute otherwise, in
// which no other one is tried. So do other targets of long inputs.
func FuzzParquet(f *testing.F) {
	f.Add([]byte(parquetFile(patients(2))))
	f.Add([]byte(parquetFile(patients(9), parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy))))
	f.Add([]byte(parquetFile([]struct{ A int64 }{{1}, {2}})))
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		fuzzFile(t, "a.parquet", parquetMagic+string(content[min(len(content), 4):]), Options{})
	})
}

// TestParquetCodes: codes that float64 cannot tell apart are read as words, and refused as numbers.
func TestParquetCodes(t *testing.T) {
	type coded struct {
		Code int64  `parquet:"code"`
		Key  uint64 `parquet:"key"`
	}
	file := parquetFile([]coded{{1<<53 + 1, 1<<64 - 1}, {1<<53 + 2, 1<<64 - 2}})
	words := testkit.Get(read(file, Options{Kinds: map[string]Kind{"code": Word, "key": Word}}))
	const want = "code word: 9007199254740993 9007199254740994; " +
		"key word: 18446744073709551615 18446744073709551614"
	if got := shown(words); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_, err := read(file, Options{Keep: []string{"code"}})
	testkit.WantError(t, "codes as numbers", err, dsbo.ErrConfig, "it is 9007199254740993")
}
