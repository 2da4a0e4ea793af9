package ui

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
)

// IdempotencyField is the name of the hidden field that holds a form's
// idempotency key: the server answers a second post of the same key with what
// came of the first.
const IdempotencyField = "idempotency_key"

// MethodField is the name of the hidden field that holds the HTTP method of a
// form that is neither GET nor POST.
const MethodField = "_method"

type keyContext struct{}

// WithFormKeys makes forms rendered under the returned context take their
// idempotency keys from next: tests use it for stable output.
func WithFormKeys(ctx context.Context, next func() string) context.Context {
	return context.WithValue(ctx, keyContext{}, next)
}

func formKey(ctx context.Context) string {
	if next, ok := ctx.Value(keyContext{}).(func() string); ok {
		return next()
	}
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// Option is one choice of a select, a radio group or a segmented control.
type Option struct {
	Value    string
	Label    string
	Hint     string
	Icon     string
	Disabled bool
}
