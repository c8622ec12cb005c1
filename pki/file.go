package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"

	"dsbo"
)

const (
	certificateType = "CERTIFICATE"
	keyType         = "PRIVATE KEY"
)

// savePair writes the key first, so that a certificate on disk always has its key.
func savePair(certFile, keyFile string, cert *x509.Certificate, key any) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := savePEM(keyFile, &pem.Block{Type: keyType, Bytes: der}); err != nil {
		return err
	}
	return savePEM(certFile, &pem.Block{Type: certificateType, Bytes: cert.Raw})
}

func savePEM(path string, block *pem.Block) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return dsbo.Errorf(dsbo.ErrConfig, "%s exists: remove it or name another folder", path)
	}
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(f, block), f.Close())
}

func loadPEM(path, blockType string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%w", err)
	}
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must hold a PEM block of %s; it holds none", path, blockType)
	case block.Type != blockType:
		return nil, dsbo.Errorf(dsbo.ErrConfig,
			"%s must hold a PEM block of %s; it is one of %s", path, blockType, block.Type)
	}
	if second, _ := pem.Decode(rest); second != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must hold one PEM block; it holds more", path)
	}
	return block.Bytes, nil
}

func loadCertificate(path string) (*x509.Certificate, error) {
	der, err := loadPEM(path, certificateType)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", path, err)
	}
	return cert, nil
}

// loadKey reads the key that belongs to the certificate.
func loadKey(path string, cert *x509.Certificate) (*ecdsa.PrivateKey, error) {
	der, err := loadPEM(path, keyType)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, dsbo.Errorf(dsbo.ErrConfig, "%s must hold an ECDSA key; it holds a %T", path, parsed)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, dsbo.Errorf(dsbo.ErrConfig,
			"%s must be the key of the certificate of %q; it is another one", path, cert.Subject.CommonName)
	}
	return key, nil
}
