package tables

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A decoder makes a number, or a text, of a Parquet value.
type decoder struct {
	kind   Kind
	unit   string                      // of times
	number func(parquet.Value) float64 // nil: text
	text   func(parquet.Value) []byte  // nil: of a number's digits
}

// decoderOf returns the decoder of a Parquet type: by its logical type, such as a date or a
// decimal, if it has one that changes the meaning of the stored value, else by its physical type.
func decoderOf(t parquet.Type) (decoder, error) {
	if logical := t.LogicalType(); logical != nil && logical.Value != nil {
		switch l := logical.Value.(type) {
		case *format.DateType:
			return decoder{kind: Time, unit: Days, number: func(v parquet.Value) float64 {
				return float64(v.Int32())
			}}, nil
		case *format.TimestampType:
			if l.Unit.Value == nil {
				return decoder{}, fmt.Errorf("the timestamps have no unit")
			}
			a := float64(time.Second / l.Unit.Value.Duration())
			return decoder{kind: Time, unit: seconds, number: func(v parquet.Value) float64 {
				return float64(v.Int64()) / a
			}}, nil
		case *format.DecimalType:
			return decimalOf(t.Kind(), int(l.Scale)), nil
		case *format.IntType:
			if !l.IsSigned {
				return unsigned(t.Kind()), nil
			}
		case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
		default:
			return decoder{}, undecodable(logical)
		}
	}
	return physicalDecoder(t)
}

// physicalDecoder returns the decoder of a type without a logical type.
func physicalDecoder(t parquet.Type) (decoder, error) {
	d := decoder{kind: Number}
	switch t.Kind() {
	case parquet.Boolean:
		d.kind, d.text = Word, func(v parquet.Value) []byte { return fmt.Append(nil, v.Boolean()) }
	case parquet.Int32:
		d.number = func(v parquet.Value) float64 { return float64(v.Int32()) }
	case parquet.Int64:
		d.number = func(v parquet.Value) float64 { return float64(v.Int64()) }
		d.text = func(v parquet.Value) []byte { return strconv.AppendInt(nil, v.Int64(), 10) }
	case parquet.Float:
		d.number = func(v parquet.Value) float64 { return float64(v.Float()) }
	case parquet.Double:
		d.number = func(v parquet.Value) float64 { return v.Double() }
	case parquet.Int96: // timestamps of older programs: nanoseconds of a day, and the day's Julian number
		d.kind, d.unit = Time, seconds
		d.number = func(v parquet.Value) float64 {
			i := v.Int96()
			return float64((float64(i[2])-2440588)*24*60*60) + float64(uint64(i[1])<<32|uint64(i[0]))/1e9
		}
	case parquet.ByteArray:
		d.kind, d.text = Word, parquet.Value.ByteArray
	default:
		return d, undecodable(t)
	}
	return d, nil
}

func undecodable(has fmt.Stringer) error {
	return fmt.Errorf(
		"a column must have numbers, texts, truth values, dates or timestamps; this one has %s: leave it out", has)
}

// unsigned returns the decoder of unsigned integers, which Parquet stores as signed ones.
func unsigned(kind parquet.Kind) decoder {
	d := decoder{kind: Number}
	d.number = func(v parquet.Value) float64 { return float64(v.Uint32()) }
	if kind == parquet.Int64 {
		d.number = func(v parquet.Value) float64 { return float64(v.Uint64()) }
		d.text = func(v parquet.Value) []byte { return strconv.AppendUint(nil, v.Uint64(), 10) }
	}
	return d
}

// decimalOf returns the decoder of decimals, which are whole numbers over a power of ten.
func decimalOf(kind parquet.Kind, scale int) decoder {
	power := math.Pow10(scale)
	return decoder{kind: Number, number: func(v parquet.Value) float64 {
		switch kind {
		case parquet.Int32:
			return float64(v.Int32()) / power
		case parquet.Int64:
			return float64(v.Int64()) / power
		}
		digits := v.ByteArray() // big-endian, in two's complement
		whole := new(big.Int).SetBytes(digits)
		if len(digits) > 0 && digits[0] >= 0x80 {
			whole.Sub(whole, new(big.Int).Lsh(big.NewInt(1), uint(8*len(digits))))
		}
		n, _ := new(big.Float).SetInt(whole).Float64()
		return n / power
	}}
}

// kindFor returns the kind and unit of a column that is to be of some kind; "": of its own.
func (d decoder) kindFor(kind Kind) (Kind, string, error) {
	switch {
	case kind == "" || kind == d.kind:
		return d.kind, d.unit, nil
	case kind == Time || d.kind == Time:
		return "", "", fmt.Errorf("values of kind %s cannot be taken for those of kind %s", d.kind, kind)
	}
	return kind, "", nil
}

// add appends a value to a column, as a number or as text by the column's kind. A whole number that
// float64 cannot represent is refused in a column of numbers, since two might become equal. With
// spare rows what cannot be read becomes a missing value of a bad row; text that is not UTF-8 is
// always an error.
func (d decoder) add(m *maker, v parquet.Value) error {
	var reason string
	switch {
	case v.IsNull() && m.column.Kind == Word:
		reason = m.word(nil)
	case v.IsNull():
		reason = m.number(math.NaN())
	case d.number != nil && (d.text == nil || m.column.Kind == Number):
		n := d.number(v)
		if d.text != nil && math.Abs(n) >= exactWhole && !isExact(d.text(v), n) {
			reason = fmt.Sprintf("a whole number must be at most 2^53, up to which two that differ stay two; it is %s "+
				"(-words takes a column of codes as words)", d.text(v))
			break
		}
		reason = m.number(n)
	default:
		text := d.text(v)
		if !utf8.Valid(text) {
			return fmt.Errorf("texts must be in UTF-8; there is %.40q", text)
		}
		reason = m.word(text)
	}
	if reason = m.skip(reason); reason != "" {
		return fmt.Errorf("row %d: %s", m.rows+1, reason)
	}
	return nil
}
