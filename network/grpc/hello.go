package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"dsbo/internal/wording"
	"dsbo/network"
	"dsbo/network/grpc/masks"
)

// A hello opens a stream. It says who the sender is, whom it takes the receiver for, how many
// vectors it has sent, of which exchange the first one is that it needs, in which form it sends
// them, with which key it masks sums, and what it can do. Its layout is the layout of all versions
// of the protocol: a later one may add texts at the end.
type hello struct {
	from, to    int             // sender and receiver
	sent, next  int             // the exchange of the sender, and the one that it waits for
	instance    uint64          // of the sender's process; see Config.Instance
	epoch       int             // of the sender's membership
	offers      capabilities    // what the sender can do
	needs       capabilities    // what the receiver must be able to do
	run, config string          // name of the run; hash of its settings
	form        string          // see Config.form
	key         string          // the public key of the sender's masks; "" without masks
	program     network.Program // version and kernels
	admission   string          // of a sender that the cluster file does not have; "" of others
	settings    [2]string       // see settingsText, which is cut in two
}

// helloNumbers is the length of what precedes the texts.
const helloNumbers = 40

// texts returns where the texts of h are, in the order in which they are sent.
func (h *hello) texts() []*string {
	return append(append([]*string{&h.key, &h.run, &h.config, &h.form}, h.program.Texts()...), &h.admission,
		&h.settings[0], &h.settings[1])
}

func (h hello) encode() []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(h.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(h.to))
	for _, v := range []uint64{h.instance, uint64(h.epoch), uint64(h.offers), uint64(h.needs)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, s := range h.texts() {
		b = append(b, byte(len(*s)))
		b = append(b, *s...)
	}
	return encode(header{kindHello, h.sent, h.next}, b)
}

// readHello reads the hello in a frame. Texts that an earlier version does not send are "", those
// that a later one adds are passed over.
func readHello(f *frame) (hello, error) {
	if f.kind != kindHello {
		return hello{}, fmt.Errorf("a stream must begin with a hello; it begins with a frame of kind %d", f.kind)
	}
	h := hello{sent: f.exchange, next: f.detail}
	b := f.text
	if len(b) < helloNumbers {
		return hello{}, errHelloLength
	}
	h.from, h.to = int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	number := func(k int) uint64 { return binary.LittleEndian.Uint64(b[8+8*k:]) }
	h.instance, h.offers, h.needs = number(0), capabilities(number(2)), capabilities(number(3))
	if number(1) > maxNumber {
		return hello{}, fmt.Errorf("the epoch of a hello must be at most %d; it is %d", maxNumber, number(1))
	}
	h.epoch = int(number(1))
	texts, b := h.texts(), b[helloNumbers:]
	for k := 0; len(b) > 0; k++ {
		if 1+int(b[0]) > len(b) {
			return hello{}, errHelloLength
		}
		var text string
		text, b = string(b[1:][:b[0]]), b[1:][b[0]:]
		if k > 0 && !wording.Printable(text) { // the key, which is first, is bytes
			return hello{}, fmt.Errorf("the texts of a hello must be printable; one is %+q", text)
		}
		if k < len(texts) {
			*texts[k] = text
		}
	}
	return h, nil
}

var errHelloLength = errors.New("a hello has the wrong length")

// capabilities are what agents of some versions of the protocol can do and agents of others cannot,
// one bit each.
type capabilities uint64

const (
	// changesMembers is the capability of agents that take part in a council.
	changesMembers capabilities = 1 << iota
	// leavesOutSlow is the capability of agents whose council leaves out members that are slow, and
	// has logs that say so.
	leavesOutSlow
	// signsVotes is the capability of agents whose council signs what it says.
	signsVotes
	// freshMasks is the capability of agents whose streams of masks have nonces in their names.
	freshMasks

	// ownCapabilities are the capabilities of this version.
	ownCapabilities = changesMembers | leavesOutSlow | signsVotes | freshMasks
)

// capabilityNames are what errors call them, by bit.
var capabilityNames = []string{"changes of members", "leaving out slow members", "votes that are signed",
	"masks with nonces"}

// String lists the names.
func (c capabilities) String() string {
	var names []string
	for k := range 64 {
		if c>>k&1 == 0 {
			continue
		}
		name := fmt.Sprintf("capability %d", k)
		if k < len(capabilityNames) {
			name = capabilityNames[k]
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// needs are the capabilities without which another agent cannot be in this run.
func (c *Config) needs() (needed capabilities) {
	if c.Membership != nil {
		needed = changesMembers | leavesOutSlow | signsVotes
	}
	if !c.Unmasked {
		needed |= freshMasks
	}
	return needed
}

// checkCapabilities returns an error unless both sides can do what the other one needs.
func (c *Config) checkCapabilities(h hello) error {
	lacks, of, who := h.needs&^ownCapabilities, c.Agent, h.from
	if lacks == 0 {
		lacks, of, who = c.needs()&^h.offers, h.from, c.Agent
	}
	if lacks == 0 {
		return nil
	}
	return fmt.Errorf(
		"agent %d lacks what agent %d needs, %v: the program of agent %d must be replaced by that of agent %d", of,
		who, lacks, of, who)
}

// helloLength is the length of a hello without settings.
func (c *Config) helloLength() int {
	return len(hello{run: c.Run, config: c.Hash, form: c.form(), key: string(make([]byte, masks.KeyLength)),
		program: c.Program, admission: c.Admission}.encode())
}
