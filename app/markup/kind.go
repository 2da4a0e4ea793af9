package markup

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// Kind says how a file is shown.
type Kind int

// Kinds of files.
const (
	KindText     Kind = iota // source code and other text, line by line
	KindMarkdown             // Renderer.Render
	KindNotebook             // Renderer.Notebook
	KindTable                // Table
	KindImage                // in an img element, from the raw address
	KindSVG                  // as KindImage; its source can be shown too
	KindPDF                  // in a sandboxed frame or by a viewer
	KindAudio
	KindVideo
	KindPointer // stands for a file in large file storage
	KindBinary  // not shown
)

// HeadSize is how many bytes of a file KindOf wants to see.
const HeadSize = 8000

// KindOf tells from a file's name and its first HeadSize bytes how to show it.
// What the bytes say counts more than the name.
func KindOf(name string, head []byte) Kind {
	head = head[:min(len(head), HeadSize)]
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/v1\n")) {
		return KindPointer
	}
	ext := strings.ToLower(path.Ext(name))
	switch mediaType(head) {
	case "image":
		return KindImage
	case "pdf":
		return KindPDF
	case "audio":
		return KindAudio
	case "video":
		if ext == ".m4a" || ext == ".oga" || ext == ".opus" {
			return KindAudio
		}
		return KindVideo
	}
	if IsBinary(head) {
		return KindBinary
	}
	switch ext {
	case ".svg":
		if bytes.Contains(head, []byte("<svg")) {
			return KindSVG
		}
	case ".ipynb":
		return KindNotebook
	case ".csv", ".tsv", ".tab":
		return KindTable
	}
	if IsMarkdown(name) {
		return KindMarkdown
	}
	return KindText
}

// IsMarkdown says whether a file of this name is Markdown.
func IsMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx":
		return true
	}
	return false
}

// IsBinary says whether the beginning of a file is no text: as in git, when it
// holds NUL; text in UTF-16 with a byte order mark is text.
func IsBinary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	return bytes.IndexByte(head[:min(len(head), HeadSize)], 0) >= 0
}

// mediaType tells images, PDF, sound and films by their first bytes.
// https://mimesniff.spec.whatwg.org/#matching-a-mime-type-pattern
func mediaType(head []byte) string {
	has := func(at int, sign string) bool {
		return len(head) >= at+len(sign) && string(head[at:at+len(sign)]) == sign
	}
	switch {
	case has(0, "\x89PNG\r\n\x1a\n"), has(0, "\xff\xd8\xff"), has(0, "GIF87a"), has(0, "GIF89a"), has(0, "RIFF") && has(8, "WEBP"),
		has(0, "BM") && bytes.IndexByte(head[:min(len(head), 32)], 0) >= 0, has(0, "\x00\x00\x01\x00"), has(4, "ftypavif"), has(4, "ftypavis"):
		return "image"
	case has(0, "%PDF-"):
		return "pdf"
	case has(0, "ID3"), has(0, "\xff\xfb"), has(0, "\xff\xf3"), has(0, "OggS"), has(0, "fLaC"), has(0, "RIFF") && has(8, "WAVE"), has(4, "ftypM4A"):
		return "audio"
	case has(4, "ftyp"), has(0, "\x1aE\xdf\xa3"):
		return "video"
	}
	return ""
}

// ContentType returns the type under which the bytes of a file may be sent
// with nosniff: that of media for what is media, and else plain text or bytes,
// never one that a browser would run.
func ContentType(name string, head []byte) string {
	switch KindOf(name, head) {
	case KindImage:
		return imageType(head)
	case KindSVG:
		return "image/svg+xml"
	case KindPDF:
		return "application/pdf"
	case KindAudio:
		switch {
		case bytes.HasPrefix(head, []byte("OggS")):
			return "audio/ogg"
		case bytes.HasPrefix(head, []byte("fLaC")):
			return "audio/flac"
		case bytes.HasPrefix(head, []byte("RIFF")):
			return "audio/wav"
		case bytes.HasPrefix(head[min(len(head), 4):], []byte("ftyp")):
			return "audio/mp4"
		}
		return "audio/mpeg"
	case KindVideo:
		if bytes.HasPrefix(head, []byte("\x1aE\xdf\xa3")) {
			return "video/webm"
		}
		return "video/mp4"
	case KindBinary:
		return "application/octet-stream"
	}
	if len(head) >= 512 { // the head of a longer file
		head = trimPartial(head)
	}
	if utf8.Valid(head) {
		return "text/plain; charset=utf-8"
	}
	return "text/plain"
}

func imageType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF8")):
		return "image/gif"
	case bytes.HasPrefix(head, []byte("RIFF")):
		return "image/webp"
	case bytes.HasPrefix(head, []byte("BM")):
		return "image/bmp"
	case bytes.HasPrefix(head, []byte("\x00\x00\x01\x00")):
		return "image/x-icon"
	}
	return "image/avif"
}

// trimPartial removes the beginning of a character that was cut at the end.
func trimPartial(b []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// ReadmeRank orders the names of files that describe a folder: the higher the
// better, 0 for none. Equal ranks go by name.
func ReadmeRank(name string) int {
	lower := strings.ToLower(name)
	stem, ext, _ := strings.Cut(lower, ".")
	if stem != "readme" {
		return 0
	}
	rank := 10
	switch {
	case IsMarkdown(lower) && strings.Count(lower, ".") == 1:
		rank = 40
	case ext == "":
		rank = 30
	case ext == "txt", ext == "rst", ext == "adoc", ext == "asciidoc", ext == "org":
		rank = 20
	}
	if strings.HasPrefix(name, "README") {
		rank++
	}
	return rank
}

// IsImageName says whether a file of this name is, by its ending, an image
// that browsers show.
func IsImageName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico":
		return true
	}
	return false
}
