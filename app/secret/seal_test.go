package secret

import (
	"bytes"
	"errors"
	"testing"
)

func TestSealRoundTrip(t *testing.T) {
	t.Parallel()
	r := testRing(t)
	for _, plain := range [][]byte{nil, {0}, []byte("hunter2"), bytes.Repeat([]byte("x"), 100_000)} {
		sealed := r.Seal("a", plain)
		if len(sealed) != len(plain)+Overhead {
			t.Errorf("sealed %d bytes to %d", len(plain), len(sealed))
		}
		got, err := r.Open("a", sealed)
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("opened %d bytes, %v", len(got), err)
		}
	}
	if bytes.Equal(r.Seal("a", []byte("same")), r.Seal("a", []byte("same"))) {
		t.Error("the same text sealed twice gives the same bytes")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	r := testRing(t)
	sealed := r.Seal("webhook 1", []byte("hunter2"))
	if _, err := r.Open("webhook 2", sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("opened for another purpose: %v", err)
	}
	if _, err := testRing(t).Open("webhook 1", sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("opened with another key: %v", err)
	}
	for n := range sealed {
		if _, err := r.Open("webhook 1", sealed[:n]); !errors.Is(err, ErrOpen) {
			t.Fatalf("opened the first %d bytes: %v", n, err)
		}
		changed := bytes.Clone(sealed)
		changed[n] ^= 1
		if _, err := r.Open("webhook 1", changed); !errors.Is(err, ErrOpen) {
			t.Fatalf("opened with byte %d changed: %v", n, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	r, _ := NewRing([KeySize]byte{1})
	f.Add("p", r.Seal("p", []byte("x")))
	f.Add("", []byte{})
	f.Add("p", bytes.Repeat([]byte{1}, Overhead))
	f.Fuzz(func(t *testing.T, purpose string, data []byte) {
		plain, err := r.Open(purpose, data)
		if err != nil && (plain != nil || !errors.Is(err, ErrOpen)) {
			t.Errorf("open: %q, %v", plain, err)
		}
	})
}

func BenchmarkSealOpen(b *testing.B) {
	r := testRing(b)
	plain := bytes.Repeat([]byte("x"), 40)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Open("p", r.Seal("p", plain)); err != nil {
			b.Fatal(err)
		}
	}
}
