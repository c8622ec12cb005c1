package session

import (
	"time"

	"dsbo/network"
	"dsbo/network/pki"
)

// TODO: this file goes; links.go, dial.go, accept.go, hello.go and conn.go take its place.

// A host is what links ask of the agent that has them. Several goroutines may call it at once.
type host interface {
	// greeting returns what a hello to a neighbour has of the session: its id and the exchange
	// whose vector is due from that neighbour next.
	greeting(to int) (session uint64, due int)
	// admit returns an error unless an agent whose hello is good in itself may connect now: it is a
	// neighbour, by the graph or by an admission, and no later process of it is known.
	admit(h hello) error
	// attach makes c the connection to the neighbour that has said h, in place of an older one.
	attach(c *conn, h hello) error
	// handle takes in a frame; f and its payload are the receiver's from then on (readers allocate
	// a new payload for each vector). An error ends the connection: a *badFrame with its reason.
	handle(c *conn, f frame) error
	// detach ends c, unless another connection has taken its place.
	detach(c *conn, why error)
	// refused notes why a neighbour that is there is not connected; settings is true where its
	// settings or program are others.
	refused(agent int, why error, settings bool)
}

// A hello opens a stream in both directions.
type hello struct {
	From, To  int
	Instance  uint64
	Run, Hash string
	Form      string
	Program   network.Program
	Admission string
	Settings  string
	Session   uint64 // id of the session under way at the sender, its first 8 bytes; 0: none
	Due       int    // the exchange of that session whose vector the sender needs next
}

// openLinks starts to listen and to dial. closeLinks ends all.
func openLinks(c *Config, h host) (*links, error) { panic("todo") }

type links struct{}

// renew has all connections made again with another certificate (keys: SameKey checks and errors as in grpc/renew.go).
func (l *links) renew(id *pki.Identity) error { panic("todo") }

// identity returns the certificate of now; nil: there is none.
func (l *links) identity() *pki.Identity { panic("todo") }

// refusals counts connections that were refused.
func (l *links) refusals() int64 { panic("todo") }

// dialNew has links dial or accept a neighbour that an admission has added.
func (l *links) addNeighbour(agent int) { panic("todo") }

func (l *links) close() { panic("todo") }

// A conn is one stream to a neighbour, after the hellos.
type conn struct {
	to      int
	expires time.Time // when a certificate of either side does; zero: never
}

// send queues a frame, which does not change after; it never blocks. It reports false where the
// neighbour reads so little that more than maxQueued frames wait: the caller drops the connection.
func (c *conn) send(frame []byte) bool { panic("todo") }

// drop ends the connection.
func (c *conn) drop(why error) { panic("todo") }

// A kind tells what a frame is for.
type kind uint8

const (
	kindHello kind = 1 + iota
	kindAlive
	kindFlood
	kindVector
	kindState
	kindEnd // the first number that is no kind
)

// A frame is headerSize bytes and a payload. All numbers are little-endian:
//
//	 0  kind      1 byte
//	 1  zero      3
//	 4  exchange  4
//	 8  session   8, the first bytes of its id
//	16  purpose   8
type frame struct {
	kind     kind
	exchange int
	session  uint64
	purpose  uint64
	payload  []byte // begins at a multiple of 8 in memory
	size     int    // with the header
}

const headerSize = 24

// newFrame returns the header of a frame with room for a payload after it, aligned.
func newFrame(h frame, payload int) []byte { panic("todo") }
