package tables

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library allocates what the lists of the footer and the headers of pages announce. checkFooter
// and checkPages look at them before it does: they hold no more than the file has room for.

// checkFooter checks that a file ends with a footer that lies within it, and that each list in the
// footer fits in the footer. The library allocates lists by their announced length, so a damaged
// footer could take all memory.
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
	if err := checkLists(new(thrift.CompactProtocol).NewReaderFromBytes(footer), thrift.STRUCT, size, 0); err != nil {
		return errFooter
	}
	return nil
}

// lz4Codec is LZ4 in frames of Hadoop, which the library does not name.
const lz4Codec = 5

// checkPages checks, before a column is read, that its pages lie within the file and announce no
// more values than their group has rows. It subtracts the bytes to which the pages unpack from
// room, which all columns share; more than room is an error.
func checkPages(file io.ReaderAt, length int64, p *parquet.File, column int, room *int64) error {
	for _, group := range p.Metadata().RowGroups {
		if column >= len(group.Columns) {
			return fmt.Errorf("damaged: a group of rows lacks this column")
		}
		c := group.Columns[column].MetaData
		if c.Codec == format.Lz4Raw || int(c.Codec) == lz4Codec {
			return fmt.Errorf("its pages are compressed with LZ4, which cannot be read; Snappy, gzip, Brotli and " +
				"Zstandard can (as compression='zstd' in pyarrow)")
		}
		at := c.DataPageOffset
		if c.DictionaryPageOffset > 0 {
			at = min(at, c.DictionaryPageOffset)
		}
		if at < 0 || c.TotalCompressedSize < 0 || c.TotalCompressedSize > length-at {
			return fmt.Errorf("damaged: a column cannot have bytes %d to %d of a file of %d", at,
				at+c.TotalCompressedSize, length)
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

// checkPage checks the page at offset at, as checkPages describes, and returns the offset of the
// next one.
func checkPage(file io.ReaderAt, at, end, rows int64, room *int64) (next int64, err error) {
	const most = 1 << 16 // statistics may hold texts
	header := make([]byte, min(most, end-at))
	if _, err := file.ReadAt(header, at); err != nil && err != io.EOF {
		return 0, err
	}
	var page format.PageHeader // which has no lists, and whose texts lie in header
	r := new(thrift.CompactProtocol).NewReaderFromBytes(header)
	if err := thrift.NewDecoder(r).Decode(&page); err != nil {
		return 0, fmt.Errorf("damaged: the header of a page: %w", err)
	}
	packed, unpacked := int64(page.CompressedPageSize), int64(page.UncompressedPageSize)
	entries := int64(page.DictionaryPageHeader.V.NumValues)
	values := int64(max(page.DataPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues))
	switch at += int64(r.BytesRead()); {
	case packed < 0 || packed > end-at:
		return 0, fmt.Errorf("damaged: a page cannot have %d bytes; there are %d", packed, end-at)
	case values > rows || entries > unpacked+1: // an entry takes a byte at least; + 1 for an empty page
		return 0, fmt.Errorf("damaged: a page of %d bytes in a group of %d rows cannot have %d values", unpacked, rows,
			max(values, entries))
	case unpacked < 0 || unpacked > *room:
		return 0, fmt.Errorf("the file unpacks to more than a file of its length may")
	}
	*room -= unpacked
	return at + packed, nil
}

var errFooter = errors.New("damaged: a list or text is longer than the file, or a header has no end")

// checkLists reads a Thrift value and returns an error if a list in it announces more elements than
// bytes are left of the most that there are, or values are nested deeper than in any footer. The
// library's reader does not check these; it checks all other lengths itself.
func checkLists(r thrift.Reader, kind thrift.Type, most int64, depth int) (err error) {
	const deepest = 32
	if depth > deepest {
		return errFooter
	}
	switch kind {
	case thrift.I8, thrift.BOOL, thrift.TRUE:
		_, err = r.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = r.ReadInt64()
	case thrift.DOUBLE:
		_, err = r.ReadFloat64()
	case thrift.BINARY:
		_, err = r.ReadBytes()
	case thrift.LIST, thrift.SET:
		list, err := r.ReadList()
		if err != nil || int64(list.Size) > most-int64(r.BytesRead()) { // each element has at least a byte
			return cmp.Or(err, errFooter)
		}
		for range list.Size {
			if err := checkLists(r, list.Type, most, depth+1); err != nil {
				return err
			}
		}
	case thrift.STRUCT:
		for {
			f, err := r.ReadField()
			if err != nil || f.Type == thrift.STOP {
				return err
			}
			if f.Type == thrift.TRUE || f.Type == thrift.FALSE { // which is the value
				continue
			}
			if err := checkLists(r, f.Type, most, depth+1); err != nil {
				return err
			}
		}
	default: // maps are in no footer
		err = errFooter
	}
	return err
}
