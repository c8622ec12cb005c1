package session

import (
	"errors"

	"google.golang.org/grpc/mem"
)

// A codec hands frames to gRPC as they are, without protocol buffers.
type codec struct{ maxVector int }

// Name implements encoding.CodecV2. It becomes part of the content type.
func (codec) Name() string { return "dsbo-frame" }

// Marshal implements encoding.CodecV2 for an encoded frame, which gRPC may read after it has
// returned: the bytes of a frame never change.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2 for a *received. An error ends the stream.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, f := data.Reader(), v.(*received)
	f.fault = f.decode(r, data.Len(), c.maxVector)
	return errors.Join(f.fault, r.Close())
}

// A received frame carries its own error, since gRPC would turn a codec's error into a status.
type received struct {
	frame
	fault error // nil if it could be read
}
