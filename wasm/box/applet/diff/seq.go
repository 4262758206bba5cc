package diff

import "math"

// differ finds a shortest edit script between two sequences of line classes,
// by Myers' algorithm from both ends, as GNU diff does: of several shortest
// scripts it finds the same one.
type differ struct {
	x, y      []int32
	cx, cy    []bool // lines deleted and inserted
	fd, bd    []int
	off       int // of diagonals in fd and bd
	expensive int // after so many steps a good split will do
	minimal   bool
	indexX    []int32 // places in the whole files
	indexY    []int32
}

// changes compares two files given as classes: equal lines have equal
// numbers. It returns which lines of each are not in the other.
func changes(a, b []int32, classes int, minimal bool) (ca, cb []bool) {
	ca, cb = make([]bool, len(a)+2), make([]bool, len(b)+2) // with an end on both sides
	ca, cb = ca[1:], cb[1:]
	// Equal lines at both ends take no part.
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	d := &differ{cx: ca, cy: cb, minimal: minimal}
	// Lines that the other file lacks are changed for certain.
	inA, inB := make([]bool, classes), make([]bool, classes)
	for _, c := range a[start:endA] {
		inA[c] = true
	}
	for _, c := range b[start:endB] {
		inB[c] = true
	}
	for i := start; i < endA; i++ {
		if inB[a[i]] {
			d.x, d.indexX = append(d.x, a[i]), append(d.indexX, int32(i))
		} else {
			ca[i] = true
		}
	}
	for i := start; i < endB; i++ {
		if inA[b[i]] {
			d.y, d.indexY = append(d.y, b[i]), append(d.indexY, int32(i))
		} else {
			cb[i] = true
		}
	}
	n := len(d.x) + len(d.y) + 3
	d.fd, d.bd, d.off = make([]int, n), make([]int, n), len(d.y)+1
	d.expensive = 256
	for diags := n; diags != 0; diags >>= 2 {
		if d.expensive < 1<<30 {
			d.expensive = max(d.expensive, 1)
		}
	}
	if root := int(math.Sqrt(float64(n))); root > d.expensive {
		d.expensive = root
	}
	d.compare(0, len(d.x), 0, len(d.y))
	return ca, cb
}

func (d *differ) compare(xoff, xlim, yoff, ylim int) {
	for {
		for xoff < xlim && yoff < ylim && d.x[xoff] == d.y[yoff] {
			xoff++
			yoff++
		}
		for xoff < xlim && yoff < ylim && d.x[xlim-1] == d.y[ylim-1] {
			xlim--
			ylim--
		}
		if xoff == xlim {
			for ; yoff < ylim; yoff++ {
				d.cy[d.indexY[yoff]] = true
			}
			return
		}
		if yoff == ylim {
			for ; xoff < xlim; xoff++ {
				d.cx[d.indexX[xoff]] = true
			}
			return
		}
		x, y := d.middle(xoff, xlim, yoff, ylim)
		d.compare(xoff, x, yoff, y)
		xoff, yoff = x, y
	}
}

// middle finds a point on a shortest path.
func (d *differ) middle(xoff, xlim, yoff, ylim int) (x, y int) {
	fd, bd, o := d.fd, d.bd, d.off
	dmin, dmax := xoff-ylim, xlim-yoff
	fmid, bmid := xoff-yoff, xlim-ylim
	fmin, fmax, bmin, bmax := fmid, fmid, bmid, bmid
	odd := (fmid-bmid)&1 != 0
	fd[o+fmid], bd[o+bmid] = xoff, xlim
	for c := 1; ; c++ {
		if fmin > dmin {
			fmin--
			fd[o+fmin-1] = -1
		} else {
			fmin++
		}
		if fmax < dmax {
			fmax++
			fd[o+fmax+1] = -1
		} else {
			fmax--
		}
		for k := fmax; k >= fmin; k -= 2 {
			lo, hi := fd[o+k-1], fd[o+k+1]
			x := lo + 1
			if lo < hi {
				x = hi
			}
			y := x - k
			for x < xlim && y < ylim && d.x[x] == d.y[y] {
				x++
				y++
			}
			fd[o+k] = x
			if odd && bmin <= k && k <= bmax && bd[o+k] <= x {
				return x, y
			}
		}
		if bmin > dmin {
			bmin--
			bd[o+bmin-1] = math.MaxInt
		} else {
			bmin++
		}
		if bmax < dmax {
			bmax++
			bd[o+bmax+1] = math.MaxInt
		} else {
			bmax--
		}
		for k := bmax; k >= bmin; k -= 2 {
			lo, hi := bd[o+k-1], bd[o+k+1]
			x := hi - 1
			if lo < hi {
				x = lo
			}
			y := x - k
			for xoff < x && yoff < y && d.x[x-1] == d.y[y-1] {
				x--
				y--
			}
			bd[o+k] = x
			if !odd && fmin <= k && k <= fmax && x <= fd[o+k] {
				return x, y
			}
		}
		if !d.minimal && c >= d.expensive {
			return d.enough(xoff, xlim, yoff, ylim, fmin, fmax, bmin, bmax)
		}
	}
}

// enough splits where the search has come furthest: a script that is not the
// shortest, in time.
func (d *differ) enough(xoff, xlim, yoff, ylim, fmin, fmax, bmin, bmax int) (int, int) {
	fbest, fx := -1, 0
	for k := fmax; k >= fmin; k -= 2 {
		x := min(d.fd[d.off+k], xlim)
		y := x - k
		if ylim < y {
			x, y = ylim+k, ylim
		}
		if fbest < x+y {
			fbest, fx = x+y, x
		}
	}
	bbest, bx := math.MaxInt, 0
	for k := bmax; k >= bmin; k -= 2 {
		x := max(xoff, d.bd[d.off+k])
		y := x - k
		if y < yoff {
			x, y = yoff+k, yoff
		}
		if x+y < bbest {
			bbest, bx = x+y, x
		}
	}
	if xlim+ylim-bbest < fbest-(xoff+yoff) {
		return fx, fbest - fx
	}
	return bx, bbest - bx
}

// shift moves runs of changed lines where they may as well stand: together,
// beside changes of the other file, and else as far down as they go.
func shift(lines []int32, changed, other []bool) {
	at := func(s []bool, i int) bool { return i >= 0 && i < len(s) && s[i] }
	i, j, end := 0, 0, len(lines)
	for {
		for i < end && !changed[i] {
			for at(other, j) {
				j++
			}
			j++
			i++
		}
		if i == end {
			return
		}
		start := i
		for i++; at(changed, i); i++ {
		}
		for at(other, j) {
			j++
		}
		for {
			length := i - start
			for start > 0 && lines[start-1] == lines[i-1] {
				start--
				changed[start] = true
				i--
				changed[i] = false
				for at(changed, start-1) {
					start--
				}
				for j--; at(other, j); j-- {
				}
			}
			match := end
			if at(other, j-1) {
				match = i
			}
			for i != end && lines[start] == lines[i] {
				changed[start] = false
				start++
				changed[i] = true
				i++
				for at(changed, i) {
					i++
				}
				for j++; at(other, j); j++ {
					match = i
				}
			}
			if length == i-start {
				for match < i {
					start--
					changed[start] = true
					i--
					changed[i] = false
					for j--; at(other, j); j-- {
					}
				}
				break
			}
		}
	}
}

// change is a run of lines deleted and inserted at one place.
type change struct {
	a, b       int // first line in each file, from 0
	dels, adds int
}

func script(ca, cb []bool, na, nb int) []change {
	var out []change
	for i, j := 0, 0; i < na || j < nb; {
		if !(i < na && ca[i]) && !(j < nb && cb[j]) {
			i++
			j++
			continue
		}
		c := change{a: i, b: j}
		for i < na && ca[i] {
			i++
		}
		for j < nb && cb[j] {
			j++
		}
		c.dels, c.adds = i-c.a, j-c.b
		out = append(out, c)
	}
	return out
}
