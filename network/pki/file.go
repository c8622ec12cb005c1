package pki

import (
	"crypto"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dsbo"
	"dsbo/internal/files"
)

func certificateFile(folder, name string) string { return filepath.Join(folder, name+".pem") }

func keyFile(folder, name string) string { return filepath.Join(folder, name+"-key.pem") }

// Types of PEM blocks.
const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

func certificatesPEM(all ...*x509.Certificate) (text []byte) {
	for _, c := range all {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: c.Raw})...)
	}
	return text
}

// savePair writes <name>-key.pem and <name>.pem, which must not exist.
func savePair(folder, name string, key crypto.PrivateKey, certificates ...*x509.Certificate) error {
	if err := saveKey(folder, name, key); err != nil {
		return err
	}
	return savePEM(certificateFile(folder, name), certificatesPEM(certificates...))
}

func saveKey(folder, name string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return savePEM(keyFile(folder, name), pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}))
}

// savePEM writes a file for its owner's eyes alone, which must not exist: no key is ever
// overwritten.
func savePEM(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return dsbo.ConfigErrorf("%s exists: remove it or name another folder", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// ReplaceCertificate makes a certificate the content of a file, at once: a reader finds the former
// one or this one, complete.
func ReplaceCertificate(path string, cert *x509.Certificate) error {
	return files.WriteSecret(path, certificatesPEM(cert))
}

// loadPair reads a certificate, with the intermediate ones that may follow it, and its key.
func loadPair(folder, name string) (tls.Certificate, error) {
	path, keyPath := certificateFile(folder, name), keyFile(folder, name)
	if err := files.CheckSecret(keyPath); err != nil {
		return tls.Certificate{}, err
	}
	certificate, err := files.ReadFile(path)
	var key []byte
	if err == nil {
		key, err = files.ReadFile(keyPath)
	}
	if err != nil {
		return tls.Certificate{}, dsbo.ConfigErrorf("%w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return pair, dsbo.ConfigErrorf("%s and %s must be a certificate and its key: %w", path, keyPath, err)
	}
	return pair, nil
}

// load reads a file by a function. Errors match dsbo.ErrConfig and name the file.
func load[T any](path string, parse func(text []byte) (T, error)) (v T, err error) {
	text, err := files.ReadFile(path)
	if err != nil {
		return v, dsbo.ConfigErrorf("%w", err)
	}
	if v, err = parse(text); err != nil {
		return v, dsbo.ConfigErrorf("%s: %w", path, err)
	}
	return v, nil
}

// loadAuthorities reads a ca.pem, each certificate of which must be an authority's.
func loadAuthorities(path string) ([]*x509.Certificate, error) {
	return load(path, func(text []byte) ([]*x509.Certificate, error) {
		all, err := parseCertificates(text)
		for _, c := range all {
			if !c.IsCA {
				return nil, fmt.Errorf("it must hold certificates of authorities alone; it has that of %q",
					c.Subject.CommonName)
			}
		}
		return all, err
	})
}

// LoadCertificate reads the first certificate of a PEM file.
func LoadCertificate(path string) (*x509.Certificate, error) {
	all, err := load(path, parseCertificates)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// parseCertificates reads PEM blocks, one at least, each of which must be a certificate. Text
// between them is left out.
func parseCertificates(text []byte) (all []*x509.Certificate, err error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != certificateBlock {
			return nil, fmt.Errorf("every PEM block must be a %s; there is a %s", certificateBlock, block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, cert)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there must be a PEM block, a %s; there is none", certificateBlock)
	}
	return all, nil
}

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
