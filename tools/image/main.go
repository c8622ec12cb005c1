// Command image makes of a folder that has the program dsbo, built for Linux, and the data of
// MNIST an OCI image, in the folder image, and the list of what is in the program, dsbo.spdx.json.
// The same program gives the same bytes.
package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	program  = "dsbo"
	listFile = "dsbo.spdx.json"
	user     = "65532:65532"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: image FOLDER")
		os.Exit(2)
	}
	fmt.Println(makeImage(os.Args[1]))
}

// check ends the program if there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// must returns a value, or ends the program if there is an error.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// A build is what the Go tool wrote into a program.
type build struct {
	*buildinfo.BuildInfo
	sum  []byte // SHA-256 of the program
	made time.Time
}

// setting returns a setting of the build, "" if there is none.
func (b build) setting(key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// makeImage writes the list and the image, and returns the image's digest.
func makeImage(folder string) v1.Hash {
	b := readBuild(filepath.Join(folder, program))
	check(os.WriteFile(filepath.Join(folder, listFile), listOf(b), 0o644))
	image := imageOf(b, layerOf(folder, b.made))
	path := filepath.Join(folder, "image")
	check(os.RemoveAll(path))
	name := map[string]string{"org.opencontainers.image.ref.name": "latest"}
	check(must(layout.Write(path, empty.Index)).AppendImage(image, layout.WithAnnotations(name),
		layout.WithPlatform(v1.Platform{OS: "linux", Architecture: b.setting("GOARCH")})))
	return must(image.Digest())
}

// layerOf returns a tar archive of the files of the image.
func layerOf(folder string, made time.Time) []byte {
	data := must(filepath.Glob(filepath.Join(folder, "mnist", "*.gz")))
	if len(data) != 4 {
		check(fmt.Errorf("%s must have the 4 files of MNIST; it has %d", folder, len(data)))
	}
	slices.Sort(data)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"data/", "data/mnist/"} {
		check(w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o755, ModTime: made}))
	}
	for _, path := range append(data, filepath.Join(folder, program), filepath.Join(folder, listFile)) {
		name, mode := filepath.Base(path), int64(0o644)
		switch filepath.Ext(name) {
		case ".gz":
			name = "data/mnist/" + name
		case "":
			mode = 0o755
		}
		text := must(os.ReadFile(path))
		check(w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: mode, ModTime: made}))
		must(w.Write(text))
	}
	check(w.Close())
	return b.Bytes()
}

// imageOf returns the image of one layer.
func imageOf(b build, text []byte) v1.Image {
	layer := must(tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}, tarball.WithMediaType(types.OCILayer)))
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image = must(mutate.Append(image, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: b.made}, CreatedBy: "deploy/build.sh"}}))
	file := must(image.ConfigFile()).DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", b.setting("GOARCH"), v1.Time{Time: b.made}
	file.Config = v1.Config{Entrypoint: []string{"/" + program}, User: user, Env: []string{"DSBO_DATA=/data/mnist"},
		ExposedPorts: map[string]struct{}{"7000/tcp": {}, "9100/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title":    program,
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.version":  b.Main.Version,
			"org.opencontainers.image.revision": b.setting("vcs.revision"),
			"org.opencontainers.image.created":  b.made.Format(time.RFC3339),
		}}
	return must(mutate.ConfigFile(image, file))
}
