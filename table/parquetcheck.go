package table

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
)

// The library allocates what the lists of the footer and the headers of pages announce. checkFooter and checkPages look at them
// before it does: they hold no more than the file has room for.

// checkFooter returns an error unless a file can have a footer, all of whose lists fit in it.
func checkFooter(file io.ReaderAt, length int64) error {
	const tail = 8 // the footer's length and the magic word
	if length < int64(len(parquetMagic))+tail {
		return fmt.Errorf("cut short: there is no footer")
	}
	var end [tail]byte
	if _, err := file.ReadAt(end[:], length-tail); err != nil && err != io.EOF {
		return err
	}
	if string(end[4:]) != parquetMagic {
		return fmt.Errorf("cut short, or no Parquet file: it must end with %q; it ends with %q", parquetMagic, end[4:])
	}
	size := int64(binary.LittleEndian.Uint32(end[:]))
	if size > length-tail-int64(len(parquetMagic)) {
		return fmt.Errorf("damaged: the footer cannot have %d bytes in a file of %d", size, length)
	}
	footer := make([]byte, size)
	if _, err := file.ReadAt(footer, length-tail-size); err != nil && err != io.EOF {
		return err
	}
	w := thriftWalk{data: footer}
	return w.message(nil)
}

// checkPages returns an error unless the pages of a column are in the file, and hold no more than the rows of its groups. It takes the bytes of
// the pages, when they are unpacked, from room.
func checkPages(file io.ReaderAt, length int64, p *parquet.File, column int, room *int64) error {
	for _, group := range p.Metadata().RowGroups {
		if column >= len(group.Columns) {
			return fmt.Errorf("damaged: a group of rows lacks this column")
		}
		c := group.Columns[column].MetaData
		at := c.DataPageOffset
		if c.DictionaryPageOffset > 0 {
			at = min(at, c.DictionaryPageOffset)
		}
		if at < 0 || c.TotalCompressedSize < 0 || c.TotalCompressedSize > length-at {
			return fmt.Errorf("damaged: a column cannot have bytes %d to %d of a file of %d", at, at+c.TotalCompressedSize, length)
		}
		for end := at + c.TotalCompressedSize; at < end; {
			next, err := checkPage(file, at, end, group.NumRows, room)
			if err != nil {
				return err
			}
			at = next
		}
	}
	return nil
}

// checkPage checks the page at a place and returns the place of the next one.
func checkPage(file io.ReaderAt, at, end, rows int64, room *int64) (next int64, err error) {
	const most = 1 << 16 // statistics may hold texts
	header := make([]byte, min(most, end-at))
	if _, err := file.ReadAt(header, at); err != nil && err != io.EOF {
		return 0, err
	}
	found := map[thriftField]int64{}
	w := thriftWalk{data: header}
	if err := w.message(found); err != nil {
		return 0, err
	}
	// The numbers are those of PageHeader in Parquet's format: sizes, and the values of pages of version 1 and 2 and of dictionaries.
	unpacked, packed := found[thriftField{0, 2}], found[thriftField{0, 3}]
	entries := found[thriftField{7, 1}]
	values := max(found[thriftField{5, 1}], found[thriftField{8, 1}])
	switch at += int64(w.at); {
	case packed < 0 || packed > end-at:
		return 0, fmt.Errorf("damaged: a page cannot have %d bytes; there are %d", packed, end-at)
	case values > rows || entries > unpacked+1:
		return 0, fmt.Errorf("damaged: a page of %d bytes in a group of %d rows cannot have %d values", unpacked, rows, max(values, entries))
	case unpacked < 0 || unpacked > *room:
		return 0, fmt.Errorf("the file unpacks to more than a file of its length may")
	}
	*room -= unpacked
	return at + packed, nil
}

// A thriftField is a number in a message: the field of the outermost structure, 0 for the number itself, and the field in that.
type thriftField struct{ outer, inner int }

// A thriftWalk goes through a message of Thrift's compact protocol. The numbers of structures: 1 and 2 are truth values, 3 a byte, 4 to 6
// integers, 7 a float64, 8 bytes, 9 a list, 10 a set, 11 a map, 12 a structure.
type thriftWalk struct {
	data []byte
	at   int
}

var errThrift = fmt.Errorf("damaged: a list or text is longer than the file, or a header has no end")

// message goes through one structure and puts the integers of two levels into found, unless it is nil.
func (w *thriftWalk) message(found map[thriftField]int64) error {
	return w.structure(0, 0, found)
}

func (w *thriftWalk) structure(depth, outer int, found map[thriftField]int64) error {
	const deepest = 32
	if depth > deepest {
		return errThrift
	}
	for id := 0; ; {
		b, err := w.byte()
		if err != nil || b == 0 {
			return err
		}
		if step := int(b >> 4); step > 0 {
			id += step
		} else {
			id = int(unzigzag(w.number()))
		}
		switch kind := b & 0x0f; kind {
		case 4, 5, 6:
			n := unzigzag(w.number())
			if found != nil && depth == 0 {
				found[thriftField{0, id}] = n
			} else if found != nil && depth == 1 {
				found[thriftField{outer, id}] = n
			}
		case 12:
			if err := w.structure(depth+1, id, found); err != nil {
				return err
			}
		case 1, 2: // the kind is the value
		default:
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

// value goes through a value of a kind; truth values have a byte of their own in lists.
func (w *thriftWalk) value(kind byte, depth int) error {
	switch kind {
	case 1, 2, 3:
		return w.skip(1)
	case 4, 5, 6:
		w.number()
		return w.skip(0)
	case 7:
		return w.skip(8)
	case 8:
		return w.skip(w.number())
	case 9, 10:
		b, err := w.byte()
		if err != nil {
			return err
		}
		size := uint64(b >> 4)
		if size == 15 {
			size = w.number()
		}
		if size > uint64(len(w.data)-min(w.at, len(w.data))) { // each has at least a byte
			return errThrift
		}
		for range size {
			if err := w.element(b&0x0f, depth); err != nil {
				return err
			}
		}
		return w.skip(0)
	}
	return errThrift // maps are in no message of Parquet
}

func (w *thriftWalk) element(kind byte, depth int) error {
	if kind == 12 {
		return w.structure(depth+1, 0, nil)
	}
	if depth > 32 {
		return errThrift
	}
	return w.value(kind, depth+1)
}

func (w *thriftWalk) byte() (byte, error) {
	if w.at >= len(w.data) {
		return 0, errThrift
	}
	w.at++
	return w.data[w.at-1], nil
}

// skip goes on by some bytes, of which there must be as many.
func (w *thriftWalk) skip(n uint64) error {
	if w.at > len(w.data) || n > uint64(len(w.data)-w.at) {
		return errThrift
	}
	w.at += int(n)
	return nil
}

// number reads a number of 7 bits a byte. Where there is none, the walk is behind its end.
func (w *thriftWalk) number() uint64 {
	n, size := binary.Uvarint(w.data[min(w.at, len(w.data)):])
	if size <= 0 {
		w.at = math.MaxInt
		return 0
	}
	w.at += size
	return n
}

func unzigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }
