package pki

import (
	"crypto/sha256"
	"time"

	"dsbo/internal/files"
)

// Files are an agent's certificate, its key and ca.pem, in a folder where they may be replaced
// while the agent runs.
type Files struct {
	Folder string
	Agent  int

	seen [sha256.Size]byte // of their content at the last call of Changed
}

// Changed reads the files and returns the agent's identity, as [Load] does, if they are not what
// they were at the call before, and nil if they are. The first call always returns the identity. An
// error about one content is returned once.
func (f *Files) Changed(now time.Time) (*Identity, error) {
	h := sha256.New()
	name := Name(f.Agent)
	for _, path := range []string{certificateFile(f.Folder, authorityName), certificateFile(f.Folder, name),
		keyFile(f.Folder, name)} {
		text, err := files.ReadFile(path)
		if err != nil {
			text = []byte(err.Error()) // a content like others: Load returns this error, once
		}
		digest := sha256.Sum256(text)
		h.Write(digest[:])
	}
	var digest [sha256.Size]byte
	if h.Sum(digest[:0]); digest == f.seen {
		return nil, nil
	}
	f.seen = digest
	return Load(f.Folder, f.Agent, now)
}
