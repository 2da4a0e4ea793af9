package secret

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func testRing(t testing.TB) *Ring {
	t.Helper()
	r, err := NewRing(newKey())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLoadOrCreateKeyKeepsTheKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "secret.key")
	first, err := LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("mode is %o, want 600", mode)
	}
	again, err := LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := again.Open("p", first.Seal("p", []byte("hello")))
	if err != nil || string(plain) != "hello" {
		t.Errorf("the second start opens %q, %v", plain, err)
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".key-*"))
	if len(left) != 0 {
		t.Errorf("temporary files are left: %q", left)
	}
}

func TestLoadOrCreateKeyTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	rings := make([]*Ring, 8)
	var wg sync.WaitGroup
	for i := range rings {
		wg.Go(func() {
			r, err := LoadOrCreateKey(path)
			if err != nil {
				t.Error(err)
			}
			rings[i] = r
		})
	}
	wg.Wait()
	for _, r := range rings[1:] {
		if r == nil || r.keys[0] != rings[0].keys[0] {
			t.Fatal("two processes that start together have different keys")
		}
	}
}

func TestDamagedKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty": "", "short": "abcd\n", "words": "this is no key at all, but it is here\n",
		"long": string(bytes.Repeat([]byte("ab"), 33)),
	} {
		path := filepath.Join(t.TempDir(), "secret.key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadOrCreateKey(path); !errors.Is(err, ErrKeyFile) {
			t.Errorf("%s: got %v, want ErrKeyFile", name, err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func TestRawKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	k := newKey()
	if err := os.WriteFile(path, k[:], 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := LoadKey(path)
	if err != nil || r.keys[0].raw != k {
		t.Errorf("a raw key of 32 bytes is not read: %v", err)
	}
}

func TestRotateKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	old, err := LoadOrCreateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed := old.Seal("p", []byte("hello"))
	token, _ := NewTokens(old).New(Personal, 7)
	mac := old.MAC("m", []byte("x"))
	if old.Stale(sealed) {
		t.Error("a value sealed just now is stale")
	}
	if _, err := RotateKey(path); err != nil {
		t.Fatal(err)
	}
	ring, err := LoadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := ring.Open("p", sealed); err != nil || string(plain) != "hello" {
		t.Errorf("the rotated ring opens %q, %v", plain, err)
	}
	if !ring.Stale(sealed) || ring.Stale(ring.Seal("p", nil)) {
		t.Error("Stale does not tell the old key from the new one")
	}
	if _, owner, _, err := NewTokens(ring).Parse(token); err != nil || owner != 7 {
		t.Errorf("a token from before the rotation: owner %d, %v", owner, err)
	}
	if !ring.VerifyMAC("m", []byte("x"), mac) {
		t.Error("a MAC from before the rotation is refused")
	}
	if _, err := old.Open("p", ring.Seal("p", nil)); !errors.Is(err, ErrOpen) {
		t.Errorf("the old ring opens the new key's value: %v", err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode after rotation is %o", info.Mode().Perm())
	}
}

func TestNewRingRefuses(t *testing.T) {
	t.Parallel()
	if _, err := NewRing(); err == nil {
		t.Error("an empty ring was made")
	}
	k := newKey()
	if _, err := NewRing(k, k); err == nil {
		t.Error("a ring with a key twice was made")
	}
}
