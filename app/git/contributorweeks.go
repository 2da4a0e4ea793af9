package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxLineStats is up to how many commits changed lines are counted.
const maxLineStats = 10_000

// Week is what an author did in one week.
type Week struct {
	// Start is the week's Sunday, midnight in UTC.
	Start                   time.Time
	Commits, Added, Deleted int
}

// authorWeeks is the answer for one commit.
type authorWeeks struct {
	tip OID
	by  map[string][]Week
}

// ContributorWeeks is what each author of a commit that rev reaches did in each
// week, in no order, merges left out; the keys are email addresses in lower
// case. Lines are counted only where there are at most 10,000 commits. The last
// answer is kept.
func (r *Repository) ContributorWeeks(ctx context.Context, rev OID) (map[string][]Week, error) {
	if last := r.answers.weeks.Load(); last != nil && last.tip == rev {
		return last.by, nil
	}
	people, err := r.contributors(ctx, rev)
	if err != nil {
		return nil, err
	}
	commits := 0
	for _, p := range people {
		commits += p.Commits
	}
	options := []string{"--no-merges", "--format=%x01%at %ae"}
	if commits <= maxLineStats {
		options = append(options, "--shortstat", "--no-renames", "--no-ext-diff", "--no-textconv")
	}
	by := map[string][]Week{}
	err = r.Command(ctx, "log", options...).Revs(rev.String()).Stream(func(out io.Reader) error { return readWeeks(out, by) })
	if err != nil {
		return nil, fmt.Errorf("weeks of %s: %w", rev.Short(), err)
	}
	r.answers.weeks.Store(&authorWeeks{rev, by})
	return by, nil
}

func readWeeks(out io.Reader, by map[string][]Week) error {
	weeks := map[string]map[int64]*Week{}
	var at *Week
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		head, ok := strings.CutPrefix(lines.Text(), "\x01")
		if !ok {
			if at != nil {
				at.Added += countBefore(lines.Text(), " insertion")
				at.Deleted += countBefore(lines.Text(), " deletion")
			}
			continue
		}
		when, email, _ := strings.Cut(head, " ")
		seconds, err := strconv.ParseInt(when, 10, 64)
		if err != nil {
			return fmt.Errorf("a commit's time %q: %w", when, err)
		}
		// A commit may say any time; nobody writes before 1970 or tomorrow.
		seconds = max(0, min(seconds, time.Now().Unix()))
		start, key := weekOf(seconds), strings.ToLower(DecodeText(email))
		if weeks[key] == nil {
			weeks[key] = map[int64]*Week{}
		}
		if at = weeks[key][start]; at == nil {
			at = &Week{Start: time.Unix(start, 0).UTC()}
			weeks[key][start] = at
		}
		at.Commits++
	}
	for key, list := range weeks {
		for _, w := range list {
			by[key] = append(by[key], *w)
		}
	}
	return lines.Err()
}

// weekOf is the Sunday before a time; 1970 began on a Thursday.
func weekOf(seconds int64) int64 {
	const day = 24 * 60 * 60
	return seconds - (seconds+4*day)%(7*day)
}

// countBefore is the number in front of a word in git's summary of a diff.
func countBefore(line, word string) int {
	head, _, ok := strings.Cut(line, word)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(head[strings.LastIndexByte(head, ' ')+1:])
	if err != nil {
		return 0
	}
	return n
}
