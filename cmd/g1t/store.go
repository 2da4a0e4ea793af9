package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zalando/go-keyring"
)

// service is under what the system's keyring keeps tokens.
const service = "g1t"

// store is what g1t remembers: the servers signed in to, and their tokens in
// the system's keyring or, where there is none, in the same file.
type store struct{ dir string }

// settings is the file. It is readable by its owner only.
type settings struct {
	// Default is the server signed in to last.
	Default string           `json:"default,omitempty"`
	Hosts   map[string]login `json:"hosts"`
}

type login struct {
	User string `json:"user"`
	// Token is "" when the keyring holds it.
	Token string `json:"token,omitempty"`
}

func openStore() *store {
	dir := os.Getenv("G1T_CONFIG_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			base = "."
		}
		dir = filepath.Join(base, "g1t")
	}
	return &store{dir}
}

func (s *store) file() string { return filepath.Join(s.dir, "hosts.json") }

func (s *store) load() (*settings, error) {
	out := &settings{Hosts: map[string]login{}}
	b, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, out); err != nil {
		return nil, fmt.Errorf("%s: %w", s.file(), err)
	}
	if out.Hosts == nil {
		out.Hosts = map[string]login{}
	}
	return out, nil
}

// save replaces the file whole, so that a crash leaves the old one.
func (s *store) save(v *settings) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(s.dir, "hosts-*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(b, '\n'))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), s.file())
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}

// keep remembers a token and says where: "keyring" or the file's name. where
// is "auto", "keyring" or "file".
func (s *store) keep(host, user, token, where string) (string, error) {
	v, err := s.load()
	if err != nil {
		return "", err
	}
	entry, place := login{User: user}, "the system's keyring"
	if where != "file" {
		err = keyring.Set(service, host, token)
		if err != nil && where == "keyring" {
			return "", fmt.Errorf("the keyring did not take the token: %w", err)
		}
	}
	if where == "file" || err != nil {
		entry.Token, place = token, s.file()
	}
	v.Hosts[host], v.Default = entry, host
	return place, s.save(v)
}

// token is what was kept for a server.
func (s *store) token(host string) (login, error) {
	v, err := s.load()
	if err != nil {
		return login{}, err
	}
	entry, ok := v.Hosts[host]
	if !ok {
		return login{}, errNoToken
	}
	if entry.Token == "" {
		entry.Token, err = keyring.Get(service, host)
		if err != nil {
			return login{}, fmt.Errorf("%w: the keyring does not give the token of %s: %w", errNoToken, host, err)
		}
	}
	return entry, nil
}

// forget forgets a server.
func (s *store) forget(host string) error {
	v, err := s.load()
	if err != nil {
		return err
	}
	entry, ok := v.Hosts[host]
	if !ok {
		return fmt.Errorf("you are not signed in to %s", host)
	}
	if entry.Token == "" {
		if err := keyring.Delete(service, host); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("the keyring keeps the token: %w", err)
		}
	}
	delete(v.Hosts, host)
	if v.Default == host {
		v.Default = ""
		for other := range v.Hosts {
			if v.Default == "" || other < v.Default {
				v.Default = other
			}
		}
	}
	return s.save(v)
}

// cleanHost is a server's address as g1t keeps it: with a scheme, without a
// slash at the end.
func cleanHost(s string) (string, error) {
	s = strings.TrimRight(strings.TrimSpace(s), "/")
	if s == "" {
		return "", nil
	}
	if !strings.Contains(s, "://") {
		name, _, _ := strings.Cut(s, ":")
		scheme := "https://"
		if name == "localhost" || strings.HasPrefix(name, "127.") {
			scheme = "http://"
		}
		s = scheme + s
	}
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
		return "", usagef("%q is no address such as https://git.example.com", s)
	}
	return strings.ToLower(s), nil
}
