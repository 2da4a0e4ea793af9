package signatures

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/pem"
	"errors"

	"golang.org/x/crypto/ssh"
)

// The format of signatures of "ssh-keygen -Y sign"
// (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig).
const (
	sshMagic     = "SSHSIG"
	gitNamespace = "git"
	pemType      = "SSH SIGNATURE"
)

// sshBlob is what the armour holds, after the magic.
type sshBlob struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// sshSigned is what the signature is made over, after the magic.
type sshSigned struct {
	Namespace string
	Reserved  string
	Hash      string
	Digest    []byte
}

// sshSignature is a parsed signature.
type sshSignature struct {
	key       ssh.PublicKey
	namespace string
	blob      sshBlob
	sig       *ssh.Signature
}

func parseSSH(armoured string) (*sshSignature, error) {
	if len(armoured) > maxSignature {
		return nil, errors.New("signature is too long")
	}
	block, _ := pem.Decode([]byte(armoured))
	if block == nil || block.Type != pemType || len(block.Bytes) < len(sshMagic) || string(block.Bytes[:len(sshMagic)]) != sshMagic {
		return nil, errors.New("no ssh signature")
	}
	s := &sshSignature{sig: new(ssh.Signature)}
	if err := ssh.Unmarshal(block.Bytes[len(sshMagic):], &s.blob); err != nil {
		return nil, err
	}
	if s.blob.Version != 1 {
		return nil, errors.New("ssh signature of another version")
	}
	var err error
	if s.key, err = ssh.ParsePublicKey(s.blob.PublicKey); err != nil {
		return nil, err
	}
	if err := ssh.Unmarshal(s.blob.Signature, s.sig); err != nil {
		return nil, err
	}
	// RSA with SHA-1 is not allowed in this format.
	if s.sig.Format == ssh.KeyAlgoRSA {
		return nil, errors.New("ssh signature with SHA-1")
	}
	s.namespace = s.blob.Namespace
	return s, nil
}

func (s *sshSignature) verify(message []byte) error {
	data, err := toSign(s.blob.Namespace, s.blob.Reserved, s.blob.Hash, message)
	if err != nil {
		return err
	}
	return s.key.Verify(data, s.sig)
}

func toSign(namespace, reserved, hash string, message []byte) ([]byte, error) {
	var digest []byte
	switch hash {
	case "sha256":
		sum := sha256.Sum256(message)
		digest = sum[:]
	case "sha512":
		sum := sha512.Sum512(message)
		digest = sum[:]
	default:
		return nil, errors.New("ssh signature with an unknown hash")
	}
	return append([]byte(sshMagic), ssh.Marshal(sshSigned{namespace, reserved, hash, digest})...), nil
}

// Sign signs the bytes of a commit or tag with the instance's key, in SSH's
// format.
func (s *Service) Sign(payload []byte) (string, error) {
	data, err := toSign(gitNamespace, "", "sha512", payload)
	if err != nil {
		return "", err
	}
	sig, err := s.signer.Sign(rand.Reader, data)
	if err != nil {
		return "", err
	}
	blob := append([]byte(sshMagic), ssh.Marshal(sshBlob{Version: 1, PublicKey: s.signer.PublicKey().Marshal(),
		Namespace: gitNamespace, Hash: "sha512", Signature: ssh.Marshal(sig)})...)
	return string(pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: blob})), nil
}
