package protocol

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func FuzzPacketReader(f *testing.F) {
	for _, s := range []string{"", "0000", "0001", "0002", "0003", "0004", "0005a", "000ahello\n0000", "fff0", "FFF0", "fff1", "00", "zzzz", "0014command=ls-refs\n0001"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 16
		r := NewPacketReader(bytes.NewReader(in), limit)
		var out []byte
		for {
			kind, data, err := r.Next()
			if err != nil {
				break
			}
			switch kind {
			case PacketData:
				out = appendPacket(out, string(data))
			default:
				out = append(out, []string{"", "0000", "0001", "0002"}[kind]...)
			}
		}
		if len(out) > limit {
			t.Fatalf("%d bytes read, over the limit", len(out))
		}
		// what was read is a prefix of the input, save the case of the digits
		if !bytes.EqualFold(out, in[:len(out)]) {
			t.Fatalf("read %q from %q", out, in)
		}
	})
}

func FuzzPushRequest(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte(string(appendPacket(nil, id+" "+id+" refs/heads/x\x00report-status push-options")) + "00000005a0000"))
	f.Add([]byte("0000"))
	f.Fuzz(func(t *testing.T, in []byte) {
		q, err := readPushRequest(NewPacketReader(bytes.NewReader(in), 1<<20), 40, pushLimits{commands: 10, options: 10})
		if err != nil {
			return
		}
		if len(q.commands) > 10 || len(q.options) > 10 {
			t.Fatalf("%d commands, %d options", len(q.commands), len(q.options))
		}
	})
}

func FuzzRequestV2(f *testing.F) {
	f.Add([]byte("0014command=ls-refs\n0015agent=git/2.39.50001000cpeel\n0000"))
	f.Fuzz(func(t *testing.T, in []byte) {
		q, err := readRequestV2(NewPacketReader(bytes.NewReader(in), 1<<20))
		if err != nil {
			return
		}
		again, err := readRequestV2(NewPacketReader(bytes.NewReader(q.encode()), 0))
		if err != nil || again.command != q.command || !slices.Equal(again.args, q.args) || !slices.Equal(again.caps, q.caps) {
			t.Fatalf("%+v became %+v, %v", q, again, err)
		}
	})
}

func FuzzSplitCommand(f *testing.F) {
	for _, s := range []string{"git-upload-pack '/a/b.git'", `git-upload-pack "a\"b"`, `a\ b`, "a 'b", `git-upload-pack '/it'\''s.git'`, "git-upload-pack '/a'\\!'b'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := splitCommand(line)
		if err == nil && len(strings.Join(words, "")) > len(line) {
			t.Fatalf("%q became %q", line, words)
		}
	})
}

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"git-upload-pack '/a/b.git'", []string{"git-upload-pack", "/a/b.git"}},
		{`git-upload-pack '/it'\''s.git'`, []string{"git-upload-pack", "/it's.git"}},
		{`git-upload-pack '/a'\!'b'`, []string{"git-upload-pack", "/a!b"}},
		{`git-lfs-authenticate "a b" download`, []string{"git-lfs-authenticate", "a b", "download"}},
		{`x "a\"b\c"`, []string{"x", `a"b\c`}},
		{" '' ", []string{""}},
	} {
		if got, err := splitCommand(tt.line); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
	for _, bad := range []string{"a|b", "a 'b", `a "b`, `a\`, "a\nb", "$(x)", "`x`", strings.Repeat("a", 9000)} {
		if got, err := splitCommand(bad); err == nil {
			t.Errorf("%q: %q, want an error", bad, got)
		}
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Version{"": V0, "version=2": V2, "version=1": V1, "version=0": V0, "version=3": V0,
		"a:version=1:version=2": V2, "version=2:version=1": V2, "version": V0, "version=-1": V0} {
		if got := ParseVersion(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func TestSidebandHoldsProgress(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := newSideband(&out, MaxPacket)
	s.hold()
	must(t, s.send(bandProgress, []byte("wait")))
	if out.Len() != 0 {
		t.Fatalf("sent %q", out.String())
	}
	for range 100 {
		must(t, s.send(bandProgress, make([]byte, 10_000)))
	}
	if n := len(s.wait); n > heldMost+1000 {
		t.Fatalf("%d bytes wait", n)
	}
	s.release()
	must(t, s.send(bandData, bytes.Repeat([]byte("x"), 70_000)))
	must(t, s.end())
	r := NewPacketReader(&out, 0)
	_, first, err := r.Next()
	if err != nil || string(first) != "\x02wait" {
		t.Fatalf("%q, %v", first, err)
	}
	data := 0
	for {
		kind, p, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if kind == PacketFlush {
			break
		}
		if p[0] == bandData {
			data += len(p) - 1
		}
	}
	if data != 70_000 {
		t.Fatalf("%d bytes of data", data)
	}
	if _, _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
