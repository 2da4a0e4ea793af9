package odb

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// writeIndex writes a pack index of these ids; each lies at its position
// times ten, from 1<<31 on for every third.
func writeIndex(t *testing.T, ids []string) string {
	t.Helper()
	slices.Sort(ids)
	var b, offsets, large bytes.Buffer
	b.WriteString("\xfftOc\x00\x00\x00\x02")
	at := 0
	for first := range 256 {
		for at < len(ids) && int(ids[at][0]) <= first {
			at++
		}
		_ = binary.Write(&b, binary.BigEndian, uint32(at))
	}
	for _, id := range ids {
		b.WriteString(id)
	}
	b.Write(make([]byte, 4*len(ids)))
	for i := range ids {
		if i%3 == 0 {
			_ = binary.Write(&offsets, binary.BigEndian, uint32(1<<31|large.Len()/8))
			_ = binary.Write(&large, binary.BigEndian, uint64(1<<31+i*10))
		} else {
			_ = binary.Write(&offsets, binary.BigEndian, uint32(i*10))
		}
	}
	b.Write(offsets.Bytes())
	b.Write(large.Bytes())
	b.Write(make([]byte, 40))
	path := filepath.Join(t.TempDir(), "pack-x.idx")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIndexFindsAll(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 0))
	random := func() string {
		id := make([]byte, 20)
		for i := range id {
			id[i] = byte(rnd.Uint32())
		}
		return string(id)
	}
	for name, next := range map[string]func(i int) string{
		"even":      func(int) string { return random() },
		"one byte":  func(int) string { return "\x42" + random()[1:] },
		"clustered": func(i int) string { return "\x42\x01\x02" + string(rune('a'+i%3)) + random()[4:] },
		"counted": func(i int) string {
			id := make([]byte, 20)
			binary.BigEndian.PutUint32(id[16:], uint32(i))
			return string(id)
		},
	} {
		for _, count := range []int{0, 1, 2, 127, 128, 129, 5000, 60_000} {
			seen := map[string]bool{}
			var ids []string
			for i := range count {
				if id := next(i); !seen[id] {
					seen[id] = true
					ids = append(ids, id)
				}
			}
			x, err := openIndex(writeIndex(t, ids), 20)
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(ids); i += 1 + len(ids)/700 {
				n, ok, err := x.find(ids[i])
				if err != nil || !ok || n != i {
					t.Fatalf("%s %d: id %d found at %d, %v %v", name, count, i, n, ok, err)
				}
				want := int64(i * 10)
				if i%3 == 0 {
					want += 1 << 31
				}
				if offset, err := x.offset(n); err != nil || offset != want {
					t.Fatalf("%s: offset %d, want %d, %v", name, offset, want, err)
				}
				p, _ := parsePrefix("420102" + string("0123456789abcdef"[i%16]))
				var got []string
				if err := x.prefixed(p, func(h string) bool { got = append(got, h); return len(got) < 50 }); err != nil {
					t.Fatal(err)
				}
				var want2 []string
				for j, _ := slices.BinarySearch(ids, p.low); j < len(ids) && p.matches(ids[j]) && len(want2) < 50; j++ {
					want2 = append(want2, ids[j])
				}
				if !slices.Equal(got, want2) {
					t.Fatalf("%s %d: prefix finds %d, want %d", name, count, len(got), len(want2))
				}
			}
			for range 300 {
				if id := random(); !seen[id] {
					if _, ok, err := x.find(id); ok || err != nil {
						t.Fatalf("%s: found what is not there: %v", name, err)
					}
				}
			}
		}
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for digits, ok := range map[string]bool{"abc": false, "abcd": true, "abcde": true, "abcx": false, "abcdx": false, "": false} {
		if _, got := parsePrefix(digits); got != ok {
			t.Errorf("%q: %v", digits, got)
		}
	}
	p, _ := parsePrefix("abcde")
	for hash, want := range map[string]bool{"\xab\xcd\xe0x": true, "\xab\xcd\xefx": true, "\xab\xcd\xd0x": false, "\xab\xcc\xe0x": false, "\xab": false} {
		if p.matches(hash) != want {
			t.Errorf("%x: %v", hash, !want)
		}
	}
}
