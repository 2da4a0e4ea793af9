// Command dev holds what developers of gitfor need and the program itself does
// not.
//
//	go run ./cmd/dev ui [address]   serves the storybook, on 127.0.0.1:3001 unless told
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/gitfor/gitfor/views/book"
	"github.com/gitfor/gitfor/views/link"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dev:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || args[0] != "ui" {
		return fmt.Errorf("say what to do: ui")
	}
	addr := "127.0.0.1:3001"
	if len(args) > 1 {
		addr = args[1]
	}
	fmt.Printf("components: http://%s%s\n", addr, link.Book())
	srv := &http.Server{Addr: addr, Handler: book.Server(), ReadHeaderTimeout: 5 * time.Second}
	return srv.ListenAndServe()
}
