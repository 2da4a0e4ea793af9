package ui_test

import (
	"testing"
	"time"

	"github.com/gitfor/gitfor/views/ui"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		ui.Number(0): "0", ui.Number(999): "999", ui.Number(1000): "1,000", ui.Number(1234567): "1,234,567", ui.Number(-12345): "-12,345",
		ui.Short(999): "999", ui.Short(1000): "1k", ui.Short(1290): "1.2k", ui.Short(34567): "34k", ui.Short(5_670_000): "5.6m", ui.Short(12_345_678): "12m",
		ui.Bytes(0): "0 B", ui.Bytes(1023): "1023 B", ui.Bytes(1536): "1.5 KB", ui.Bytes(2 << 20): "2 MB", ui.Bytes(150 << 30): "150 GB",
		ui.Plural(1, "commit"): "1 commit", ui.Plural(0, "commit"): "0 commits", ui.Plural(2, "entry", "entries"): "2 entries",
		ui.Duration(400 * time.Millisecond): "0.4s", ui.Duration(12 * time.Second): "12s", ui.Duration(200 * time.Second): "3m 20s", ui.Duration(125 * time.Minute): "2h 5m",
		ui.Hex("#D73A4A"): "#d73a4a", ui.Hex("red"): "#8a857d", ui.Hex(`"><x`): "#8a857d", ui.Hex("12345g"): "#8a857d",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		back time.Duration
		want string
	}{
		{0, "just now"}, {44 * time.Second, "just now"}, {46 * time.Second, "1 minute ago"}, {59 * time.Minute, "59 minutes ago"},
		{time.Hour, "1 hour ago"}, {23 * time.Hour, "23 hours ago"}, {24 * time.Hour, "yesterday"}, {49 * time.Hour, "2 days ago"},
		{29 * 24 * time.Hour, "29 days ago"}, {40 * 24 * time.Hour, "on 23 Jan"}, {400 * 24 * time.Hour, "on 28 Jan 2025"},
		{-10 * time.Second, "in a moment"}, {-5 * time.Minute, "in 5 minutes"}, {-30 * time.Hour, "tomorrow"}, {-72 * time.Hour, "in 3 days"},
	} {
		if got := ui.Ago(now.Add(-c.back), now); got != c.want {
			t.Errorf("%v back: %q, want %q", c.back, got, c.want)
		}
	}
}
