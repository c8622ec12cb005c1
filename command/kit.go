package command

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"dsbo"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/files"
	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// kitFiles are the templates of a kit's files, and of sign.sh.
//
//go:embed kit
var kitFiles embed.FS

// A kitPage is what the templates of a site's kit know.
type kitPage struct {
	Program, Version    string // the program
	Run, Task, Flags    string // of the cluster file
	Agent, Agents, Last int    // its number, how many there are, and the last one's
	Verb                string // that runs the agent
	Local, Own          string // flags that are the site's alone: their names, and how they are given
	Connections         string // a table
	Outbound            bool   // whether the agent makes connections
}

// kit runs the verb kit, which makes an archive for each site of a run: the unchanged cluster file,
// the authority's certificate, a policy, and files from templates. A script sign.sh, for the
// authority, is beside them, the same for all sites. Files are written only after all are made, so
// that an error leaves none.
func (p *program) kit(f *call) error {
	var ca, out string
	f.Vars(map[string]any{"ca": &ca, "out": &out})
	c, err := p.parseCluster(f, "cluster", "out")
	if err != nil {
		return err
	}
	path := f.Lookup("cluster").Value.String()
	text, err := files.ReadFile(path)
	if err != nil {
		return dsbo.ConfigErrorf("cluster file: %w", err)
	}
	trust, err := pki.LoadTrust(ca)
	if err != nil {
		return dsbo.ConfigErrorf("-ca: %w", err)
	}
	authority, err := files.ReadFile(filepath.Join(ca, "ca.pem"))
	if err != nil {
		return dsbo.ConfigErrorf("-ca: %w", err)
	}
	t, err := p.findTask("-cluster", c.Task)
	if err != nil {
		return err
	}
	made := map[string][]byte{}
	for i := range c.Addresses {
		page := newKitPage(p.name, t, c, i)
		name := fmt.Sprintf("%s-%s", c.Run, pki.Name(i))
		made[name+".tar.gz"], err = archive(name, []kitFile{
			{"README.txt", page.fill("README.txt")},
			{"install.sh", page.fill("install.sh")},
			{pki.Name(i) + ".env", page.fill("agent.env")},
			{"dsbo-agent@.service", page.fill("dsbo-agent@.service")},
			{"cluster.json", text},
			{"certs/ca.pem", authority},
			{"certs/" + site.PolicyFile, kitPolicy(c, trust)},
		})
		if err != nil {
			return err
		}
		made["sign.sh"] = page.fill("sign.sh")
	}
	if err := writeNew(out, made); err != nil {
		return err
	}
	return cli.Printf(f.stdout, "%s of %s, and sign.sh for the authority, in %s\n",
		wording.Count(len(c.Addresses), "kit"), c.Run, out)
}

// newKitPage returns the values for the templates of an agent's kit. If the task has flags that
// each site sets itself, the kit runs the agent by the task's verb, which takes them; else by the
// verb agent.
func newKitPage(program string, t experiment.Task, c *site.Cluster, agent int) kitPage {
	page := kitPage{Program: program, Version: wording.Build().Version, Run: c.Run, Task: c.Task, Verb: "agent",
		Flags: wording.Plain(strings.Join(c.Flags, " ")),
		Agent: agent, Agents: len(c.Addresses), Last: len(c.Addresses) - 1}
	if len(t.LocalFlags) > 0 {
		page.Verb, page.Local = c.Task, "-"+strings.Join(t.LocalFlags, ", -")
		page.Own = " -" + strings.Join(t.LocalFlags, "=FILL_IN -") + "=FILL_IN"
	}
	var table bytes.Buffer
	list := connectionsOf(c, agent)
	for _, x := range list {
		page.Outbound = page.Outbound || !x.inbound
	}
	_ = cli.Table(&table, connectionRows(list)) // a buffer takes all
	for line := range strings.Lines(table.String()) {
		page.Connections += "       " + line
	}
	return page
}

// kitPolicy returns the policy from which a site begins: what this run needs and no more, where
// that is known without the site's data.
func kitPolicy(c *site.Cluster, trust *pki.Trust) []byte {
	text, _ := json.MarshalIndent(map[string]any{ // which can be encoded
		"least_rows": 1, "least_sites": min(3, len(c.Addresses)), "tasks": []string{c.Task}, "unmasked": false,
		"own_results": true, "words": true, "classes": true, "models": true, "admit": trust.AuthorityKeys(),
	}, "", "  ")
	return append(text, '\n')
}

// A kitFile is a file of a kit.
type kitFile struct {
	name string
	data []byte
}

// fill executes a template, all of which tests execute.
func (k kitPage) fill(name string) []byte {
	var b bytes.Buffer
	_ = template.Must(template.ParseFS(kitFiles, "kit/"+name)).Execute(&b, k)
	return b.Bytes()
}

// archive returns files in a folder as a compressed tar archive. It has no times, so that the same
// files give the same bytes. Names that end in .sh are executable.
func archive(folder string, files []kitFile) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: 0o644, Size: int64(len(f.data))}
		if filepath.Ext(f.name) == ".sh" {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		_, _ = w.Write(f.data) // Close returns the error
	}
	err := cmp.Or(w.Close(), z.Close())
	return b.Bytes(), err
}

// writeNew writes files into a folder. It fails before it writes any if one of the names exists,
// even as a dangling link (hence Lstat).
func writeNew(folder string, all map[string][]byte) error {
	for name := range all {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err == nil {
			return dsbo.ConfigErrorf("%s exists: remove it or name another folder", path)
		}
	}
	if err := makeOut(folder); err != nil {
		return err
	}
	for name, data := range all {
		if err := files.WriteBytes(filepath.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}
