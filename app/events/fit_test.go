package events

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	t.Parallel()
	many := make([]string, 30_000)
	for i := range many {
		many[i] = "refs/tags/v" + strings.Repeat("1", i%9)
	}
	for name, doc := range map[string]map[string]any{
		"long string":   {"body": strings.Repeat("é", 200_000), "number": 7},
		"nested":        {"a": map[string]any{"b": []any{strings.Repeat("x", 100_000), strings.Repeat("y", 50_000)}}, "number": 7},
		"many strings":  {"refs": many, "number": 7},
		"barely fits":   {"body": strings.Repeat("x", MaxData-40), "number": 7},
		"job and small": {"number": 7},
	} {
		in, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		out, err := fit(in, name == "job and small")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got map[string]any
		if err := json.Unmarshal(out, &got); err != nil || len(out) > MaxData || got["number"] != 7.0 {
			t.Errorf("%s: %d bytes, number %v, %v", name, len(out), got["number"], err)
		}
		if cutDown := got["truncated"] == true; cutDown != (len(in) > MaxData) {
			t.Errorf("%s: truncated = %v with %d bytes", name, cutDown, len(in))
		}
		if (got["causedByJob"] == true) != (name == "job and small") {
			t.Errorf("%s: causedByJob = %v", name, got["causedByJob"])
		}
	}
}
