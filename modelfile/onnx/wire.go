package onnx

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A layout is what a protobuf message holds: its fields, in the order in which they are written, and what is to be done when all have been
// read; nil: nothing. Fields that it does not have are passed over.
type layout struct {
	fields []binding
	finish func() error
}

// A binding ties a field to a variable, which it writes, and sets to what it reads.
type binding struct {
	number protowire.Number
	write  func(to []byte) []byte
	read   func(f field) error
}

// A field is one field of a message as it is read: a whole number or bytes.
type field struct {
	number protowire.Number
	value  uint64 // of a number
	bytes  []byte // of everything else; nil: a number
}

// encode returns the bytes of a message.
func (l layout) encode() (b []byte) {
	for _, f := range l.fields {
		b = f.write(b)
	}
	return b
}

// decode reads a message.
func (l layout) decode(b []byte) error {
	for len(b) > 0 {
		f, rest, err := nextField(b)
		if err != nil {
			return err
		}
		b = rest
		for _, known := range l.fields {
			if known.number != f.number {
				continue
			}
			if err := known.read(f); err != nil {
				return err
			}
		}
	}
	if l.finish == nil {
		return nil
	}
	return l.finish()
}

// nextField reads a field. One of fixed width, as no field of ours is, has the number 0.
func nextField(b []byte) (f field, rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	b = b[n:]
	switch kind {
	case protowire.VarintType:
		f.number = number
		f.value, n = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		f.number = number
		if f.bytes, n = protowire.ConsumeBytes(b); f.bytes == nil {
			f.bytes = []byte{}
		}
	default:
		n = protowire.ConsumeFieldValue(number, kind, b)
	}
	if n < 0 {
		return f, nil, protowire.ParseError(n)
	}
	return f, b[n:], nil
}

// content is a field of bytes.
func content(n protowire.Number, v *[]byte) binding {
	return binding{n, func(to []byte) []byte { return appendBytes(to, n, *v) }, func(f field) error {
		*v = f.bytes
		return nil
	}}
}

func appendBytes(to []byte, n protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, n, protowire.BytesType), b)
}

// text is a field of text, of which the last one counts.
func text(n protowire.Number, s *string) binding {
	return binding{n, func(to []byte) []byte { return appendBytes(to, n, []byte(*s)) }, func(f field) (err error) {
		*s, err = f.text()
		return err
	}}
}

// texts is a text for each field of a number.
func texts(n protowire.Number, list *[]string) binding {
	write := func(to []byte) []byte {
		for _, s := range *list {
			to = appendBytes(to, n, []byte(s))
		}
		return to
	}
	return binding{n, write, func(f field) error {
		s, err := f.text()
		*list = append(*list, s)
		return err
	}}
}

// text returns the text that a field holds.
func (f field) text() (string, error) {
	if f.bytes == nil || !utf8.Valid(f.bytes) {
		return "", fmt.Errorf("field %d must be text in UTF-8", f.number)
	}
	return string(f.bytes), nil
}

// whole is a field of a whole number.
func whole[T ~int | ~uint64](n protowire.Number, v *T) binding {
	return binding{n, func(to []byte) []byte { return appendWhole(to, n, uint64(*v)) }, func(f field) error {
		*v = T(f.value)
		return nil
	}}
}

func appendWhole(to []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, n, protowire.VarintType), v)
}

// wholes is whole numbers, written as a field each, and read packed too.
func wholes(n protowire.Number, list *[]int64) binding {
	write := func(to []byte) []byte {
		for _, v := range *list {
			to = appendWhole(to, n, uint64(v))
		}
		return to
	}
	return binding{n, write, func(f field) error {
		if f.bytes == nil {
			*list = append(*list, int64(f.value))
			return nil
		}
		for b := f.bytes; len(b) > 0; {
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return protowire.ParseError(n)
			}
			*list, b = append(*list, int64(v)), b[n:]
		}
		return nil
	}}
}

// inside is a field that holds a message.
func inside(n protowire.Number, fields ...binding) binding {
	l := layout{fields: fields}
	return binding{n, func(to []byte) []byte { return appendBytes(to, n, l.encode()) }, func(f field) error { return l.decode(f.bytes) }}
}

// messages is a message for each field of a number; what one of them is, errors call by name.
func messages[T any](n protowire.Number, name string, list *[]T, of func(*T) layout) binding {
	write := func(to []byte) []byte {
		for i := range *list {
			to = appendBytes(to, n, of(&(*list)[i]).encode())
		}
		return to
	}
	return binding{n, write, func(f field) error {
		var v T
		if err := of(&v).decode(f.bytes); err != nil {
			return fmt.Errorf("%s %d: %w", name, len(*list), err)
		}
		*list = append(*list, v)
		return nil
	}}
}
