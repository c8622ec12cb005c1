package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"dsbo/network"
)

// maxName bounds each text in a hello, so that it fits a frame.
const maxName = 255

// A hello opens a stream. It says who the sender is, whom it takes the receiver for, how many vectors it has sent, of
// which exchange the first one is that it needs, in which form it sends them, and with which key it masks sums.
type hello struct {
	from, to    int
	sent, next  int
	run, config string
	form        string // see Config.form
	program     network.Program
	key         string // the public key of the sender's masks; "" without masks
}

// texts returns where the texts of h are, in the order in which they are sent.
func (h *hello) texts() []*string {
	return []*string{&h.run, &h.config, &h.form, &h.program.Version, &h.program.Kernels, &h.program.Architecture, &h.key}
}

func (h hello) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.to))
	for _, s := range h.texts() {
		b = append(b, byte(len(*s)))
		b = append(b, *s...)
	}
	return encode(header{kindHello, h.sent, h.next}, b)
}

// readHello reads the hello in a frame.
func readHello(f *frame) (hello, error) {
	if f.kind != kindHello {
		return hello{}, fmt.Errorf("a stream must begin with a hello; it begins with a frame of kind %d", f.kind)
	}
	h := hello{sent: f.exchange, next: f.detail}
	wrong := errors.New("a hello has the wrong length")
	b := f.text
	if len(b) < 8 {
		return hello{}, wrong
	}
	h.from, h.to = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	for _, s := range h.texts() {
		if len(b) == 0 || 1+int(b[0]) > len(b) {
			return hello{}, wrong
		}
		*s, b = string(b[1:][:b[0]]), b[1:][b[0]:]
	}
	if len(b) > 0 {
		return hello{}, wrong
	}
	return h, nil
}
