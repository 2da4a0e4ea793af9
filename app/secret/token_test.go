package secret

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	tokens := NewTokens(testRing(t))
	pattern := regexp.MustCompile("^" + TokenPattern + "$")
	seen := map[string]bool{}
	for _, kind := range []Kind{Personal, Deploy, Job, OAuthAccess, OAuthRefresh, Runner, Session} {
		for _, owner := range []int64{0, 1, 61, 62, 1 << 40, math.MaxInt64} {
			token, hash := tokens.New(kind, owner)
			if !pattern.MatchString(token) || len(token) != TokenLen {
				t.Errorf("%q does not match the pattern", token)
			}
			if !LooksLikeToken(token) {
				t.Errorf("%q does not look like a token", token)
			}
			if seen[token] {
				t.Errorf("%q was made twice", token)
			}
			seen[token] = true
			k, o, h, err := tokens.Parse(token)
			if err != nil || k != kind || o != owner || !Equal(h, hash) || h != Hash(token) {
				t.Errorf("parse %q: kind %q, owner %d, %v", token, k, o, err)
			}
		}
	}
}

func TestTokenParseRefuses(t *testing.T) {
	t.Parallel()
	tokens := NewTokens(testRing(t))
	token, _ := tokens.New(Personal, 42)
	// withCRC gives a forged body the checksum that scanners look for.
	withCRC := func(head, body string) string {
		return head + body + string(appendBase62(nil, uint64(crc32.ChecksumIEEE([]byte(body))), crcLen))
	}
	head, body := token[:headLen], token[headLen:headLen+bodyLen]
	if withCRC(head, body) != token {
		t.Fatal("the checksum is not the CRC-32 of the body")
	}
	foreign, _ := NewTokens(testRing(t)).New(Personal, 42)
	bad := map[string]string{
		"empty": "", "short": token[:TokenLen-1], "long": token + "0", "space": " " + token[1:],
		"other prefix":   "ghp" + token[3:],
		"another kind":   withCRC("g1t_dep_", body),
		"unknown kind":   withCRC("g1t_xyz_", body),
		"another owner":  withCRC(head, "0000000000h"+body[ownerLen:]),
		"overflow owner": withCRC(head, "zzzzzzzzzzz"+body[ownerLen:]),
		"another random": withCRC(head, body[:ownerLen]+strings.Repeat("a", randomLen)+body[ownerLen+randomLen:]),
		"another check":  withCRC(head, body[:ownerLen+randomLen]+"00000000"),
		"bad digit":      withCRC(head, "-"+body[1:]),
		"foreign":        foreign,
	}
	for i := headLen; i < TokenLen; i++ {
		c := byte('a')
		if token[i] == c {
			c = 'b'
		}
		bad[fmt.Sprintf("typo at %d", i)] = token[:i] + string(c) + token[i+1:]
	}
	for name, s := range bad {
		if kind, owner, hash, err := tokens.Parse(s); !errors.Is(err, ErrToken) || kind != "" || owner != 0 || hash != [32]byte{} {
			t.Errorf("%s: %q parsed as %q of %d, %v", name, s, kind, owner, err)
		}
	}
	if !LooksLikeToken(foreign) || LooksLikeToken(bad["typo at 20"]) || LooksLikeToken("") {
		t.Error("LooksLikeToken does not go by the checksum alone")
	}
}

func TestNewTokenPanicsOnMistakes(t *testing.T) {
	t.Parallel()
	tokens := NewTokens(testRing(t))
	for _, f := range []func(){
		func() { tokens.New("zzz", 1) },
		func() { tokens.New(Personal, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}

func TestRandomDigitsAreEven(t *testing.T) {
	t.Parallel()
	const n = 62 * 2000
	count := map[byte]int{}
	for _, c := range appendRandom62(nil, n) {
		count[c]++
	}
	for i := range digits62 {
		// 2000 expected, standard deviation 45: ten of them is no accident.
		if got := count[digits62[i]]; got < 1550 || got > 2450 {
			t.Errorf("digit %c came %d times", digits62[i], got)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	ring, _ := NewRing([KeySize]byte{1})
	tokens := NewTokens(ring)
	good, _ := tokens.New(Session, 9)
	for _, s := range []string{good, "", "g1t_pat_", good[:40], good + good, strings.Repeat("\x00", TokenLen), "g1t_ses_" + strings.Repeat("z", 55)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kind, owner, hash, err := tokens.Parse(s)
		if err != nil {
			return
		}
		if !kind.known() || owner < 0 || hash != Hash(s) || !LooksLikeToken(s) {
			t.Errorf("parsed %q as %q of %d", s, kind, owner)
		}
	})
}

func TestLink(t *testing.T) {
	t.Parallel()
	tokens := NewTokens(testRing(t))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	link, hash := tokens.NewLink("confirm email", 42, now.Add(time.Hour))
	owner, got, err := tokens.ParseLink("confirm email", link, now)
	if err != nil || owner != 42 || got != hash {
		t.Errorf("parse: owner %d, %v", owner, err)
	}
	if _, _, err := tokens.ParseLink("confirm email", link, now.Add(time.Hour)); !errors.Is(err, ErrLinkExpired) {
		t.Errorf("after its time: %v", err)
	}
	if _, _, err := tokens.ParseLink("add passkey", link, now); !errors.Is(err, ErrLink) {
		t.Errorf("for another purpose: %v", err)
	}
	if _, _, err := NewTokens(testRing(t)).ParseLink("confirm email", link, now); !errors.Is(err, ErrLink) {
		t.Errorf("on another instance: %v", err)
	}
	for i := range link {
		c := byte('A')
		if link[i] == c {
			c = 'B'
		}
		if _, _, err := tokens.ParseLink("confirm email", link[:i]+string(c)+link[i+1:], now); !errors.Is(err, ErrLink) {
			t.Errorf("with character %d changed: %v", i, err)
		}
	}
	other, _ := tokens.NewLink("confirm email", 42, now.Add(time.Hour))
	if other == link {
		t.Error("two links are the same")
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	ring := testRing(t)
	codes := NewRecoveryCodes()
	form := regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}$`)
	var stored [][32]byte
	seen := map[string]bool{}
	for _, c := range codes {
		if !form.MatchString(c) || seen[c] {
			t.Errorf("bad code %q", c)
		}
		seen[c] = true
		stored = append(stored, ring.HashRecoveryCode(5, c))
	}
	if len(codes) != RecoveryCount {
		t.Errorf("%d codes", len(codes))
	}
	for i, c := range codes {
		for _, typed := range []string{c, strings.ToUpper(c), strings.ReplaceAll(c, "-", ""), " " + strings.ReplaceAll(c, "-", " ") + "\n"} {
			if got := ring.MatchRecoveryCode(5, typed, stored); got != i {
				t.Errorf("%q matches %d, want %d", typed, got, i)
			}
		}
		if got := ring.MatchRecoveryCode(6, c, stored); got != -1 {
			t.Errorf("another person's code matches %d", got)
		}
	}
	if got, err := NormalizeRecoveryCode("OOOO-IILL-zz–zz"); err != nil || got != "0000-1111-zzzz" {
		t.Errorf("look-alikes: %q, %v", got, err)
	}
	for _, bad := range []string{"", "abcd", "0000-0000-000", "0000-0000-0000-0", "uuuu-uuuu-uuuu", "ä000-0000-0000", strings.Repeat("0 ", 300)} {
		if got, err := NormalizeRecoveryCode(bad); !errors.Is(err, ErrRecoveryCode) {
			t.Errorf("%q became %q, %v", bad, got, err)
		}
	}
}

func TestEqualText(t *testing.T) {
	t.Parallel()
	if !EqualText("abc", "abc") || EqualText("abc", "abd") || EqualText("abc", "ab") {
		t.Error("EqualText is wrong")
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	last := ""
	for range 2000 {
		id := EventID()
		if err := CheckID(EventPrefix, id); err != nil {
			t.Fatal(err)
		}
		if id <= last {
			t.Fatalf("%q does not sort after %q", id, last)
		}
		last = id
	}
	for _, bad := range []string{"", "evt_", last[4:], "evt_" + strings.ToUpper(last[4:]), last + "0", "evt_{" + last[5:]} {
		if CheckID(EventPrefix, bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func BenchmarkParseToken(b *testing.B) {
	tokens := NewTokens(testRing(b))
	token, _ := tokens.New(Personal, 1<<40)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := tokens.Parse(token); err != nil {
			b.Fatal(err)
		}
	}
}
