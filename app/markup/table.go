package markup

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"path"
	"strconv"
	"strings"
)

// Limits of a table that is shown; the rest of the file is left out.
const (
	maxRows    = 1000
	maxColumns = 100
	maxCell    = 2000    // bytes
	maxTable   = 1 << 20 // bytes of the file
)

// ErrTable says that a file is no table, to be shown as text.
var ErrTable = errors.New("not a table")

// TableOutput is a file of comma- or tab-separated values as a table.
type TableOutput struct {
	HTML    template.HTML
	Rows    int // shown, without the head
	Columns int
	Cut     bool // rows, columns or ends of cells are left out
}

// Table renders a file of values separated by commas, semicolons, bars or tabs
// (RFC 4180, leniently). Its first row is the head. The error is ErrTable.
func Table(name string, src []byte) (TableOutput, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	out := TableOutput{}
	if len(src) > maxTable {
		src = src[:bytes.LastIndexByte(src[:maxTable], '\n')+1]
		out.Cut = true
	}
	r := csv.NewReader(bytes.NewReader(src))
	r.Comma = separator(name, src)
	r.LazyQuotes = true
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var b strings.Builder
	b.WriteString(`<div class="table-scroll"><table class="data-table">`)
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return TableOutput{}, fmt.Errorf("%w: %w", ErrTable, err)
		}
		if out.Columns == 0 {
			out.Columns = min(len(row), maxColumns)
			if out.Columns == 0 || len(row) == 1 && len(src) > maxCell && !bytes.Contains(src[:maxCell], []byte("\n")) {
				return TableOutput{}, ErrTable
			}
			b.WriteString("<thead>")
			writeRow(&b, row, "th", 1, &out)
			b.WriteString("</thead><tbody>")
			continue
		}
		if out.Rows == maxRows {
			out.Cut = true
			break
		}
		line, _ := r.FieldPos(0)
		writeRow(&b, row, "td", line, &out)
		out.Rows++
	}
	if out.Columns == 0 {
		return TableOutput{}, ErrTable
	}
	b.WriteString("</tbody></table></div>")
	out.HTML = template.HTML(b.String()) //nolint:gosec // escaped by writeRow
	return out, nil
}

func writeRow(b *strings.Builder, row []string, tag string, line int, out *TableOutput) {
	b.WriteString(`<tr><td class="line-number" data-line="` + strconv.Itoa(line) + `"></td>`)
	if len(row) > maxColumns {
		row, out.Cut = row[:maxColumns], true
	}
	for _, cell := range row {
		b.WriteString("<" + tag)
		if tag == "th" {
			b.WriteString(` scope="col"`)
		}
		b.WriteByte('>')
		if len(cell) > maxCell {
			cell, out.Cut = cell[:maxCell]+"…", true
		}
		b.WriteString(html.EscapeString(clean(cell)))
		b.WriteString("</" + tag + ">")
	}
	for range out.Columns - len(row) { // short rows
		b.WriteString("<" + tag + "></" + tag + ">")
	}
	b.WriteString("</tr>")
}

// separator tells what separates the values of a file: the sign that comes
// most often, outside quotes, in the first line.
func separator(name string, src []byte) rune {
	if ext := strings.ToLower(path.Ext(name)); ext == ".tsv" || ext == ".tab" {
		return '\t'
	}
	count := map[rune]int{}
	quoted := false
	for _, c := range string(src[:min(len(src), 8<<10)]) {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			goto done
		default:
			count[c]++
		}
	}
done:
	best := ','
	for _, c := range []rune{';', '\t', '|'} {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}
