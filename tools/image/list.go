package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

// readBuild reads what the Go tool wrote into a program.
func readBuild(path string) build {
	text := must(os.ReadFile(path))
	sum := sha256.Sum256(text)
	b := build{must(buildinfo.Read(bytes.NewReader(text))), sum[:], time.Unix(0, 0).UTC()}
	if at := b.setting("vcs.time"); at != "" {
		b.made = must(time.Parse(time.RFC3339, at))
	}
	if os := b.setting("GOOS"); os != "linux" {
		check(fmt.Errorf("%s must be a program for linux; it is for %s", path, os))
	}
	return b
}

// licences are what a module of the program may have, by words of its file. The first that is in
// the file counts; the words of a text of several licences come before their own.
var licences = []struct{ id, words string }{
	{"FTL OR GPL-2.0-or-later", "your choice of exactly one of the following two licenses: * The FreeType License"},
	{"CC-BY-4.0", "Licensed under the Creative Commons Attribution 4.0 International license"}, // svgo: attribution
	{"Apache-2.0", "Apache License, Version 2.0"},
	{"Apache-2.0", "Apache License Version 2.0"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from"},
	{"BSD-2-Clause", "Redistribution and use in source and binary forms, with or without modification, are permitted"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy of this software"},
}

// licenceOf returns the licence of a module by the file in its folder.
func licenceOf(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "LICEN[CS]E*"))
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // a folder
		}
		all := strings.Join(strings.Fields(string(text)), " ")
		for _, l := range licences {
			if strings.Contains(all, l.words) {
				return l.id, nil
			}
		}
	}
	return "", fmt.Errorf("%s must have a licence that tools/image/list.go knows (%v)", folder, err)
}

// An object is one of JSON.
type object = map[string]any

// newPart returns the SPDX package of a module with a licence and a SHA-256.
func newPart(id, path, version, licence string, sum []byte) object {
	const unknown = "NOASSERTION"
	p := object{"SPDXID": id, "name": path, "versionInfo": version, "downloadLocation": unknown,
		"filesAnalyzed": false, "licenseConcluded": unknown, "licenseDeclared": licence, "copyrightText": unknown,
		"externalRefs": []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
			"referenceLocator": "pkg:golang/" + path + "@" + version}}}
	if sum != nil {
		p["checksums"] = []object{{"algorithm": "SHA256", "checksumValue": hex.EncodeToString(sum)}}
	}
	return p
}

// listOf returns the SPDX document of a program: itself, Go's own packages and its modules, each
// with the SHA-256 of the list of its files as go.sum has it.
func listOf(b build) []byte {
	folders := foldersOf(b.Deps)
	const document, main = "SPDXRef-DOCUMENT", "SPDXRef-main"
	parts := []object{newPart(main, b.Main.Path, b.Main.Version, "Apache-2.0", b.sum)}
	relations := []object{{"spdxElementId": document, "relatedSpdxElement": main, "relationshipType": "DESCRIBES"}}
	add := func(id, path, version, licence string, sum []byte) {
		parts = append(parts, newPart(id, path, version, licence, sum))
		relations = append(relations, object{"spdxElementId": main, "relatedSpdxElement": id,
			"relationshipType": "DEPENDS_ON"})
	}
	add("SPDXRef-std", "stdlib", strings.TrimPrefix(b.GoVersion, "go"), "BSD-3-Clause", nil)
	for i, m := range b.Deps {
		licence := must(licenceOf(folders[m.Path+"@"+m.Version]))
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err != nil || len(sum) != sha256.Size || m.Replace != nil {
			check(fmt.Errorf("%s must be a module with a sum; its sum is %q", m.Path, m.Sum))
		}
		add(fmt.Sprint("SPDXRef-module-", i), m.Path, m.Version, licence, sum)
	}
	return must(json.MarshalIndent(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": program,
		"documentNamespace": "https://spdx.org/spdxdocs/dsbo-" + hex.EncodeToString(b.sum),
		"creationInfo":      object{"created": b.made.Format(time.RFC3339), "creators": []string{"Tool: dsbo-image"}},
		"packages":          parts, "relationships": relations,
	}, "", " "))
}

// foldersOf returns the folder of each module, by PATH@VERSION.
func foldersOf(modules []*debug.Module) map[string]string {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	c := exec.Command("go", args...)
	c.Stderr = os.Stderr
	folders := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(must(c.Output()))); d.More(); {
		var m struct{ Path, Version, Dir string }
		check(d.Decode(&m))
		folders[m.Path+"@"+m.Version] = m.Dir
	}
	return folders
}
