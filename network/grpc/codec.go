package grpc

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/mem"
)

// A codec hands frames to gRPC as they are, without protocol buffers.
type codec struct{}

// Name implements encoding.CodecV2. It becomes part of the content type.
func (codec) Name() string { return "dsbo-frame" }

// Marshal implements encoding.CodecV2 for an encoded frame, which gRPC may read after it has
// returned: the bytes of a frame never change.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("a %T cannot be sent: it must be an encoded frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal implements encoding.CodecV2 for a *frame. An error ends the stream.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("a %T cannot be received: it must be a *frame", v)
	}
	r := data.Reader()
	return errors.Join(f.decode(r, data.Len()), r.Close())
}
