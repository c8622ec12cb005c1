package grpc

import (
	"context"
	"sync"
	"time"

	"dsbo/internal/guard"
	"dsbo/network"
	"dsbo/network/grpc/holdup"
	"dsbo/network/grpc/masks"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
	"dsbo/network/pki"

	rpc "google.golang.org/grpc"
)

// A Mixer is one agent's end of an exchange between processes. It implements [network.Rewinder],
// and [network.Team] with this one agent. Mix, Gather, Reduce, Rewind and Drain belong to one
// goroutine at a time; any goroutine may call the other methods.
type Mixer struct {
	combining
	binding
	config   Config      // of the exchange
	links    *links      // connections
	closing  sync.Once   // once
	terms    [][]float64 // the terms of a sum
	decoded  [][]float64 // those that came in another form than float64
	rows     []float64   // those that Gather sends
	settings string      // see settingsText
	words    []uint64    // those that came from one neighbour
	joint    []uint64    // of several kinds that are reduced together
	chamber  *chamber    // of the council; nil: all agents are members, always
	view     view        // of the run that this agent takes: among whom it exchanges

	mu         sync.Mutex    // guards what follows
	neighbours neighbours    // by agent
	flow       flow          // the present exchange
	keys       *masks.Keys   // of masks
	ledger     *masks.Ledger // nil without masks
	handovers  handovers     // of state to members that enter

	watch  holdup.Watch // over the exchange under way
	budget guard.Budget // of the neighbours, see [Config.DelayBudget]

	stateLost bool                // this agent has no state to go on with
	hasSaved  bool                // it has begun to write a checkpoint, in this process or, as it seems, a former one
	saved     int                 // the exchange of the last one in the epoch; before, where the epoch begins
	finish    finish              // how far it is in the end of the run
	leaving   bool                // Drain has ended well
	ended     *network.EndedError // why all agents have to end; nil while the run goes on
	err       error               // what Mix, Gather and Reduce return from now on; nil while all is well
	closed    bool                // whether Close was called
	rewinds   int64               // how often this agent went back

	vectors, vectorBytes int64 // see Status
}

// identity returns the certificate that this agent has now, nil without certificates.
func (m *Mixer) identity() *pki.Identity {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.config.Identity
}

// combining is what says how the vectors of a mixer's next exchange are combined.
type combining struct{ of *Mixer }

// neighbours are the edges of an agent, guarded by the mixer's lock.
type neighbours struct {
	m     *Mixer
	edges []*edge // in ascending order of the neighbours
}

// An edge is one neighbour as this agent sees it: a state machine without input and output, guarded
// by the mixer's lock. Sessions hand it what was received (handle) and ask it what to send
// (nextFrame). The package documentation has its messages, and what holds on it under the names
// Order, Credit, Window and Repetition.
type edge struct {
	m        *Mixer // the agent's mixer
	id       int    // number of the neighbour
	position int    // of the neighbour among the members

	// Receiving. The vectors of exchanges k and k+1, where this agent is at exchange k, have their
	// slots at k%2 and (k+1)%2.
	received     int       // vectors that have come; Order: the next one is of this exchange
	slot         [2][]byte // payloads
	came         [2]digest // of the vectors in the slots
	digests      digests   // of vectors that were used, for repetitions
	expectsStale bool      // this agent went back, and vectors from before may still come on this stream

	// Sending.
	next      int    // the exchange whose vector is put on the stream next
	sent      int    // vectors that have been on some stream
	credit    int    // Credit: the neighbour has room for the vectors of exchanges up to this one
	confirmed []byte // this agent's key of masks, as the neighbour has passed it on last
	pending   kind   // a resend or an alive that is to be sent first; 0 for none

	conduct conduct // how often the neighbour has offended

	radius   int           // the neighbour's; see finish.radius
	report   holdup.Report // what it said of itself last on this stream, if reported
	reported bool          // whether report holds

	session       *session  // nil while there is no stream
	instance      uint64    // of the neighbour's process that opened it, or the last one
	silentBeats   int       // heartbeats since the neighbour's last sign of life
	silenceLogged bool      // whether the silence is in the log
	lastErr       error     // what ended the last connection or attempt
	strange       error     // the neighbour has other settings; nil: that is not known
	failure       error     // of its present process, or its offences, where members change; or nil
	stats         Neighbour // for the status
}

// conduct is what a neighbour did that it must not do, and what it does too slowly.
type conduct struct {
	*edge            // whose it is
	computes holding // how long it has held up the exchange under way by what it computes
	blank    blank   // whether it has come back without a state

	controlFrames int // frames since the last heartbeat that bring no vector
	repeats       int // vectors since the last heartbeat that came before
	// heartbeats for which it was refused after the last offence; 0: an exchange with it has
	// ended since
	barBeats    int
	barredUntil time.Time // when it is no longer
	exceeded    error     // the neighbour's process has spent its budget
	asked       [2]int    // the epoch and the beginning of the piece that it has asked for last
}

// A holding counts for how many heartbeats of one exchange a neighbour has held it up.
type holding struct {
	round, beats int
	reported     bool
}

// A blank is what an agent knows of a neighbour that needs exchange 0 again, which is no longer
// kept, in a run whose members change: it may have lost its disk, in epoch 0, whose beginning is
// the run's. In later epochs it knows that by itself. An agent that has a checkpoint does not go
// back to the start for it, but tells the council, which has it begin with a neighbour's state.
// Before it has written one it goes back at once: agents that keep few vectors, and go back for
// each other late, do so for ever.
type blank struct {
	suspected bool // it is to be seen whether this agent has a checkpoint
	known     bool
	beats     int // heartbeats since that is known
}

func (e *edge) silence() time.Duration {
	return time.Duration(e.silentBeats) * e.m.config.Heartbeat
}

// isSilent reports whether the neighbour is not connected, or not heard.
func (e *edge) isSilent() bool { return e.session == nil || e.silence() >= e.m.config.SilentAfter }

// isMissing reports whether the vector of an exchange under way has not come from this neighbour.
func (e *edge) isMissing() bool { return e.m.flow.missing > 0 && e.received <= e.m.flow.round }

// isAwaited reports whether an exchange waits for this neighbour: its vector is due.
func (e *edge) isAwaited() bool {
	x := &e.m.flow
	return e.isMissing() && (!x.staged || x.due || e.position != x.parent)
}

// carriesVectors reports whether there is a stream that carries vectors: both ends are members of
// the same epoch, and know it.
func (e *edge) carriesVectors() bool {
	s, epoch := e.session, e.m.view.epoch.Number
	return s != nil && e.position >= 0 && s.announced == epoch && s.remote == epoch
}

// A Neighbour is what an agent has seen of one neighbour so far. Frames of all kinds count, with
// their headers and without what TLS and gRPC add.
type Neighbour struct {
	Agent     int           // its number
	Connected bool          // whether there is a stream now
	Connects  int64         // how often a stream was opened
	Round     int           // how many exchanges the neighbour is known to have sent
	Silent    time.Duration // since something was heard of it, in whole heartbeats
	Waited    time.Duration // for its vectors, the exchange under way included
	Waiting   time.Duration // for its vector of the exchange under way; 0 if that is here
	Slow      bool          // it computes, and this agent has waited for so long that it says so to the council

	Fault string // for what it is to be left out, or how it has spent its budget; "" if it has not

	FramesSent, BytesSent         int64 // on all streams
	FramesReceived, BytesReceived int64 // on all streams
	Resent                        int64 // vectors that were sent again
	Duplicates                    int64 // vectors that came again
	Offences                      int64 // connections that ended because of what it sent
}

// A Holdup is what an exchange waits for.
type Holdup = holdup.Holdup

// A stream is one end of a gRPC stream of frames.
type stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// A session moves frames between an edge and a stream.
type session struct {
	e       *edge         // edge that it is of
	stream  stream        // of the connection
	expires time.Time     // when a certificate of the connection expires; zero: there is none
	sender  Sender        // the session itself, or what Config.Wrap puts before it
	wakeUp  chan struct{} // holds one wake-up of transmit

	dropOnce sync.Once     // closes dropped
	dropped  chan struct{} // closed when the session has ended
	reason   error         // set before dropped is closed

	failSent bool // the failure is sent, or must not be; the mixer's lock guards it and keysSent
	epochs
	councilFrames [][]byte // frames of the council
	keysSent      int      // key frames that the stream has carried
}

// epochs are what the two sides of a session have told each other of the epochs that they are in.
// Vectors travel where both are members of the same one.
type epochs struct {
	announced   int  // what the neighbour has been told; -1: nothing
	announceDue bool // it must be told
	remote      int  // the neighbour's

	// remoteSent and next are how many vectors the neighbour has sent in its epoch, and the first
	// one that it needs.
	remoteSent, remoteNext int
}

// A view is what an agent exchanges over in one epoch: the members and the edges between them.
type view struct {
	epoch    membership.Epoch  // whose members they are
	matrix   *network.Matrix   // of the members; nil where this agent is none
	position int               // of this agent among them; -1 where it is none
	combiner *network.Combiner // makes the mix
	local    []int             // that position; empty where it is none
	edges    []*edge           // those to members, in ascending order
	flood    *flood            // nil before the first Gather
	tree     *network.Tree     // nil before the first Reduce
	opposite int               // the agent opposite the root of the tree, -1 if there is none
}

// A flow is the exchanges of an agent, one after the other: it puts a vector before all neighbours
// and waits for theirs. Its fields are guarded by the mixer's lock, but for signal; round and
// window are changed by the goroutine of Mix alone.
type flow struct {
	m        *Mixer                 // of the agent
	signal   chan struct{}          // holds one wake-up of Mix, Gather, Reduce or Drain
	round    int                    // the next exchange, or the one under way
	window   window                 // what may have to be sent again
	missing  int                    // neighbours whose vector of the exchange has not come
	staged   bool                   // the exchange is a reduction: agents wait for some before they send to others
	parent   int                    // in a reduction, the position of the neighbour above; -1: there is none
	due      bool                   // whether that one has what it waits for
	rollback *network.RollbackError // what has this agent go back; nil if nothing does
}

// A finish is how far an agent is in the end of the run. It begins anew where the agent goes back,
// or on in another epoch.
type finish struct {
	m      *Mixer
	drains bool // Drain has begun
	// all members have finished, and this agent's seat in the council lets nobody in any more, as
	// is on its disk
	sealed   bool
	recorded bool // Config.AllFinished has been called; true if there is none
	former   bool // a former process has called it, and this agent has not gone back since
}

const (
	// ticks of a chamber make a patience.
	ticks = 4
	// settled is for how many times the patience connections that were lost together may take to
	// come back.
	settled = 15
	// inboxSize bounds the letters that wait for a chamber. Those that come while it is full are
	// lost, as any may be.
	inboxSize = 64
	// maxQueued bounds those that wait for a stream.
	maxQueued = 256
	// mostMessages is how many messages of an agent are passed on in a patience.
	mostMessages = 100
)

// A chamber is where an agent's seat in the council is: it brings the seat its messages and the
// time, and passes on the messages of all agents from neighbour to neighbour. Its goroutine writes
// to the disk, and holds no lock meanwhile.
type chamber struct {
	m     *Mixer       // the agent's mixer
	seat  *paxos.Node  // of the goroutine
	seen  recent       // messages, by their numbers; of the goroutine
	come  recent       // messages of each neighbour; of the goroutine
	texts recent       // texts of messages, with the messages' numbers; of the goroutine
	said  guard.Budget // how many messages each agent may send in a time
	inbox chan letter  // messages of the council, in the order in which they came

	// Guarded by the mixer's lock.
	log     membership.Log // decided
	held    bool           // the agent stands still
	company int            // ticks for which any neighbour has been connected
	waiting string         // why there is no change although there should be; "" if there need be none
	unheard int            // heartbeats since a member of the newest epoch was heard, through whomever
}

// A letter is what a neighbour sent to the council, or that it knows other changes than this agent:
// those up to an epoch.
type letter struct {
	neighbour int
	data      []byte // nil: it knows others
	epoch     int
}

// handovers are what this agent gives to others and takes over itself, guarded by the mixer's lock.
type handovers struct {
	m        *Mixer
	handover handover
	takeover *takeover // nil if it takes over nothing
}

// A handover is what this agent gives to one that comes in, for the newest epoch that was asked
// for, or what it takes over.
type handover struct {
	epoch   int
	data    []byte
	reading bool // it is being read
}

// A takeover is a handover that this agent asks for.
type takeover struct {
	giver    int
	epoch    int
	data     []byte
	complete bool
	err      error
	asked    time.Time // when it was asked for the next piece
}

// links are the connections of an agent: its server, and the streams that it opens itself. They do
// the input and output of the package, and hold the mixer's lock for single looks at its
// state alone.
type links struct {
	m      *Mixer         // the agent's mixer
	server *rpc.Server    // of the neighbours that dial
	work   sync.WaitGroup // goroutines of connections

	// dialing ends when no new stream is wanted, streams when none may go on.
	dialing, streams  context.Context
	stopDial, stopAll context.CancelFunc // end dialing, and streams too

	// Guarded by the mixer's lock.
	refused  int64
	refusals map[string]time.Time // when a refusal was logged last, by host and reason
}
