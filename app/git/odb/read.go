package odb

import (
	"fmt"
)

// delta is a step from a base to an object.
type delta struct {
	offset int64
	data   []byte
}

// packed puts the object at offset together.
func (db *Database) packed(p *pack, offset, limit int64) (Type, []byte, error) {
	if typ, data, ok := db.cache.get(cacheKey{owner: p, offset: offset}); ok {
		if limit > 0 && int64(len(data)) > limit {
			return typ, nil, ErrTooLarge
		}
		return typ, data, nil
	}
	in := inflaters.Get().(*inflater)
	defer in.release()
	var steps []delta
	var typ Type
	var data []byte
	for at := offset; ; {
		if t, cached, ok := db.cache.get(cacheKey{owner: p, offset: at}); ok {
			typ, data = t, cached
			break
		}
		e, head, err := p.header(at, in.buf[:])
		if err != nil {
			return 0, nil, err
		}
		if len(steps) == 0 && limit > 0 {
			if err := db.within(in, p, e, head, limit); err != nil {
				return e.typ, nil, err
			}
		}
		part, err := p.inflate(in, e, head)
		if err != nil {
			return 0, nil, err
		}
		if e.typ != ofsDelta && e.typ != refDelta {
			typ, data = e.typ, part
			db.cache.put(cacheKey{owner: p, offset: at}, typ, data)
			break
		}
		if len(steps) >= maxDeltaDepth {
			return 0, nil, fmt.Errorf("%w: delta chain at %d of %q", ErrCorrupt, offset, p.path)
		}
		steps = append(steps, delta{at, part})
		if e.typ == ofsDelta {
			at = e.base
			continue
		}
		n, ok, err := p.index.find(e.ref)
		if err != nil {
			return 0, nil, err
		}
		if !ok {
			return 0, nil, fmt.Errorf("%w: base %x is not in %q", ErrCorrupt, e.ref, p.path)
		}
		if at, err = p.index.offset(n); err != nil {
			return 0, nil, err
		}
	}
	for i := len(steps) - 1; i >= 0; i-- {
		var err error
		if data, err = applyDelta(data, steps[i].data); err != nil {
			return 0, nil, fmt.Errorf("%q: %w", p.path, err)
		}
		db.cache.put(cacheKey{owner: p, offset: steps[i].offset}, typ, data)
	}
	return typ, data, nil
}

// within is ErrTooLarge when the object that e begins exceeds limit.
func (db *Database) within(in *inflater, p *pack, e entry, head []byte, limit int64) error {
	size := e.size
	if e.typ == ofsDelta || e.typ == refDelta {
		var err error
		if size, err = p.deltaSize(in, e, head); err != nil {
			return err
		}
	}
	if size > limit {
		return ErrTooLarge
	}
	return nil
}

// packedInfo follows deltas to the base for the type only.
func (db *Database) packedInfo(p *pack, offset int64) (Info, error) {
	in := inflaters.Get().(*inflater)
	defer in.release()
	size := int64(-1)
	for range maxDeltaDepth {
		if typ, data, ok := db.cache.get(cacheKey{owner: p, offset: offset}); ok {
			if size < 0 {
				size = int64(len(data))
			}
			return Info{typ, size}, nil
		}
		e, head, err := p.header(offset, in.buf[:])
		if err != nil {
			return Info{}, err
		}
		if e.typ != ofsDelta && e.typ != refDelta {
			if size < 0 {
				size = e.size
			}
			return Info{e.typ, size}, nil
		}
		if size < 0 {
			if size, err = p.deltaSize(in, e, head); err != nil {
				return Info{}, err
			}
		}
		offset = e.base
		if e.typ == refDelta {
			n, ok, err := p.index.find(e.ref)
			if err == nil && !ok {
				err = fmt.Errorf("%w: base %x is not in %q", ErrCorrupt, e.ref, p.path)
			}
			if err != nil {
				return Info{}, err
			}
			if offset, err = p.index.offset(n); err != nil {
				return Info{}, err
			}
		}
	}
	return Info{}, fmt.Errorf("%w: delta chain in %q", ErrCorrupt, p.path)
}
