package parcel_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/db/parcel"
)

type header struct {
	Name string `json:"name"`
}

func pack(t testing.TB, tables map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := parcel.NewWriter(&out, header{"x"})
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range tables {
		if err := w.Table(parcel.Table{Name: name, Columns: []string{"a", "b"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, rows); err != nil {
			t.Fatal(err)
		}
		if err := w.EndTable(int64(strings.Count(rows, "\n"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(b []byte) (map[string]string, error) {
	var h header
	r, err := parcel.NewReader(bytes.NewReader(b), &h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := map[string]string{}
	for {
		table, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		rows, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		if err := r.EndTable(int64(bytes.Count(rows, []byte("\n")))); err != nil {
			return nil, err
		}
		out[table.Name] = string(rows)
	}
}

func TestWhatIsPackedIsUnpacked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1\tsome words\n", 3_000_000)
	in := map[string]string{"empty": "", "one": "1\t2\n", "long": long}
	out, err := unpack(pack(t, in))
	if err != nil {
		t.Fatal(err)
	}
	for name, rows := range in {
		if out[name] != rows {
			t.Errorf("table %s: %d bytes came back of %d", name, len(out[name]), len(rows))
		}
	}
}

func TestDamageIsNoticed(t *testing.T) {
	t.Parallel()
	whole := pack(t, map[string]string{"one": "1\tabc\n2\tdef\n"})
	for cut := range whole {
		if _, err := unpack(whole[:cut]); !errors.Is(err, parcel.ErrDamaged) {
			t.Fatalf("cut at %d of %d: %v", cut, len(whole), err)
		}
		bad := bytes.Clone(whole)
		bad[cut] ^= 0x41
		if out, err := unpack(bad); err == nil && out["one"] != "1\tabc\n2\tdef\n" {
			t.Fatalf("byte %d changed: %q came back without an error", cut, out["one"])
		}
	}
	if _, err := unpack(append(bytes.Clone(whole), whole...)); !errors.Is(err, parcel.ErrDamaged) {
		t.Fatalf("two in one: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(pack(f, map[string]string{"one": "1\t2\n"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := unpack(b); err != nil && !errors.Is(err, parcel.ErrDamaged) {
			t.Fatalf("%v is no ErrDamaged", err)
		}
	})
}
