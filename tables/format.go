package tables

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"

	"dsbo"
	"dsbo/internal/files"
)

// An Input is the content of a table's file, gzip unwrapped, and an Error its fault and place.
type (
	Input = files.Input
	Error = files.Error
)

// A Format is a kind of table file.
type Format interface {
	// Match reports whether a file that begins with these bytes is of this format. They are the
	// first 64 KiB, gzip unwrapped, or the whole file if it is shorter.
	Match(start []byte) bool
	// Read reads a table. What is wrong with the file is an [*Error].
	Read(in *Input, o Options) (*Table, error)
}

// foreign are the formats of files that people take for tables, and that none of the formats reads.
var foreign = []struct {
	begins *regexp.Regexp
	name   string
}{
	{regexp.MustCompile(`^PK\x03\x04`), "a ZIP archive, as those of Excel (.xlsx) and NumPy (.npz) are"},
	{regexp.MustCompile(`^\xd0\xcf\x11\xe0`), "an old workbook of Excel (.xls)"},
	{regexp.MustCompile(`^\s*(\[\s*)?[{\[]\s*"`), "JSON"},
	{regexp.MustCompile(`^(?i)\s*<(\?xml|!doctype|html|table)`), "XML or HTML"},
	{regexp.MustCompile(`^(ARROW1|FEA1)`), "Arrow or Feather"},
	{regexp.MustCompile(`^(RDX|X\n\x00\x00)`), "R's own"},
	{regexp.MustCompile(`^\$FL[23]@`), "SPSS's own"},
}

// startBytes is how much of a file a [Format] sees to know it.
const startBytes = 64 << 10

// formats are tried in this order. The last one takes whatever the others do not.
var formats = []Format{parquetFormat{}, npyFormat, idxFormat, svmFormat{}, csvFormat{}}

// Register adds a format, which is tried before those that are there already. It is for the init of
// a program with a format of its own: it must not run while files are read.
func Register(f Format) { formats = slices.Insert(formats, 0, f) }

// Open reads a table from a file; see [Read].
func Open(path string, o Options) (*Table, error) {
	file, err := files.OpenRegular(path, os.O_RDONLY, 0)
	if errors.Is(err, dsbo.ErrConfig) {
		return nil, &Error{File: path, Reason: "must be a regular file, which can be read twice; of a folder, " +
			"name the files, such as site{agent}.csv"}
	}
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, dsbo.ConfigErrorf("%w", err)
	}
	return Read(path, file, info.Size(), o)
}

// Read reads a table from a file of length bytes, in the first format that knows the content; its
// name is for errors. Rows have the order of the file.
//
// Errors are the errors of o, and [*Error] for a file that is no table. Time and memory are
// the format's; whatever a header announces, no more memory is taken than the file can fill.
func Read(name string, file io.ReaderAt, length int64, o Options) (*Table, error) {
	if o.Dates != "" && o.Dates != "dmy" && o.Dates != "mdy" {
		return nil, dsbo.ConfigErrorf("the order of dates must be dmy or mdy; it is %q", o.Dates)
	}
	in, err := files.NewInput(name, file, length)
	if err != nil {
		return nil, err
	}
	start, err := startOf(in)
	if err != nil {
		return nil, err
	}
	if len(start) == 0 {
		return nil, in.Fail(0, "", "the file is empty")
	}
	for _, f := range foreign {
		if f.begins.Match(start) {
			return nil, in.Fail(0, "", "a table must be CSV, Parquet, LIBSVM, NPY or IDX; this is %s", f.name)
		}
	}
	// The last format, CSV, matches anything.
	known := slices.IndexFunc(formats, func(f Format) bool { return f.Match(start) })
	return formats[known].Read(in, o)
}

// startOf returns the first bytes of a file, at most startBytes.
func startOf(in *Input) ([]byte, error) {
	r, err := in.Reader()
	if err != nil {
		return nil, err
	}
	start := make([]byte, startBytes)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, in.Error(err)
	}
	return start[:n], nil
}
