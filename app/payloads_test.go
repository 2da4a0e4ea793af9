package app_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/gitfor/gitfor/app"
	"github.com/gitfor/gitfor/db/model"
)

var updateDocs = flag.Bool("update", false, "write what is generated")

const generatedMark = "<!-- generated from the code: go test ./app -run TestEventsPage -update -->\n"

// TestEventsPage holds the generated part of docs/events.md and the schema
// beside it to the code.
func TestEventsPage(t *testing.T) {
	t.Parallel()
	c := app.Catalogue()
	page, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	head, _, found := strings.Cut(string(page), generatedMark)
	if !found {
		t.Fatal("docs/events.md has no generated part")
	}
	schema, err := json.MarshalIndent(c.Schema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"../docs/events.md":          head + generatedMark + "\n" + c.Describe(),
		"../docs/events.schema.json": string(schema) + "\n",
	} {
		if *updateDocs {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is stale (go test ./app -run TestEventsPage -update): %v", name, err)
		}
	}
}

func TestCatalogueChecks(t *testing.T) {
	t.Parallel()
	c := app.Catalogue()
	good := `{"id": 1, "username": "a", "kind": "user", "causedByJob": true}`
	for data, ok := range map[string]bool{
		good: true, `{"id": 1, "username": "a"}`: false, `{"id": 1, "username": "a", "truncated": true}`: true,
		strings.Replace(good, "kind", "kinds", 1): false, strings.Replace(good, "1", `"1"`, 1): false,
	} {
		if err := c.Check(&model.Event{Type: "user.created", Data: []byte(data)}); (err == nil) != ok {
			t.Errorf("%s: %v", data, err)
		}
	}
	if err := c.Check(&model.Event{Type: "no.such", Data: []byte("{}")}); err == nil {
		t.Error("an unknown type passes")
	}
}
