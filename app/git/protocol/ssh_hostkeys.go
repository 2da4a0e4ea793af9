package protocol

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// HostKeys loads the server's keys from dir, or makes them there at the first
// start: ssh_host_ed25519_key, and ssh_host_rsa_key for clients without
// Ed25519. Each has its public half beside it. Keys of OpenSSH's in PEM, put
// there under these names, work too.
func HostKeys(dir string) ([]ssh.Signer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("host keys: %w", err)
	}
	ed, err := hostKey(filepath.Join(dir, "ssh_host_ed25519_key"), func() (any, error) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	})
	if err != nil {
		return nil, err
	}
	old, err := hostKey(filepath.Join(dir, "ssh_host_rsa_key"), func() (any, error) {
		return rsa.GenerateKey(rand.Reader, 3072)
	})
	if err != nil {
		return nil, err
	}
	algorithms, ok := old.(ssh.AlgorithmSigner)
	if !ok {
		return nil, fmt.Errorf("host key %q cannot sign with SHA-2", "ssh_host_rsa_key")
	}
	// without ssh-rsa, which signs with SHA-1
	modern, err := ssh.NewSignerWithAlgorithms(algorithms, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
	if err != nil {
		return nil, fmt.Errorf("host key: %w", err)
	}
	return []ssh.Signer{ed, modern}, nil
}

func hostKey(path string, generate func() (any, error)) (ssh.Signer, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = makeHostKey(path, generate)
	}
	if err != nil {
		return nil, fmt.Errorf("host key %q: %w", path, err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, fmt.Errorf("host key %q: %w", path, err)
	}
	return signer, nil
}

// makeHostKey writes a new key. When another process was faster, its key is
// taken.
func makeHostKey(path string, generate func() (any, error)) ([]byte, error) {
	key, err := generate()
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(key, "gitfor")
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(block)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
		return os.ReadFile(path)
	} else if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return nil, err
	}
	return text, os.WriteFile(path+".pub", ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o644)
}
