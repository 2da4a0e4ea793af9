package events

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// MaxData is the size in bytes that an event's data may have; the seeds of
// the format set it to what one queue message holds.
const MaxData = 96 << 10

// fit marks data as caused by a job where it was and cuts its long strings,
// step by step, until it fits; then it is marked as truncated.
func fit(data []byte, job bool) ([]byte, error) {
	if !job && len(data) <= MaxData {
		return data, nil
	}
	var doc map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	if job {
		doc["causedByJob"] = true
	}
	out, err := json.Marshal(doc)
	for limit := 16 << 10; err == nil && len(out) > MaxData && limit >= 16; limit /= 2 {
		doc["truncated"] = true
		for k, v := range doc {
			doc[k] = cut(v, limit)
		}
		out, err = json.Marshal(doc)
	}
	if err == nil && len(out) > MaxData {
		// Not long strings but very many values: keep the short ones.
		for k, v := range doc {
			if b, _ := json.Marshal(v); len(b) > 4<<10 {
				delete(doc, k)
			}
		}
		out, err = json.Marshal(doc)
	}
	return out, err
}

func cut(v any, limit int) any {
	switch v := v.(type) {
	case string:
		if len(v) <= limit {
			return v
		}
		for limit > 0 && !utf8.RuneStart(v[limit]) {
			limit--
		}
		return v[:limit]
	case []any:
		for i := range v {
			v[i] = cut(v[i], limit)
		}
	case map[string]any:
		for k := range v {
			v[k] = cut(v[k], limit)
		}
	}
	return v
}
