package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"dsbo"
)

func certificateFile(folder, name string) string { return filepath.Join(folder, name+".pem") }

func keyFile(folder, name string) string { return filepath.Join(folder, name+"-key.pem") }

// savePair writes the key first, so that a certificate on disk always has its key.
func savePair(folder, name string, pair tls.Certificate) error {
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return err
	}
	if err := savePEM(keyFile(folder, name), "PRIVATE KEY", key); err != nil {
		return err
	}
	return savePEM(certificateFile(folder, name), "CERTIFICATE", pair.Certificate[0])
}

func savePEM(path, blockType string, der []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return dsbo.Errorf(dsbo.ErrConfig, "%s exists: remove it or name another folder", path)
	}
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(f, &pem.Block{Type: blockType, Bytes: der}), f.Close())
}

// loadPair reads a certificate and its key.
func loadPair(folder, name string) (tls.Certificate, error) {
	path, keyPath := certificateFile(folder, name), keyFile(folder, name)
	pair, err := tls.LoadX509KeyPair(path, keyPath)
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named {
		return pair, dsbo.Errorf(dsbo.ErrConfig, "%s and %s must be a certificate and its key: %w", path, keyPath, err)
	}
	if err != nil {
		return pair, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	return pair, nil
}

// loadCertificate reads a certificate without its key.
func loadCertificate(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	block, rest := pem.Decode(text)
	if next, _ := pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" || next != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must hold one PEM block, a CERTIFICATE", path)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", path, err)
	}
	return cert, nil
}
