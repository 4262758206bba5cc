package jqlang

import (
	"errors"
	"io"
	"math"
)

type specialFunc = func(in *Interp, n *node, e *env, v any, p *path, y yield) error

// specialTable are the functions that evaluate their arguments themselves.
func specialTable() map[string]specialFunc {
	return map[string]specialFunc{
		"empty/0":   func(*Interp, *node, *env, any, *path, yield) error { return nil },
		"select/1":  selectFunc,
		"recurse/0": func(in *Interp, n *node, e *env, v any, p *path, y yield) error { return in.recurse(v, p, y) },
		"recurse/1": recurseBy,
		"path/1":    pathFunc,
		"paths/0":   pathsFunc,
		"del/1":     delFunc,
		"first/1": func(in *Interp, n *node, e *env, v any, p *path, y yield) error {
			return in.take(n.args[0], e, v, p, 1, y)
		},
		"limit/2":  limitFunc,
		"until/2":  untilFunc,
		"while/2":  whileFunc,
		"repeat/1": repeatFunc,
		"range/1":  range1,
		"range/2":  range2,
		"range/3":  range3,
		"input/0":  inputFunc,
		"inputs/0": inputsFunc,
		"error/0":  func(in *Interp, n *node, e *env, v any, p *path, y yield) error { return &ValueError{v} },
		"error/1": func(in *Interp, n *node, e *env, v any, p *path, y yield) error {
			return in.each(n.args[0], e, v, func(x any) error { return &ValueError{x} })
		},
		"isempty/1":      isEmptyFunc,
		"any/2":          anyAll(true),
		"all/2":          anyAll(false),
		"sort_by/1":      byFunc(sortBy),
		"group_by/1":     byFunc(groupBy),
		"unique_by/1":    byFunc(uniqueBy),
		"min_by/1":       byFunc(minBy),
		"max_by/1":       byFunc(maxBy),
		"map_values/1":   mapValues,
		"debug/0":        debugFunc,
		"debug/1":        debugMessage,
		"stderr/0":       stderrFunc,
		"halt/0":         func(*Interp, *node, *env, any, *path, yield) error { return &Halt{Quiet: true} },
		"halt_error/0":   func(in *Interp, n *node, e *env, v any, p *path, y yield) error { return &Halt{Value: v, Status: 5} },
		"halt_error/1":   haltError,
		"with_entries/1": withEntries,
	}
}

func (in *Interp) each(n *node, e *env, v any, f func(any) error) error {
	return in.eval(n, e, v, nil, func(x any, _ *path) error { return f(x) })
}

func selectFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.each(n.args[0], e, v, func(c any) error {
		if truthy(c) {
			return y(v, p)
		}
		return nil
	})
}

func recurseBy(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	if in.depth++; in.depth > maxDepth {
		return errDepth
	}
	defer func() { in.depth-- }()
	for { // the common case, one successor, does not nest
		if err := y(v, p); err != nil {
			return err
		}
		if p == nil && n.args[0].single {
			r, err := in.one(n.args[0], e, v)
			if err != nil {
				return err
			}
			v = r
			continue
		}
		return in.eval(n.args[0], e, v, p, func(v any, p *path) error { return recurseBy(in, n, e, v, p, y) })
	}
}

func pathFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.eval(n.args[0], e, v, root, func(r any, q *path) error {
		if q == nowhere {
			return fail("Invalid path expression with result ", cut(r))
		}
		return y(q.slice(), p.lost())
	})
}

func pathsFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.recurse(v, root, func(_ any, q *path) error {
		if q == root {
			return nil
		}
		return y(q.slice(), p.lost())
	})
}

func delFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	paths, err := in.paths(n.args[0], e, v)
	if err != nil {
		return err
	}
	r, err := deletePaths(v, paths)
	if err != nil {
		return err
	}
	return y(r, p.lost())
}

// take yields the first results of n, as many as count.
func (in *Interp) take(n *node, e *env, v any, p *path, count int, y yield) error {
	if count <= 0 {
		return nil
	}
	stop := &stopError{}
	err := in.eval(n, e, v, p, func(r any, p *path) error {
		count--
		if err := y(r, p); err != nil {
			return err
		}
		if count == 0 {
			return stop
		}
		return nil
	})
	if err == error(stop) {
		return nil
	}
	return err
}

func limitFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.each(n.args[0], e, v, func(c any) error {
		f, ok := num(c)
		if !ok {
			return fail("Invalid limit: ", show(c))
		}
		if f < 0 {
			return in.eval(n.args[1], e, v, p, y)
		}
		return in.take(n.args[1], e, v, p, int(math.Ceil(math.Min(f, math.MaxInt32))), y)
	})
}

func untilFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	for {
		done, ok, err := in.first(n.args[0], e, v)
		if err != nil || !ok {
			return err
		}
		if truthy(done) {
			return y(v, p.lost())
		}
		if v, ok, err = in.first(n.args[1], e, v); err != nil || !ok {
			return err
		}
	}
}

func whileFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	for {
		more, ok, err := in.first(n.args[0], e, v)
		if err != nil || !ok || !truthy(more) {
			return err
		}
		if err := y(v, p.lost()); err != nil {
			return err
		}
		if n.args[1].single {
			if v, err = in.one(n.args[1], e, v); err != nil {
				return err
			}
			continue
		}
		return in.eval(n.args[1], e, v, nil, func(v any, _ *path) error { return whileFunc(in, n, e, v, p, y) })
	}
}

// repeatFunc is def r: f | (., r); r.
func repeatFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	if in.depth++; in.depth > maxDepth {
		return errDepth
	}
	defer func() { in.depth-- }()
	for {
		if n.args[0].single {
			r, err := in.one(n.args[0], e, v)
			if err != nil {
				return err
			}
			if err := y(r, p.lost()); err != nil {
				return err
			}
			v = r
			continue
		}
		return in.each(n.args[0], e, v, func(v any) error {
			if err := y(v, p.lost()); err != nil {
				return err
			}
			return repeatFunc(in, n, e, v, p, y)
		})
	}
}

func span(from, to, by float64, p *path, y yield) error {
	if by == 0 {
		if from < to {
			for {
				if err := y(from, p.lost()); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for x := from; by > 0 && x < to || by < 0 && x > to; x += by {
		if err := y(x, p.lost()); err != nil {
			return err
		}
	}
	return nil
}

func (in *Interp) number(n *node, e *env, v any, f func(float64) error) error {
	return in.each(n, e, v, func(x any) error {
		d, ok := num(x)
		if !ok {
			return fail("Range bounds must be numeric")
		}
		return f(d)
	})
}

func range1(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.number(n.args[0], e, v, func(to float64) error { return span(0, to, 1, p, y) })
}

func range2(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.number(n.args[0], e, v, func(from float64) error {
		return in.number(n.args[1], e, v, func(to float64) error { return span(from, to, 1, p, y) })
	})
}

func range3(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.number(n.args[0], e, v, func(from float64) error {
		return in.number(n.args[1], e, v, func(to float64) error {
			return in.number(n.args[2], e, v, func(by float64) error { return span(from, to, by, p, y) })
		})
	})
}

func inputFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	x, err := in.next()
	if err == io.EOF {
		return fail("No more inputs")
	}
	if err != nil {
		return err
	}
	return y(x, p.lost())
}

func (in *Interp) next() (any, error) {
	if in.Inputs == nil {
		return nil, io.EOF
	}
	return in.Inputs()
}

func inputsFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	for {
		x, err := in.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := y(x, p.lost()); err != nil {
			return err
		}
	}
}

func isEmptyFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	_, found, err := in.first(n.args[0], e, v)
	if err != nil {
		return err
	}
	return y(!found, p.lost())
}

func anyAll(want bool) specialFunc {
	return func(in *Interp, n *node, e *env, v any, p *path, y yield) error {
		stop := &stopError{}
		err := in.each(n.args[0], e, v, func(x any) error {
			return in.each(n.args[1], e, x, func(c any) error {
				if truthy(c) == want {
					return stop
				}
				return nil
			})
		})
		if err != nil && err != error(stop) {
			return err
		}
		return y((err != nil) == want, p.lost())
	}
}

// mapValues is .[] |= f.
func mapValues(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	r, err := changeEach(v, func(x any) (any, bool, error) { return in.first(n.args[0], e, x) })
	if err != nil {
		return err
	}
	return y(r, p.lost())
}

func withEntries(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	entries, err := toEntries(in, v, nil)
	if err != nil {
		return err
	}
	var out []any
	for _, x := range entries.([]any) {
		if err := in.each(n.args[0], e, x, func(r any) error { out = append(out, r); return nil }); err != nil {
			return err
		}
	}
	r, err := fromEntries(in, out, nil)
	if err != nil {
		return err
	}
	return y(r, p.lost())
}

// byFunc is a function that orders an array by the results of its argument.
func byFunc(f func(items []any, keys [][]any) any) specialFunc {
	return func(in *Interp, n *node, e *env, v any, p *path, y yield) error {
		a, ok := v.([]any)
		if !ok {
			return fail("Cannot iterate over ", show(v))
		}
		keys := make([][]any, len(a))
		for i, x := range a {
			if err := in.each(n.args[0], e, x, func(k any) error { keys[i] = append(keys[i], k); return nil }); err != nil {
				return err
			}
		}
		return y(f(a, keys), p.lost())
	}
}

func debugFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	in.debug(v)
	return y(v, p)
}

func (in *Interp) debug(v any) {
	if in.Stderr != nil {
		in.Stderr.Write(append(Encode(nil, []any{"DEBUG:", v}, Style{}), '\n'))
	}
}

func debugMessage(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	if err := in.each(n.args[0], e, v, func(x any) error { in.debug(x); return nil }); err != nil {
		return err
	}
	return y(v, p)
}

func stderrFunc(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	if in.Stderr != nil {
		in.Stderr.Write(Encode(nil, v, Style{}))
	}
	return y(v, p)
}

func haltError(in *Interp, n *node, e *env, v any, p *path, y yield) error {
	return in.each(n.args[0], e, v, func(c any) error {
		f, ok := num(c)
		if !ok {
			return fail("halt_error/1: number required")
		}
		return &Halt{Value: v, Status: int(f)}
	})
}

// IsStop tells whether err is only the end of an evaluation that was cut
// short: a break out of nowhere.
func IsStop(err error) bool {
	var b *breakError
	return errors.As(err, &b)
}
