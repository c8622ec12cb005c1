package command

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"dsbo"
	"dsbo/command/cluster"
	"dsbo/experiment"
	"dsbo/experiment/site"
	"dsbo/internal/cli"
	"dsbo/internal/disk"
	"dsbo/internal/wording"
	"dsbo/network/pki"
)

// kitFiles are the templates of a kit's files, and of sign.sh.
//
//go:embed kit
var kitFiles embed.FS

const kitIntro = `Makes an archive for each site, RUN-agent-<i>.tar.gz, with all that it needs but the program,
its data and its key:

  README.txt           what to do, and the connections of the agent for the firewall
  cluster.json         the cluster file
  certs/ca.pem         certificates of the authority
  certs/site.json      the site's policy, to be changed at the site
  agent-<i>.env        the verb and flags of the site alone
  install.sh           tries the settings, installs the agent under systemd, and starts it
  dsbo-agent@.service  the unit

Beside the archives it puts sign.sh, by which the authority signs the sites' requests with
openssl. A site makes its own key. Existing files are not overwritten.`

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

// kit is the verb kit: it makes an archive for each site of a run.
func (p *program) kit(_ context.Context, args []string, stdout, _ io.Writer) error {
	f := p.flags("kit", kitIntro, "-cluster FILE -ca DIR -out DIR", "-cluster cluster.json -ca authority -out kits")
	f.String("cluster", "", "cluster `file`")
	ca := f.String("ca", "", "`folder` with ca.pem")
	out := f.String("out", "", "`folder` for the archives")
	f.Group("Flags", "cluster", "ca", "out")
	c, err := p.parseCluster(f, args, stdout)
	if err != nil {
		return err
	}
	path := f.Lookup("cluster").Value.String()
	text, err := disk.ReadFile(path)
	if err != nil {
		return dsbo.ConfigErrorf("cluster file: %w", err)
	}
	trust, err := pki.LoadTrust(*ca)
	if err != nil {
		return dsbo.ConfigErrorf("-ca: %w", err)
	}
	authority, err := disk.ReadFile(filepath.Join(*ca, "ca.pem"))
	if err != nil {
		return dsbo.ConfigErrorf("-ca: %w", err)
	}
	t, err := p.findTask("-cluster", c.Task)
	if err != nil {
		return err
	}
	made := map[string][]byte{}
	for i := range c.Addresses {
		page, err := newKitPage(p.name, t, c, i)
		if err != nil {
			return err
		}
		files, err := page.files()
		if err != nil {
			return err
		}
		files = append(files, kitFile{"cluster.json", 0o644, text}, kitFile{"certs/ca.pem", 0o644, authority},
			kitFile{"certs/" + site.PolicyFile, 0o644, kitPolicy(c, trust)})
		name := fmt.Sprintf("%s-%s", c.Run, pki.Name(i))
		if made[name+".tar.gz"], err = archive(name, files); err != nil {
			return err
		}
		if made["sign.sh"], err = page.fill("sign.sh"); err != nil {
			return err
		}
	}
	if err := writeNew(*out, made); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s of %s, and sign.sh for the authority, in %s\n",
		wording.Count(len(c.Addresses), "kit"), c.Run, *out)
	return err
}

// newKitPage returns what the kit of an agent knows.
func newKitPage(program string, t experiment.Task, c *cluster.Cluster, agent int) (page kitPage, err error) {
	page = kitPage{Program: program, Version: wording.Build().Version, Run: c.Run, Task: c.Task, Verb: "agent",
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
	if err := cli.Table(&table, connectionRows(list)); err != nil {
		return page, err
	}
	for line := range strings.Lines(table.String()) {
		page.Connections += "       " + line
	}
	return page, nil
}

// kitPolicy returns the policy from which a site begins: what this run needs and no more, where
// that is known without the site's data.
func kitPolicy(c *cluster.Cluster, trust *pki.Trust) []byte {
	text, _ := json.MarshalIndent(map[string]any{ // which can be encoded
		"least_rows": 1, "least_sites": min(3, len(c.Addresses)), "tasks": []string{c.Task}, "unmasked": false,
		"own_results": true, "words": true, "classes": true, "models": true, "admit": trust.AuthorityKeys(),
	}, "", "  ")
	return append(text, '\n')
}

// A kitFile is a file of a kit.
type kitFile struct {
	name string
	mode int64
	data []byte
}

// files returns the files of a kit that are made of templates.
func (k kitPage) files() (list []kitFile, err error) {
	for _, f := range []kitFile{{name: "README.txt", mode: 0o644}, {name: "install.sh", mode: 0o755},
		{name: "agent.env", mode: 0o644}, {name: "dsbo-agent@.service", mode: 0o644}} {
		if f.data, err = k.fill(f.name); err != nil {
			return nil, err
		}
		if f.name == "agent.env" {
			f.name = pki.Name(k.Agent) + ".env"
		}
		list = append(list, f)
	}
	return list, nil
}

// fill executes a template.
func (k kitPage) fill(name string) ([]byte, error) {
	t, err := template.ParseFS(kitFiles, "kit/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, k)
	return b.Bytes(), err
}

// archive returns files in a folder as a compressed tar archive, the same bytes each time.
func archive(folder string, files []kitFile) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.data))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// writeNew writes files into a folder that has none of their names.
func writeNew(folder string, files map[string][]byte) error {
	for name := range files {
		path := filepath.Join(folder, name)
		if _, err := os.Lstat(path); err == nil {
			return dsbo.ConfigErrorf("%s exists: remove it or name another folder", path)
		}
	}
	if err := makeOut(folder); err != nil {
		return err
	}
	for name, data := range files {
		if err := disk.WriteBytes(filepath.Join(folder, name), data); err != nil {
			return err
		}
	}
	return nil
}
