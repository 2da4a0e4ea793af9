package static_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// rgb is a colour in linear light.
type rgb [3]float64

func (c rgb) luminance() float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is WCAG's ratio of two colours.
func contrast(a, b rgb) float64 {
	x, y := a.luminance()+0.05, b.luminance()+0.05
	return max(x, y) / min(x, y)
}

// fromOKLCH converts as CSS Color 4 does, clipping what sRGB cannot show.
func fromOKLCH(l, c, h float64) rgb {
	a, b := c*math.Cos(h*math.Pi/180), c*math.Sin(h*math.Pi/180)
	cube := func(x float64) float64 { return x * x * x }
	L := cube(l + 0.3963377774*a + 0.2158037573*b)
	M := cube(l - 0.1055613458*a - 0.0638541728*b)
	S := cube(l - 0.0894841775*a - 1.2914855480*b)
	out := rgb{
		4.0767416621*L - 3.3077115913*M + 0.2309699292*S,
		-1.2684380046*L + 2.6097574011*M - 0.3413193965*S,
		-0.0041960863*L - 0.7034186147*M + 1.7076147010*S,
	}
	for i := range out {
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

var (
	block = regexp.MustCompile(`(?s)(:root[^{]*)\{(.*?)\n\}`)
	decl  = regexp.MustCompile(`--([a-z0-9-]+):\s*(.+);`)
	oklch = regexp.MustCompile(`oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)`)
)

// themes reads tokens.css into one palette per theme and kind of diff colours.
func themes(t *testing.T) map[string]map[string]rgb {
	t.Helper()
	css, err := os.ReadFile("css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for _, m := range block.FindAllStringSubmatch(string(css), -1) {
		parts[strings.TrimSpace(m[1])] = m[2]
	}
	stack := func(which int, selectors ...string) map[string]rgb {
		p := map[string]rgb{}
		for _, sel := range selectors {
			if parts[sel] == "" {
				t.Fatalf("tokens.css has no block %s", sel)
			}
			for _, d := range decl.FindAllStringSubmatch(parts[sel], -1) {
				colours := oklch.FindAllStringSubmatch(d[2], -1)
				if len(colours) == 0 || strings.HasPrefix(d[1], "shadow") {
					continue
				}
				m := colours[min(which, len(colours)-1)]
				var v [3]float64
				for i := range v {
					v[i], _ = strconv.ParseFloat(m[i+1], 64) // the pattern only lets numbers through
				}
				p[d[1]] = fromOKLCH(v[0], v[1], v[2])
			}
		}
		return p
	}
	const contrastBlock = `:root[data-theme="contrast"]`
	return map[string]map[string]rgb{
		"light":       stack(0, ":root"),
		"dark":        stack(1, ":root"),
		"contrast":    stack(0, ":root", contrastBlock),
		"light cb":    stack(0, ":root", `:root[data-diff="cb"]`),
		"dark cb":     stack(1, ":root", `:root[data-diff="cb"]`),
		"contrast cb": stack(0, ":root", contrastBlock, contrastBlock+`[data-diff="cb"]`),
	}
}

type pair struct {
	fore, back string
	least      float64
}

// pairs are all combinations that pages use: text on its ground at 4.5:1, and
// outlines of controls at 3:1.
func pairs() []pair {
	var out []pair
	text := func(least float64, back string, fores ...string) {
		for _, f := range fores {
			out = append(out, pair{f, back, least})
		}
	}
	states := []string{"open", "merged", "closed", "danger", "warning", "pending", "draft"}
	grounds := []string{"canvas", "surface", "surface-raised", "surface-sunken"}
	for _, g := range grounds {
		text(4.5, g, "ink", "ink-muted", "ink-faint", "accent", "accent-strong")
		for _, s := range states {
			text(4.5, g, s+"-ink")
		}
		text(3, g, "line-strong", "accent")
	}
	for _, s := range states {
		text(4.5, s+"-soft", s+"-ink", "ink", "ink-muted")
	}
	text(4.5, "accent-soft", "ink", "ink-muted", "accent")
	text(4.5, "accent", "accent-ink")
	text(4.5, "accent-strong", "accent-ink")
	text(4.5, "danger-fill", "danger-fill-ink")
	syntax := []string{"keyword", "string", "number", "comment", "name", "type", "tag", "meta"}
	for _, d := range []string{"add-bg", "add-word", "del-bg", "del-word", "surface", "surface-sunken", "warning-soft"} {
		text(4.5, d, "ink")
		for _, s := range syntax {
			text(4.5, d, "syntax-"+s)
		}
	}
	text(4.5, "add-gutter", "ink-muted")
	text(4.5, "del-gutter", "ink-muted")
	for i := range 8 {
		text(4.5, fmt.Sprintf("hue-%d", i), "hue-ink")
	}
	return out
}

func TestContrast(t *testing.T) {
	t.Parallel()
	for name, p := range themes(t) {
		for _, c := range pairs() {
			fore, ok := p[c.fore]
			back, ok2 := p[c.back]
			if !ok || !ok2 {
				t.Fatalf("%s: token %s or %s is missing", name, c.fore, c.back)
			}
			least := c.least
			if strings.HasPrefix(name, "contrast") && least == 4.5 && !strings.HasPrefix(c.back, "hue-") && !strings.Contains(c.back, "-word") && c.back != "warning-soft" {
				least = 7 // the theme's promise
			}
			if got := contrast(fore, back); got < least {
				t.Errorf("%s: %s on %s is %.2f:1, want %.1f:1", name, c.fore, c.back, got, least)
			}
		}
	}
}

// Each token of the specification has a Tailwind name.
func TestTokensHaveNames(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile("../tailwind.config.js")
	if err != nil {
		t.Fatal(err)
	}
	palette := themes(t)["light"]
	for _, name := range []string{"canvas", "surface", "surface-raised", "surface-sunken", "line", "line-strong", "ink", "ink-muted", "ink-faint", "accent", "accent-ink", "accent-soft"} {
		if _, ok := palette[name]; !ok || !strings.Contains(string(config), `"`+name+`"`) {
			t.Errorf("token %s is missing in tokens.css or tailwind.config.js", name)
		}
	}
	for _, s := range []string{"open", "merged", "closed", "danger", "warning", "pending", "draft"} {
		for _, part := range []string{"-ink", "-soft", "-line"} {
			if _, ok := palette[s+part]; !ok || !strings.Contains(string(config), `state("`+s+`")`) {
				t.Errorf("token %s%s is missing in tokens.css or tailwind.config.js", s, part)
			}
		}
	}
	for _, d := range []string{"add", "del"} {
		for _, part := range []string{"-bg", "-word", "-gutter"} {
			if _, ok := palette[d+part]; !ok || !strings.Contains(string(config), `diff("`+d+`")`) {
				t.Errorf("token %s%s is missing in tokens.css or tailwind.config.js", d, part)
			}
		}
	}
}
