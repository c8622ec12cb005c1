package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdxlib"
)

// TestImage: deploy/build.sh makes, twice, the same image, which can be read and in which nobody is
// root; its list can be read and has the modules of the program, each with its sum.
func TestImage(t *testing.T) {
	dir := t.TempDir()
	made := func() string {
		c := exec.Command("sh", "deploy/build.sh", dir)
		c.Dir, c.Stderr = "../..", os.Stderr
		return string(must(c.Output()))
	}
	digest := made()
	if again := made(); again != digest {
		t.Errorf("digests %s and %s", digest, again)
	}
	index := must(must(layout.FromPath(filepath.Join(dir, "image"))).ImageIndex())
	manifest := must(index.IndexManifest()).Manifests[0]
	image := must(index.Image(manifest.Digest))
	if err := validate.Image(image); err != nil || manifest.Digest.String()+"\n" != digest {
		t.Errorf("%v; digests %s and %s", err, manifest.Digest, digest)
	}
	config := must(image.ConfigFile())
	if c := config.Config; c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/dsbo"}) ||
		c.Labels["org.opencontainers.image.title"] != "dsbo" || config.OS != "linux" || config.Architecture == "" {
		t.Errorf("%+v", config)
	}

	b := readBuild(filepath.Join(dir, program))
	files := map[string][]byte{}
	for r := tar.NewReader(mutate.Extract(image)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		files[h.Name] = must(io.ReadAll(must(r, err)))
		if want := map[string]int64{"dsbo": 0o755}[h.Name]; want != 0 && h.Mode != want {
			t.Errorf("%s has the mode %o", h.Name, h.Mode)
		}
	}
	list := must(os.ReadFile(filepath.Join(dir, listFile)))
	if len(files) != 8 || !bytes.Equal(files[listFile], list) ||
		!bytes.Equal(files["dsbo"], must(os.ReadFile(filepath.Join(dir, program)))) {
		t.Errorf("%d files", len(files))
	}
	d := must(json.Read(bytes.NewReader(list)))
	if err := spdxlib.ValidateDocument(d); err != nil {
		t.Error(err)
	}
	var got, want []string
	for _, p := range d.Packages {
		got = append(got, p.PackageName+" "+p.PackageVersion)
		if p.PackageLicenseDeclared == "" || len(p.PackageChecksums) == 0 && p.PackageName != "stdlib" {
			t.Errorf("%+v", p)
		}
	}
	want = append(want, b.Main.Path+" "+b.Main.Version, "stdlib "+strings.TrimPrefix(b.GoVersion, "go"))
	for _, m := range b.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	if !slices.Equal(got, want) || len(d.Relationships) != len(want) {
		t.Errorf("%d packages %q; the program has %d, %q", len(got), got, len(want), want)
	}
}

// TestLicence: a licence that is not known is an error by its folder.
func TestLicence(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{"Redistribution and use in source\nand binary forms, with or without\n" +
		"modification, are permitted": "BSD-2-Clause", "All rights reserved.": ""} {
		if err := os.WriteFile(filepath.Join(dir, "LICENCE.md"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := licenceOf(dir)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := licenceOf(t.TempDir()); err == nil {
		t.Error("no file is no error")
	}
}
