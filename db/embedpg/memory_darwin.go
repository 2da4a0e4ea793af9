package embedpg

import "golang.org/x/sys/unix"

// memoryMB is the machine's memory in MB.
func memoryMB() int {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 4096
	}
	return int(n >> 20)
}
