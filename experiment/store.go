package experiment

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"dsbo/internal/files"
	"dsbo/network/register"
	"dsbo/runs"
	"dsbo/train"
)

// An agentFolder is the run folder of an agent as a [register.Store].
type agentFolder struct {
	runs.Folder
	agent  int
	method train.Config // of handovers
}

// Register implements [register.Store], as do the methods below. An unreadable register is an
// error, since the agent's promises are then unknown.
func (f *agentFolder) Register() (s register.State, err error) {
	data, err := files.ReadFile(f.Path(runs.RegisterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return register.State{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Path(runs.RegisterFile), err)
	}
	return s, err
}

// SaveRegister keeps the changes of members in membership.jsonl too, for who repeats the run. A
// file that has them already is not written again, and a run without changes has none.
func (f *agentFolder) SaveRegister(s register.State) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := files.WriteBytes(f.Path(runs.RegisterFile), append(data, '\n')); err != nil {
		return err
	}
	known, err := f.ReadFile(runs.ChangesFile)
	if lines := s.Log.Bytes(); err == nil && !slices.Equal(lines, known) || err != nil && len(lines) > 0 {
		return f.WriteChanges(s.Log)
	}
	return nil
}

// Points implements [register.Store]. It returns the agent's undamaged checkpoints and, if the
// agent has finished, the result, whose digest covers λ and the model.
func (f *agentFolder) Points() (all []register.Point, err error) {
	points, _, err := train.Points(f.Folder, []int{f.agent})
	for _, p := range points {
		all = append(all, register.Point{Epoch: p.Session, Iteration: p.Iteration, Digest: p.Digest})
	}
	state, e := f.State()
	if err != nil || e != nil || state != runs.Finished {
		return all, errors.Join(err, e)
	}
	result := register.Point{Iteration: register.Result}
	known := false
	if result.Epoch, known, err = f.finalEpoch(); !known || err != nil {
		return all, err
	}
	result.Digest, err = f.digest(runs.LambdaFile, runs.OmegaFile)
	return append(all, result), err
}

// finalEpoch returns the session that began the epoch of the result. known is false if the changes
// of members on disk do not reach that epoch: the agent received the result in a session that ended
// before it had written them, and will receive it again.
func (f *agentFolder) finalEpoch() (session uint64, known bool, err error) {
	s, err := f.ReadSummary()
	if err != nil || s.Epoch == 0 {
		return 0, err == nil, err
	}
	log, err := f.ReadChanges()
	if err != nil || s.Epoch > len(log) {
		return 0, false, err
	}
	return log[s.Epoch-1].Session, true, nil
}

// digest returns a digest of the contents of some files.
func (f *agentFolder) digest(names ...string) (string, error) {
	sum := sha256.New()
	for _, name := range names {
		data, err := f.ReadFile(name)
		if err != nil {
			return "", err
		}
		_ = binary.Write(sum, binary.LittleEndian, uint64(len(data))) // which never fails
		sum.Write(data)
	}
	return fmt.Sprintf("%.32x", sum.Sum(nil)), nil
}

// Kept implements [register.Store]. It returns the digests of the files of common results, by name.
// A missing file is no error: a task may have no setup, and kept files are removed after the run.
func (f *agentFolder) Kept() (map[string]string, error) {
	kept := map[string]string{}
	paths, err := f.PathsWithPrefix(runs.KeptPrefix)
	for _, path := range append(paths, runs.SetupFile) {
		name := filepath.Base(path)
		digest, e := f.digest(name)
		if e == nil {
			kept[name] = digest
		} else if !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return kept, err
}

// Handover returns the result; or the setup and the configuration, each after its length, and the
// handover of a checkpoint, this agent's own or a received one.
func (f *agentFolder) Handover(at register.Point) ([]byte, error) {
	if at.Iteration == register.Result {
		return runs.PackResult(f.Folder)
	}
	state, err := f.method.Handover(f.agent, train.Point{Iteration: at.Iteration})
	if err != nil {
		return nil, err
	}
	setup, err := f.ReadFile(runs.SetupFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	config, err := f.ReadFile(runs.ConfigFile)
	return append(appendPart(appendPart(nil, setup), config), state...), err
}

// appendPart appends a part of a handover, after its length.
func appendPart(data, part []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(data, uint64(len(part))), part...)
}

// cutPart returns the first part of a handover, which another agent has sent, and the rest; false
// if it is truncated.
func cutPart(data []byte) (part, rest []byte, ok bool) {
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data)-8) {
		return nil, nil, false
	}
	n := binary.LittleEndian.Uint64(data)
	return data[8:][:n], data[8:][n:], true
}
