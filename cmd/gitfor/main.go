// Command gitfor is the gitfor server and its administration commands.
package main

func main() {}
