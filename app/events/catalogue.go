package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gitfor/gitfor/db/model"
)

// Catalogue is every type of event that features publish, by type.
type Catalogue map[string]Payload

// CatalogueOf makes the catalogue of the features' payloads.
func CatalogueOf(lists ...[]Payload) Catalogue {
	c := Catalogue{}
	for _, list := range lists {
		for _, p := range list {
			c[p.EventType()] = p
		}
	}
	return c
}

// Types are the catalogue's types, sorted.
func (c Catalogue) Types() []string {
	list := make([]string, 0, len(c))
	for t := range c {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

// Check says what is wrong with an event: its type is not in the catalogue, or
// its data is not what the catalogue says.
func (c Catalogue) Check(e *model.Event) error {
	p, ok := c[e.Type]
	if !ok {
		return fmt.Errorf("event %s is not in the catalogue", e.Type)
	}
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &doc); err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	cut := doc["truncated"] != nil
	delete(doc, "causedByJob")
	delete(doc, "truncated")
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	dst := reflect.New(reflect.TypeOf(p))
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst.Interface()); err != nil {
		return fmt.Errorf("event %s: %w", e.Type, err)
	}
	for _, name := range schemaOf(reflect.TypeOf(p)).Required {
		if doc[name] == nil && !cut {
			return fmt.Errorf("event %s lacks %s", e.Type, name)
		}
	}
	return nil
}

// Schema is a JSON Schema (https://json-schema.org/draft/2020-12), as far as
// payloads need it.
type Schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	Title       string             `json:"title,omitempty"`
	Type        any                `json:"type,omitempty"`
	Format      string             `json:"format,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Values      *Schema            `json:"additionalProperties,omitempty"`
	Definitions map[string]*Schema `json:"$defs,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
}

// Schema is the schema of the data of every type, each under $defs.
func (c Catalogue) Schema() *Schema {
	out := &Schema{Dialect: "https://json-schema.org/draft/2020-12/schema", Title: "The data of gitfor's events, by type",
		Definitions: map[string]*Schema{}}
	for t, p := range c {
		s := schemaOf(reflect.TypeOf(p))
		s.Title = t
		s.Properties["causedByJob"] = &Schema{Type: "boolean"}
		s.Properties["truncated"] = &Schema{Type: "boolean"}
		out.Definitions[t] = s
	}
	return out
}

func schemaOf(t reflect.Type) *Schema {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[json.RawMessage]():
		return &Schema{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := schemaOf(t.Elem())
		if name, ok := s.Type.(string); ok {
			s.Type = []string{name, "null"}
		}
		return s
	case reflect.Struct:
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		addFields(s, t)
		return s
	case reflect.Slice, reflect.Array:
		return &Schema{Type: []string{"array", "null"}, Items: schemaOf(t.Elem())}
	case reflect.Map:
		return &Schema{Type: "object", Values: schemaOf(t.Elem())}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Interface:
		return &Schema{}
	}
	return &Schema{Type: "integer"}
}

func addFields(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			addFields(s, f.Type)
		default:
			if name == "" {
				name = f.Name
			}
			s.Properties[name] = schemaOf(f.Type)
			if !strings.Contains(opts, "omit") {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// Describe writes the part of docs/events.md that follows from the code: the
// routes and the types with their data.
func (c Catalogue) Describe() string {
	var b strings.Builder
	b.WriteString("## Who gets what\n\nEach service has the queue `" + QueuePrefix + "<service>`. Every service also gets the life-cycle events: `" +
		strings.Join(Lifecycle(), "`, `") + "`.\n\n| service | types |\n|---|---|\n")
	for _, r := range Routes() {
		types := "life-cycle events only"
		if len(r.Types) > 0 {
			types = "`" + strings.Join(r.Types, "` `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", r.Service, types)
	}
	b.WriteString("\n## Types and their data\n\nFields in brackets are there only where they say something.\n\n| type | data |\n|---|---|\n")
	for _, t := range c.Types() {
		s := schemaOf(reflect.TypeOf(c[t]))
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			if !slices.Contains(s.Required, name) {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int {
			if (a[0] == '[') != (b[0] == '[') {
				if a[0] == '[' {
					return 1
				}
				return -1
			}
			return strings.Compare(a, b)
		})
		fmt.Fprintf(&b, "| `%s` | %s |\n", t, strings.Join(names, ", "))
	}
	return b.String()
}
