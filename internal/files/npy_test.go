package files_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gorgonia.org/tensor"

	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// TestWriteNPY: the bytes are the bytes of Gorgonia's own writer, and read back as the
// same numbers.
func TestWriteNPY(t *testing.T) {
	for _, shape := range [][]int{{1}, {7}, {64}, {123456}, {1, 1}, {2, 3}, {784, 10}, {10, 785}, {1, 40},
		{40, 1}, {2, 3, 4}} {
		total := 1
		for _, n := range shape {
			total *= n
		}
		numbers := make([]float64, total)
		for i := range numbers {
			numbers[i] = math.Sin(float64(i)) * math.Pow(10, float64(i%600-300))
		}
		numbers[0] = math.Copysign(0, -1)
		var got, want bytes.Buffer
		testkit.OK(files.WriteNPY(&got, numbers, shape...))
		testkit.OK(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(slices.Clone(numbers))).WriteNpy(&want))
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			n := min(200, want.Len(), got.Len())
			t.Errorf("shape %v: file begins\n%q, want\n%q", shape, got.Bytes()[:n], want.Bytes()[:n])
		}
		if len(shape) > 2 {
			continue
		}
		a, read, err := files.ReadNPY(got.Bytes())
		if err != nil || !slices.Equal(read, shape) || !slices.Equal(a, numbers) {
			t.Errorf("shape %v: read back as %v in %v, %v", shape, a, read, err)
		}
	}
}

// npyFile returns an NPY file of version 1 with the given header text and numbers.
func npyFile(header string, order binary.ByteOrder, numbers any) []byte {
	b := []byte("\x93NUMPY\x01\x00")
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	b, err := binary.Append(append(b, header...), order, numbers)
	if err != nil {
		panic(err)
	}
	return b
}

func dict(descr, fortran, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
}

func TestReadNPY(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	six := []float64{1, 2, 3, 4, 5, 6}
	version2 := npyFile(dict("<f8", "False", "(3, 2)"), le, six)
	version2 = append([]byte("\x93NUMPY\x02\x00"), append([]byte{version2[8], version2[9], 0, 0}, version2[10:]...)...)
	for _, c := range []struct {
		name  string
		file  []byte
		shape []int
		want  []float64
	}{
		{"float64", npyFile(dict("<f8", "False", "(3, 2)"), le, six), []int{3, 2}, six},
		{"big-endian float64", npyFile(dict(">f8", "False", "(3, 2)"), be, six), []int{3, 2}, six},
		{"version 2", version2, []int{3, 2}, six},
		{"Fortran order", npyFile(dict("<f8", "True", "(3, 2)"), le, six), []int{3, 2}, []float64{1, 4, 2, 5, 3, 6}},
		{"float32", npyFile(dict("<f4", "False", "(1, 2)"), le, []float32{.5, -2}), []int{1, 2}, []float64{.5, -2}},
		{"vector", npyFile(dict("<f8", "False", "(6,)"), le, six), []int{6}, six},
		{"bytes", npyFile(dict("|u1", "False", "(2,)"), le, []uint8{0, 255}), []int{2}, []float64{0, 255}},
		{"int8", npyFile(dict("|i1", "False", "(2,)"), le, []int8{-128, 127}), []int{2}, []float64{-128, 127}},
		{"bool", npyFile(dict("|b1", "False", "(2,)"), le, []bool{true, false}), []int{2}, []float64{1, 0}},
		{"int16", npyFile(dict(">i2", "False", "(2,)"), be, []int16{-1, 300}), []int{2}, []float64{-1, 300}},
		{"uint32", npyFile(dict("<u4", "False", "(1,)"), le, []uint32{1<<32 - 1}), []int{1}, []float64{1<<32 - 1}},
		{"int64", npyFile(dict("<i8", "False", "(2,)"), le, []int64{-(1<<53 - 1), 7}), []int{2},
			[]float64{-(1<<53 - 1), 7}},
	} {
		got, shape, err := files.ReadNPY(c.file)
		if err != nil || !slices.Equal(got, c.want) || !slices.Equal(shape, c.shape) {
			t.Errorf("%s: %v in %v, %v; want %v in %v", c.name, got, shape, err, c.want, c.shape)
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	le := binary.LittleEndian
	good := npyFile(dict("<f8", "False", "(2, 2)"), le, []float64{1, 2, 3, 4})
	edited := func(at int, b byte) []byte {
		e := bytes.Clone(good)
		e[at] = b
		return e
	}
	for _, c := range []struct {
		name string
		file []byte
		err  string
	}{
		{"empty", nil, "cut short: in the header"},
		{"no NPY file", []byte("1,2,3,4,5\n"),
			`not an NPY file: it must begin with "\x93NUMPY"; it begins with "1,2,3,"`},
		{"version", edited(6, 9), "the NPY version must be 1 to 3; it is 9"},
		{"cut in the header", good[:40], "cut short: in the header"},
		{"cut before the header", good[:9], "cut short: in the header"},
		{"long header", append([]byte("\x93NUMPY\x02\x00"), 0, 0, 0, 1),
			"the header must have at most 65536 bytes; it has 16777216"},
		{"cut in the data", good[:len(good)-1], "cut short: there must be 32 bytes of data; there are 31"},
		{"too long", append(bytes.Clone(good), 0), "too long: more than the 32 bytes that its header announces"},
		{"type", npyFile(dict("<c16", "False", "(1,)"), le, uint8(0)),
			`numbers must be float32, float64, integers or bool; their type is "<c16"`},
		{"records", npyFile("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", le, 1.0),
			`numbers must be float32, float64, integers or bool; their type is "[('a', '<f8')], ` +
				`'fortran_order': False, "`},
		{"no type", npyFile("{}", le, uint8(0)),
			`numbers must be float32, float64, integers or bool; their type is ""`},
		{"order", npyFile(dict("<f8", "Maybe", "(1,)"), le, uint8(0)),
			`fortran_order in the header must be True or False; it is "Maybe, 'shape': (1,)"`},
		{"scalar", npyFile(dict("<f8", "False", "()"), le, uint8(0)),
			`the shape must have one or two positive dimensions; it is "()"`},
		{"cube", npyFile(dict("<f8", "False", "(1, 2, 3)"), le, uint8(0)),
			`the shape must have one or two positive dimensions; it is "(1, 2, 3)"`},
		{"no rows", npyFile(dict("<f8", "False", "(0, 3)"), le, uint8(0)),
			`the shape must have one or two positive dimensions; it is "(0, 3)"`},
		{"negative", npyFile(dict("<f8", "False", "(-1,)"), le, uint8(0)),
			`the shape must have one or two positive dimensions; it is "(-1,)"`},
		{"beyond int", npyFile(dict("<f8", "False", "(4611686018427387904, 4)"), le, uint8(0)),
			`the shape must have one or two positive dimensions; it is "(4611686018427387904, 4)"`},
		{"huge", npyFile(dict("<f8", "False", "(288230376151711743,)"), le, uint8(0)),
			"header announces 2305843009213693944 bytes (dimensions [288230376151711743]): a file of at most 129 " +
				"bytes cannot hold them"},
		{"large integer", npyFile(dict("<i8", "False", "(2,)"), le, []int64{0, 1<<53 + 1}),
			"integers must be less than 2^53 in magnitude; row 2, column 1 has 9007199254740992"},
	} {
		_, _, err := files.ReadNPY(c.file)
		if err == nil || err.Error() != c.err {
			t.Errorf("%s: error %v, want %s", c.name, err, c.err)
		}
	}
}

// TestBytes: of an array of 50000 bytes all are read in turn; a header that announces more or less
// is an error, and the memory grows with what has come.
func TestBytes(t *testing.T) {
	content := make([]byte, 50000)
	for i := range content {
		content[i] = byte(i * i >> 4)
	}
	for announced, want := range map[uint32]string{
		50000:   "",
		49999:   "too long: more than the 49999 bytes that its header announces",
		50001:   "cut short: there must be 50001 bytes of data; there are 50000",
		1 << 31: "cut short: there must be 2147483648 bytes of data; there are 50000",
	} {
		file := append(binary.BigEndian.AppendUint32([]byte{0, 0, 8, 1}, announced), content...)
		got, err := testkit.Get(files.IDX(iotest.HalfReader(bytes.NewReader(file)))).Bytes()
		if want == "" && (err != nil || !bytes.Equal(got, content) || cap(got) > 2*len(content)) ||
			want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d announced: %d bytes in %d of memory, %v", announced, len(got), cap(got), err)
		}
	}
}

func FuzzReadNPY(f *testing.F) {
	le := binary.LittleEndian
	f.Add(npyFile(dict("<f8", "False", "(2, 2)"), le, []float64{1, 2, 3, 4}))
	f.Add(npyFile(dict("<i4", "True", "(1, 2)"), le, []int32{1, 2}))
	f.Add(npyFile(dict("|u1", "False", "(3,)"), le, []uint8{1, 2, 3}))
	f.Add(npyFile(dict("<f8", "False", "(288230376151711743,)"), le, uint8(0)))
	f.Fuzz(func(t *testing.T, content []byte) {
		numbers, shape, err := files.ReadNPY(content)
		if err == nil && (len(numbers) < 1 || len(numbers) > len(content) || len(shape) < 1) {
			t.Fatalf("%d numbers in %v from %d bytes", len(numbers), shape, len(content))
		}
	})
}
