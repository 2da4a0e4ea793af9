package codes

import (
	"sync"

	"github.com/gitfor/gitfor/app/git"
	"github.com/gitfor/gitfor/app/highlight/lru"
)
