package api

import "encoding/json"

// Maybe is a field of a request that may be absent (Set is false), null, or a
// value.
type Maybe[T any] struct {
	Set, Null bool
	Value     T
}

// UnmarshalJSON notes that the field is there.
func (m *Maybe[T]) UnmarshalJSON(b []byte) error {
	m.Set = true
	if string(b) == "null" {
		m.Null = true
		return nil
	}
	return json.Unmarshal(b, &m.Value)
}

// Ref is the value, nil when absent or null.
func (m *Maybe[T]) Ref() *T {
	if !m.Set || m.Null {
		return nil
	}
	return &m.Value
}
