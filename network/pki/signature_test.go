package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"testing"

	"dsbo/internal/testkit"
)

// signer returns a key, and a certificate of it.
func signer() (*ecdsa.PrivateKey, *x509.Certificate) {
	key := testkit.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	of := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der := testkit.Get(x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key))
	return key, testkit.Get(x509.ParseCertificate(der))
}

// TestCheckSignature: what is remembered is one signature of one text by one key; no other one is
// good for it.
func TestCheckSignature(t *testing.T) {
	key, by := signer()
	_, other := signer()
	text := []byte("vote 1")
	signature := testkit.Get(crypto.SignMessage(key, rand.Reader, text, crypto.SHA256))
	for range 2 { // before it is remembered, and after
		if err := checkSignature(by, []byte("vote 2"), signature); err == nil {
			t.Error("the signature of another text must not be good")
		}
		if checkSignature(other, text, signature) == nil || checkSignature(by, text, signature[1:]) == nil ||
			checkSignature(by, append(text, signature[0]), signature[1:]) == nil {
			t.Error("another key's signature, and a part of one, must not be good")
		}
		if err := checkSignature(by, text, signature); err != nil {
			t.Error(err)
		}
	}
	if known, _ := good.value(digestOf(by, text, signature)); !known {
		t.Error("a signature that was good must be remembered")
	}
	none := []byte("none that a key makes")
	good.note(digestOf(by, text, none), true)
	if err := checkSignature(by, text, none); err != nil {
		t.Errorf("a signature that this process says to be its own is checked: %v", err)
	}
}

// TestRememberedSignatures: what is remembered is bounded, and the newest is.
func TestRememberedSignatures(t *testing.T) {
	_, by := signer()
	for k := range 2 * mostRemembered {
		text := binary.LittleEndian.AppendUint64(nil, uint64(k))
		good.note(digestOf(by, text, nil), true)
		newest, _ := good.value(digestOf(by, text, nil))
		if size := len(good.of); size > mostRemembered || !newest {
			t.Fatalf("%d are remembered; there must be at most %d, with the newest", size, mostRemembered)
		}
	}
}
