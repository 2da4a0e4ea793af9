package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/gitfor/gitfor/db"
	"github.com/gitfor/gitfor/db/dbtest"
)

func TestBusCarriesNoticesBetweenProcesses(t *testing.T) {
	t.Parallel()
	url := dbtest.NewURL(t)
	open := func() *db.DB {
		d, err := db.Open(t.Context(), url, db.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		if err := d.Bus().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Bus().Stop(context.WithoutCancel(t.Context())) })
		return d
	}
	a, b := open(), open()
	heard := make(chan string, 100)
	lost := make(chan struct{}, 1)
	cancel := b.Bus().Subscribe("x", func(p string) { heard <- p }, func() { lost <- struct{}{} })
	want := func(p string) {
		t.Helper()
		select {
		case got := <-heard:
			if got != p {
				t.Fatalf("heard %q, want %q", got, p)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("never heard %q", p)
		}
	}
	a.Bus().Notify(t.Context(), "x", "one:two")
	want("one:two")
	a.Bus().Notify(t.Context(), "y", "other channel")
	a.Bus().Notify(t.Context(), "x", "")
	want("")
	// A listener that lost its connection says so and goes on.
	if _, err := a.JobsPool().Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-lost:
	case <-time.After(10 * time.Second):
		t.Fatal("never told that notices may be lost")
	}
	a.Bus().Notify(t.Context(), "x", "again")
	want("again")
	cancel()
	a.Bus().Notify(t.Context(), "x", "after")
	a.Bus().Notify(t.Context(), "y", "")
	select {
	case got := <-heard:
		t.Fatalf("heard %q after the subscription ended", got)
	case <-time.After(50 * time.Millisecond):
	}
}

func TestOnlyOneLeads(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	first, err := d.Lead(t.Context(), 77)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := d.Lead(short, 77); err == nil {
		t.Fatal("two lead")
	}
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := d.Lead(t.Context(), 77)
	if err != nil {
		t.Fatal(err)
	}
	_ = second.Close(t.Context())
}
