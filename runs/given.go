package runs

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"dsbo"
)

// TakeResult copies the final result from the folder of a finished agent to f, the folder of an
// agent that came back after all others had left. The caller has locked f, whose content is
// replaced. The other folder must be of the same run and cluster file; its owner's word is taken
// for its content. Errors match dsbo.ErrConfig.
//
// Any agent's folder gives the same λ, ω and records. Times are unknown, since this agent has not
// computed.
func TakeResult(f Folder, own Membership, identity string, from Folder) error {
	p, err := readPart(from)
	if err != nil {
		return err
	}
	if p.Run != own.Run || p.Hash != own.Hash || p.Agents != own.Agents {
		return dsbo.ConfigErrorf(
			"%s must be of run %s with the cluster file %.12s; it is of run %s with %.12s", from, own.Run, own.Hash,
			p.Run, p.Hash)
	}
	if err := f.Open(Replace); err != nil {
		return err
	}
	if err := p.writeAs(f, identity); err != nil {
		return err
	}
	return f.WriteMembership(own)
}

// writeAs fills the folder of an agent that has not computed what it is given.
func (m *Merged) writeAs(f Folder, identity string) error {
	if own, err := f.ReadConfig(); err == nil {
		m.Config.Flags, m.Config.Graph, m.Config.Build = own.Flags, own.Graph, own.Build
	}
	m.Config.Identity = identity
	m.Summary.Times, m.Summary.Waited = Times{}, nil
	for k := range m.Records {
		m.Records[k].Times = Times{}
	}
	return m.Write(f)
}

// givenFiles are the files of which [PackResult] makes an archive: those that a finished run
// must have, and those that it may have.
func givenFiles() (names []string, required int) {
	names = []string{ConfigFile, MetricsFile, SummaryFile}
	for _, r := range resultFiles {
		names = append(names, r.name)
	}
	return names, 3
}

// PackResult returns an archive of the result of a finished run, for an agent that enters only at
// the end. It leaves out what concerns the packing agent alone: its flags, machine, times, and its
// own rows' part of the card.
func PackResult(f Folder) ([]byte, error) {
	var archive bytes.Buffer
	out := tar.NewWriter(&archive)
	names, required := givenFiles()
	for k, name := range names {
		data, err := f.ReadFile(name)
		if k >= required && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if own := withoutAgent[name]; err == nil && own != nil {
			data, err = own(data)
		}
		if err == nil {
			err = out.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))})
		}
		if err == nil {
			_, err = out.Write(data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := out.Close() // which writes the end of the archive
	return archive.Bytes(), err
}

// withoutAgent return files without what they have of the agent whose folder it is.
var withoutAgent = map[string]func(data []byte) ([]byte, error){
	ConfigFile: func(data []byte) ([]byte, error) {
		c, err := parseFile[Config](ConfigFile, data)
		if err != nil {
			return nil, err
		}
		c.Flags, c.Build = nil, Build{}
		return json.Marshal(c)
	},
	SummaryFile: func(data []byte) ([]byte, error) {
		s, err := parseFile[Summary](SummaryFile, data)
		if err != nil {
			return nil, err
		}
		return json.Marshal(s.Timeless())
	},
}

// UnpackResult fills a run folder, which is open, with what [PackResult] of another agent's
// returned. Errors match dsbo.ErrPeer where that is not what it must be.
func UnpackResult(f Folder, archive []byte, identity string) error {
	p, err := parseResult(f, archive)
	if err != nil {
		return dsbo.Errorf(dsbo.ErrPeer, "the result of another agent: %w", err)
	}
	return p.writeAs(f, identity)
}

// parseResult parses an archive of PackResult, from another agent. Each file must be one of
// givenFiles and occur once. The required files (configuration, records and summary, in this order)
// must be there and are parsed; the others are kept as bytes. The run must be finished.
func parseResult(f Folder, archive []byte) (*Merged, error) {
	names, required := givenFiles()
	parts := make([][]byte, len(names))
	in := tar.NewReader(bytes.NewReader(archive))
	for {
		head, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		k := slices.Index(names, head.Name)
		if k < 0 {
			return nil, fmt.Errorf("%q is no file of a result", head.Name)
		}
		if parts[k] != nil {
			return nil, fmt.Errorf("%s must be there once", head.Name)
		}
		if parts[k], err = io.ReadAll(in); err != nil {
			return nil, err
		}
	}
	if k := slices.IndexFunc(parts[:required], func(part []byte) bool { return part == nil }); k >= 0 {
		return nil, fmt.Errorf("%s must be there", names[k])
	}
	p := &Merged{folder: f}
	copy(p.files[:], parts[required:])
	var err error
	if p.Config, err = parseFile[Config](ConfigFile, parts[0]); err == nil {
		p.Summary, err = parseFile[Summary](SummaryFile, parts[2])
	}
	if err == nil {
		p.Records, _, err = ReadRecords(MetricsFile, bytes.NewReader(parts[1]))
	}
	if err == nil && p.Summary.State != Finished {
		err = fmt.Errorf("the run must be finished; it is %s", p.Summary.State)
	}
	return p, err
}
