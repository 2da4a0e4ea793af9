//go:build !linux && !darwin

package embedpg

// memoryMB is a modest guess of the machine's memory in MB.
func memoryMB() int { return 4096 }
