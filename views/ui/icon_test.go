package ui_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every icon that a page names is in the sprite. Names are found in calls of
// Icon and in fields called Icon; what is computed elsewhere is up to its own
// test.
func TestIconsAreInTheSprite(t *testing.T) {
	t.Parallel()
	sprite, err := os.ReadFile("../../static/icons.svg")
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`\bIcon(?:\(|:\s*)"([a-z0-9-]+)"|\b(?:Event|Empty|Tally)\("([a-z0-9-]+)"|\b(?:MenuLink|MenuButton|Badge)\("[^"]*", "([a-z0-9-]+)"`)
	found := 0
	for _, root := range []string{"..", "../../app"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_templ.go") || !(strings.HasSuffix(path, ".templ") || strings.HasSuffix(path, ".go")) || strings.HasSuffix(path, "_test.go") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range used.FindAllStringSubmatch(string(src), -1) {
				name := m[1] + m[2] + m[3]
				found++
				if !strings.Contains(string(sprite), `<symbol id="`+name+`"`) {
					t.Errorf("%s uses the icon %q: add it to static/icons.txt and run npm run icons", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 50 {
		t.Errorf("only %d uses of icons found", found)
	}
}
