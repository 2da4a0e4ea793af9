package repos

import (
	"strings"
	"unicode"
)

// WhichLicence is the SPDX identifier of the licence that a text is, "" when
// it is none of those known. Who holds it, and when, plays no part.
func WhichLicence(text string) string {
	words := licenceWords(text)
	best, most := "", 0.0
	for _, l := range Licences {
		want, err := l.Text("", 0)
		if err != nil {
			continue
		}
		if same := alike(words, licenceWords(want)); same > most {
			best, most = l.SPDX, same
		}
	}
	// Texts of the same family differ in whole clauses; 0.9 tells them apart
	// and forgives a changed head line.
	if most < 0.9 {
		return ""
	}
	return best
}

// licenceWords counts the pairs of neighbouring words of a text.
func licenceWords(text string) map[string]int {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
	pairs := make(map[string]int, len(words))
	for i := 1; i < len(words); i++ {
		pairs[words[i-1]+" "+words[i]]++
	}
	return pairs
}

// alike is how much two texts share, from 0 to 1 (Dice's coefficient).
func alike(a, b map[string]int) float64 {
	total, same := 0, 0
	for pair, n := range a {
		total += n
		same += min(n, b[pair])
	}
	for _, n := range b {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(same) / float64(total)
}

// WireLicence is GitHub's object of the licence with this SPDX identifier, nil
// for one that is not known.
func WireLicence(spdx string) *License { return licenceOf(spdx) }
