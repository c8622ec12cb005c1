package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dsbo"
	"dsbo/internal/files"
)

// SumsFile lists the SHA-256 of the folder's files, as sha256sum -c reads it. Checkpoints, which
// end with their own, and pages and figures, which can be made again, are not in it.
//
// A file is written when it is not in the list, and comes into the list when it is complete:
// whenever a process or a machine stops, all that is listed is whole.
const SumsFile = "SHA256SUMS"

// A sum is a line of SHA256SUMS.
type sum struct {
	name   string
	digest [sha256.Size]byte
}

// sumLocks serializes writers of this process to a folder's list. Writers to other folders proceed,
// since their disks may answer sooner. Waiting uses a condition and not a mutex, because virtual
// time advances then (testing/synctest).
var sumLocks = struct {
	over *sync.Cond // a list is written
	busy map[Folder]bool
}{sync.NewCond(new(sync.Mutex)), map[Folder]bool{}}

// lockSums locks the list of a folder against other writers of this process, until unlock is
// called.
func lockSums(f Folder) (unlock func()) {
	sumLocks.over.L.Lock()
	defer sumLocks.over.L.Unlock()
	for sumLocks.busy[f] {
		sumLocks.over.Wait()
	}
	sumLocks.busy[f] = true
	return func() {
		sumLocks.over.L.Lock()
		defer sumLocks.over.L.Unlock()
		delete(sumLocks.busy, f)
		sumLocks.over.Broadcast()
	}
}

// listedSums reads SHA256SUMS; a folder without one lists nothing.
func listedSums(f Folder) ([]sum, error) {
	data, err := files.ReadFile(f.Path(SumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := parseSums(data)
	if err != nil {
		return nil, dsbo.ConfigErrorf("%s: %w", f.Path(SumsFile), err)
	}
	return list, nil
}

// parseSums reads the text of SHA256SUMS.
func parseSums(text []byte) (list []sum, err error) {
	line := 0
	for row := range bytes.Lines(text) {
		line++
		digest, name, _ := strings.Cut(strings.TrimSuffix(string(row), "\n"), "  ")
		s := sum{name: name}
		_, err := hex.Decode(s.digest[:], []byte(digest[:min(len(digest), 2*sha256.Size)]))
		if err != nil || len(digest) != 2*sha256.Size || name != filepath.Base(name) || // which "" is not
			!bytes.HasSuffix(row, []byte("\n")) {
			return nil, fmt.Errorf("line %d must be a SHA-256, two spaces and the name of a file beside it", line)
		}
		list = append(list, s)
	}
	return list, nil
}

// setSum sets the digest of a file in the list; nil removes the file from the list. The list is
// replaced as a whole, sorted by name.
func setSum(f Folder, name string, digest *[sha256.Size]byte) error {
	defer lockSums(f)()
	list, err := listedSums(f)
	if err != nil {
		return err
	}
	there := slices.IndexFunc(list, func(s sum) bool { return s.name == name })
	switch {
	case digest == nil && there < 0:
		return nil
	case digest == nil:
		list = slices.Delete(list, there, there+1)
	case there < 0:
		list = append(list, sum{name, *digest})
	default:
		list[there].digest = *digest
	}
	slices.SortFunc(list, func(a, b sum) int { return cmp.Compare(a.name, b.name) })
	var text bytes.Buffer
	for _, s := range list {
		fmt.Fprintf(&text, "%x  %s\n", s.digest, s.name)
	}
	return files.WriteBytes(f.Path(SumsFile), text.Bytes())
}

// WriteFile makes data the content of a file of the folder, at once, and lists its digest.
func (f Folder) WriteFile(name string, data []byte) error {
	if err := setSum(f, name, nil); err != nil {
		return err
	}
	if err := files.WriteBytes(f.Path(name), data); err != nil {
		return err
	}
	digest := sha256.Sum256(data)
	return setSum(f, name, &digest)
}

// ReadFile returns the content of a file of the folder. If it differs from the listed digest, the
// error names the file and matches [dsbo.ErrConfig]. A run under way may change file and list
// between the two reads here; then the list has changed too, and the file is read again.
func (f Folder) ReadFile(name string) ([]byte, error) {
	for {
		before, err := listedSums(f)
		if err != nil {
			return nil, err
		}
		data, err := files.ReadFile(f.Path(name))
		if err != nil {
			return nil, err
		}
		digest := sha256.Sum256(data)
		if !slices.ContainsFunc(before, func(s sum) bool { return s.name == name && s.digest != digest }) {
			return data, nil
		}
		after, err := listedSums(f)
		if err != nil {
			return nil, err
		}
		if slices.Equal(before, after) {
			return nil, dsbo.ConfigErrorf(
				"%s is damaged or was changed: its SHA-256 is not the one that %s lists", f.Path(name), SumsFile)
		}
	}
}

// Verify checks that the folder's listed files are unchanged. Missing files are no error here, but
// one for whoever needs them. A run that has ended must have a list, unless it is of a format
// without. The error names the first changed file and matches [dsbo.ErrConfig].
func (f Folder) Verify() error {
	list, err := listedSums(f)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return CheckListed(f)
	}
	for _, s := range list {
		if _, err := f.ReadFile(s.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// CheckListed reports a run that has ended and must have a list of its files, and has none. The
// error matches [dsbo.ErrConfig].
func CheckListed(f Folder) error {
	ended, err := f.Has(SummaryFile)
	if err != nil || !ended {
		return err
	}
	if list, err := listedSums(f); err != nil || len(list) > 0 {
		return err
	}
	if c, err := readFile[struct{ Format int }](f, ConfigFile); err != nil || c.Format == 0 {
		return err
	}
	return dsbo.ConfigErrorf(
		"%s must list the files of the run, with which they can be checked; it is missing or empty", f.Path(SumsFile))
}
