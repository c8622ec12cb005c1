package grpc

import (
	"sync"

	"google.golang.org/grpc/mem"
)

// pieceSize is that of the longest pieces in which gRPC sends and receives a frame.
const pieceSize = 16 << 10

// A pool has the memory of pieces that are received. gRPC's own pool clears it before each use, lest some program
// shows what was in it before; here a piece is written whole or not read.
type pool struct{ pieces sync.Pool } // of *[]byte

var _ mem.BufferPool = (*pool)(nil)

// Get implements mem.BufferPool.
func (p *pool) Get(length int) *[]byte {
	if length > pieceSize {
		return new(make([]byte, length))
	}
	b, ok := p.pieces.Get().(*[]byte)
	if !ok {
		b = new(make([]byte, pieceSize))
	}
	*b = (*b)[:length]
	return b
}

// Put implements mem.BufferPool.
func (p *pool) Put(b *[]byte) {
	if cap(*b) >= pieceSize {
		p.pieces.Put(b)
	}
}
