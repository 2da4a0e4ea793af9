package accounts

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

// avatarSVG is a picture made of an account's id: five by five squares, the
// right half the mirror of the left, in one of twelve hues.
func avatarSVG(id int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("gitfor avatar "), uint64(id)))
	hue := int(sum[0]) % 12 * 30
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" width="160" height="160" shape-rendering="crispEdges">`+
		`<path fill="hsl(%d 30%% 90%%)" d="M0 0h7v7H0z"/><path fill="hsl(%d 45%% 42%%)" d="`, hue, hue)
	bits := binary.BigEndian.Uint16(sum[1:3])
	if bits&0x7fff == 0 {
		bits = 1 << 7
	}
	for x := range 3 {
		for y := range 5 {
			if bits>>(x*5+y)&1 == 0 {
				continue
			}
			fmt.Fprintf(&b, "M%d %dh1v1h-1z", x+1, y+1)
			if x < 2 {
				fmt.Fprintf(&b, "M%d %dh1v1h-1z", 5-x, y+1)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return []byte(b.String())
}
