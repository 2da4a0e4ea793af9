//go:build unix

package blob

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the file for this descriptor until it is closed.
func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
