package experiment

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"dsbo"
	"dsbo/internal/disk"
	"dsbo/network"
	"dsbo/network/membership"
	"dsbo/network/membership/paxos"
	"dsbo/runs"
	"dsbo/train"
)

// voteFile is the file of a run folder that has the agent's last vote in the council.
const voteFile = "vote.json"

// A Seat is what an agent's folder has of the council, for the exchange of a run whose members
// may change.
type Seat struct {
	Log  membership.Log // the changes so far
	Vote paxos.Vote     // the last one
	paxos.Records
	// Handover returns what an agent that comes into an epoch takes over from this one.
	Handover func(epoch int) ([]byte, error)
}

// A savedVote is what the file has. Identity stands for the run and the agent.
type savedVote struct {
	Identity string          `json:"identity"`
	Vote     json.RawMessage `json:"vote"` // of paxos.MarshalVote
}

// seatFiles are the files of a seat.
type seatFiles struct {
	folder   runs.Folder
	identity string
	agent    int
	agents   int // of the roster at the start
	method   train.Config
	held     *runs.HeldCheckpoints // the checkpoints that the vote names, and that with which the epoch begins

	mu  sync.Mutex
	log membership.Log
}

// newSeat reads what the folder has.
func (l *oneAgent) newSeat(r *runner) (*Seat, error) {
	f := &seatFiles{folder: r.folder, identity: l.identity, agent: l.agent, agents: r.graph.W.N(), log: r.changes,
		held:   new(runs.HeldCheckpoints),
		method: train.Config{Dir: string(r.folder), K: r.Settings.Iterations}}
	var err error
	f.method.Method = r.params.method // whose parts have their names whatever the steps are
	s := &Seat{Log: r.changes, Records: f, Handover: f.handover}
	if s.Vote, err = f.readVote(); err != nil {
		return nil, err
	}
	s.Vote.Sealed = s.Vote.Sealed && r.finished // else it has gone back since
	r.held = f.held
	return s, f.holdCheckpoints(s.Vote)
}

// readVote returns the vote that the folder has, the zero one if there is none of this run.
func (f *seatFiles) readVote() (paxos.Vote, error) {
	data, err := disk.ReadFile(f.folder.Path(voteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return paxos.Vote{}, nil
	}
	var saved savedVote
	if err == nil {
		err = json.Unmarshal(data, &saved)
	}
	var vote paxos.Vote
	if err == nil && saved.Identity == f.identity {
		vote, err = paxos.ParseVote(saved.Vote)
	}
	if err != nil {
		return paxos.Vote{}, dsbo.ConfigErrorf("%s: %w", f.folder.Path(voteFile), err)
	}
	return vote, nil
}

// Points implements [paxos.Records].
func (f *seatFiles) Points() (all []paxos.Point, err error) {
	log := f.changes()
	err = f.held.Protect(func(before []int) ([]int, error) {
		points, _, err := train.Points(f.folder, []int{f.agent})
		for _, p := range points {
			if !p.EvaluationDue && canResumeFrom(log, p, f.agent, f.agents) {
				all, before = append(all, paxos.Point{Iteration: p.Iteration, Round: p.Round}),
					append(before, p.Iteration)
			}
		}
		return before, err
	})
	return all, err
}

// canResumeFrom reports whether an agent can go on from a checkpoint in the last epoch of a log, of
// a roster of n agents at the start: it is of that epoch or, if the agent has kept its state since,
// of where it begins.
func canResumeFrom(log membership.Log, p train.Point, agent, n int) bool {
	e := log.Last(n)
	return p.Epoch == e.Number || p.Iteration == e.Iteration && !p.EvaluationDue &&
		log.StateKept(p.Epoch, e.Number, agent, n)
}

// SaveVote implements [paxos.Records].
func (f *seatFiles) SaveVote(v paxos.Vote) error {
	data, err := json.Marshal(savedVote{f.identity, paxos.MarshalVote(v)})
	if err != nil {
		return err
	}
	if err := disk.WriteBytes(f.folder.Path(voteFile), append(data, '\n')); err != nil {
		return err
	}
	return f.holdCheckpoints(v)
}

// holdCheckpoints holds the checkpoints that a vote names, and that with which the epoch begins:
// agents may go back to it, and others may take it over.
func (f *seatFiles) holdCheckpoints(v paxos.Vote) error {
	e := f.changes().Last(f.agents)
	return f.held.Protect(func([]int) ([]int, error) {
		held := []int{e.Iteration}
		if v.Epoch == e.Number+1 {
			for _, p := range v.Points {
				held = append(held, p.Iteration)
			}
		}
		return held, nil
	})
}

// changes returns the log.
func (f *seatFiles) changes() membership.Log {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log
}

// SaveChange implements [paxos.Records].
func (f *seatFiles) SaveChange(c membership.Change) error {
	log := append(slices.Clip(f.log), c) // which nobody else changes
	if err := f.folder.WriteChanges(log); err != nil {
		return err
	}
	f.mu.Lock()
	f.log = log
	f.mu.Unlock()
	return f.holdCheckpoints(paxos.Vote{})
}

// handover returns the folder's setup and its configuration, each with its length before it, and
// the handover of the checkpoint with which an epoch begins, this agent's own or one that it has
// taken over. The state of an epoch after it, which began with the same iteration, is not given:
// who asks has yet to hear of that epoch.
func (f *seatFiles) handover(epoch int) ([]byte, error) {
	log := f.changes()
	e, err := log.At(epoch, f.agents)
	if err != nil {
		return nil, err
	}
	points, _, err := train.Points(f.folder, []int{f.agent})
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		if p.Iteration == e.Iteration && canResumeFrom(log[:epoch], p, f.agent, f.agents) {
			state, err := f.method.Handover(f.agent, p)
			if err != nil {
				return nil, err
			}
			setup, err := disk.ReadFile(f.folder.Path(runs.SetupFile))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			config, err := f.folder.ReadFile(runs.ConfigFile)
			if err != nil {
				return nil, err
			}
			return append(appendPart(appendPart(nil, setup), config), state...), nil
		}
	}
	return nil,
		fmt.Errorf("agent %d has no checkpoint of iteration %d, with which epoch %d begins, of that epoch or before",
			f.agent, e.Iteration, epoch)
}

// appendPart appends a part of what is handed over, with its length before it.
func appendPart(data, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(data, uint64(len(part))), part...)
}

// cutPart returns the first part of what is handed over, and what follows it; false if it is
// cut short.
func cutPart(data []byte) (part, rest []byte, ok bool) {
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint64(data)
	return data[8:][:n], data[8:][n:], true
}

// enterEpoch makes the newest epoch the present one, and chooses the checkpoint with which this
// agent begins it. An agent that is left out waits until it is a member again, and one that has
// lost its checkpoint until it begins another epoch with a neighbour's.
func (l *oneAgent) enterEpoch(ctx context.Context, r *runner) error {
	m := l.mixer.(network.Reformer)
	for {
		r.changes = m.Changes()
		e := r.changes.Last(l.agents)
		lost, err := l.tryEnterEpoch(ctx, r, m, e)
		if errors.As(err, new(*network.ChangedError)) {
			continue
		}
		_, member := e.Position(l.agent)
		switch {
		case err != nil || member && !lost:
			return err
		case lost:
			r.view.Log(
				"no checkpoint of iteration %d, with which epoch %d begins; asking to begin with a neighbour's state",
				e.Iteration, e.Number)
		case slices.Contains(r.changes.LeftAsSlow(), l.agent):
			r.view.Log("left out as slow, before epoch %d; asking to come in again", e.Number)
		default:
			r.view.Log("left out in epoch %d; asking to come in again", e.Number)
		}
		if err := m.AwaitChange(ctx, lost); !errors.As(err, new(*network.ChangedError)) {
			return err
		}
	}
}

// tryEnterEpoch makes an epoch the present one. The checkpoint is one of this agent if it keeps its
// state, and else what a member hands over. lost says that it should keep its state and has none.
func (l *oneAgent) tryEnterEpoch(ctx context.Context, r *runner, m network.Reformer,
	e membership.Epoch) (lost bool, err error) {
	r.point, r.finished = nil, false
	if _, member := e.Position(l.agent); !member {
		return false, m.Reform(e, e.Round)
	}
	points, err := r.checkpoints([]int{l.agent})
	if err != nil {
		return false, err
	}
	for k, p := range points {
		if p.Iteration == e.Iteration && canResumeFrom(r.changes, p, l.agent, l.agents) {
			r.point = &points[k]
			return false, m.Reform(e, e.Round)
		}
	}
	before, err := r.changes.At(e.Number-1, l.agents)
	if err != nil {
		return false, err
	}
	if e.StateKept(before, l.agent) {
		return true, m.Reform(e, e.Round)
	}
	giver, _, err := r.graph.W.Giver(before, e, l.agent)
	if err != nil {
		return false, err
	}
	data, err := m.TakeOver(ctx, giver, e.Number)
	if err != nil {
		return false, err
	}
	if err := l.receiveState(r, e.Number, giver, data); err != nil {
		return false, err
	}
	return false, m.Reform(e, e.Round)
}

// receiveState keeps in the run folder what a member has handed over, with which this agent comes
// into an epoch.
func (l *oneAgent) receiveState(r *runner, epoch, giver int, data []byte) error {
	setup, data, ok := cutPart(data)
	config, data, whole := cutPart(data)
	if !ok || !whole {
		return dsbo.Errorf(dsbo.ErrPeer, "what agent %d hands over is cut short", giver)
	}
	if there, err := r.folder.Has(runs.SetupFile); err != nil || !there && len(setup) > 0 {
		if err == nil {
			err = disk.WriteBytes(r.folder.Path(runs.SetupFile), setup)
		}
		if err != nil {
			return err
		}
	}
	if l.agent >= l.agents {
		if err := l.adoptConfig(r, config); err != nil {
			return fmt.Errorf("the configuration that agent %d hands over: %w", giver, err)
		}
		r.folderOpen = true
	}
	point, err := train.Config{Dir: string(r.folder)}.Receive(l.agent, epoch, data)
	if err != nil {
		return err
	}
	r.point = &point
	r.view.Note(Note{
		Text: fmt.Sprintf("coming in after iteration %d, with the state of agent %d", point.Iteration, giver),
		Name: "state taken over", Facts: []any{"iteration", point.Iteration, "from", giver},
	})
	return nil
}

// adoptConfig keeps the configuration of an agent that was there before as this agent's, which has
// its own flags.
func (l *oneAgent) adoptConfig(r *runner, theirs []byte) error {
	var config runs.Config
	if err := json.Unmarshal(theirs, &config); err != nil {
		return err
	}
	l.describe(&config)
	config.Flags, config.Build = r.Settings.Config.Flags, r.Settings.Config.Build
	return r.folder.WriteConfig(config)
}

// resetProblem has the runner make the problem of all agents again, after an end, whose problem is
// the members'.
func (r *poser) resetProblem() {
	if r.finalEpoch.Members != nil {
		r.loaded, r.problem, r.finalEpoch = loaded{}, problem{}, membership.Epoch{}
	}
}

// An Opener opens an agent's end of the exchange over a graph, of which exchange from is the next.
// The fingerprint stands for the agent's data: other data have another one. seat is for an exchange
// whose members may change, and then is a [network.Reformer]. No vector of the run has more than
// longest numbers; 0: that is known later, as the data are loaded when the agents have met.
type Opener func(ctx context.Context, g *network.Graph, from int, fingerprint []byte, seat *Seat,
	longest int) (network.Team, error)

// oneAgent is the layout that [OneAgent] returns.
type oneAgent struct {
	inProcess
	agent    int
	identity string
	open     Opener
	agents   int              // number of agents in the run; 0 before join
	mixer    network.Rewinder // nil before join
}
