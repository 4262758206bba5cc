package jqlang

import "math"

// mathTable are the functions of numbers that come from the C library.
func mathTable() map[string]nativeFunc {
	out := map[string]nativeFunc{}
	for name, f := range map[string]func(float64) float64{
		"floor": math.Floor, "ceil": math.Ceil, "round": math.Round, "trunc": math.Trunc, "sqrt": math.Sqrt, "cbrt": math.Cbrt,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
		"exp": math.Exp, "exp2": math.Exp2, "expm1": math.Expm1, "exp10": func(f float64) float64 { return math.Pow(10, f) }, "pow10": func(f float64) float64 { return math.Pow(10, f) },
		"log": math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p, "logb": math.Logb,
		"fabs": math.Abs, "rint": math.RoundToEven, "nearbyint": math.RoundToEven, "gamma": lgamma, "lgamma": lgamma, "lgamma_r": lgamma, "tgamma": math.Gamma,
		"j0": math.J0, "j1": math.J1, "y0": math.Y0, "y1": math.Y1,
		"significand": func(f float64) float64 {
			if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
				return f
			}
			m, _ := math.Frexp(f)
			return 2 * m
		},
	} {
		out[name+"/0"] = func(_ *Interp, v any, _ []any) (any, error) {
			x, ok := num(v)
			if !ok {
				return nil, fail(show(v), " number required")
			}
			return f(x), nil
		}
	}
	for name, f := range map[string]func(a, b float64) float64{
		"pow": math.Pow, "atan2": math.Atan2, "fmin": math.Min, "fmax": math.Max, "fmod": math.Mod, "hypot": math.Hypot,
		"copysign": math.Copysign, "nextafter": math.Nextafter, "nexttoward": math.Nextafter, "drem": math.Remainder,
		"ldexp": func(a, b float64) float64 { return math.Ldexp(a, int(b)) }, "scalb": func(a, b float64) float64 { return math.Ldexp(a, int(b)) },
		"scalbln": func(a, b float64) float64 { return math.Ldexp(a, int(b)) }, "fdim": math.Dim,
	} {
		out[name+"/2"] = func(_ *Interp, _ any, a []any) (any, error) {
			x, ok1 := num(a[0])
			y, ok2 := num(a[1])
			if !ok1 {
				return nil, fail(show(a[0]), " number required")
			}
			if !ok2 {
				return nil, fail(show(a[1]), " number required")
			}
			return f(x, y), nil
		}
	}
	out["fma/3"] = func(_ *Interp, _ any, a []any) (any, error) {
		x, ok1 := num(a[0])
		y, ok2 := num(a[1])
		z, ok3 := num(a[2])
		if !ok1 || !ok2 || !ok3 {
			return nil, fail("number required")
		}
		return math.FMA(x, y, z), nil
	}
	split := func(f func(float64) (float64, float64)) nativeFunc {
		return func(_ *Interp, v any, _ []any) (any, error) {
			x, ok := num(v)
			if !ok {
				return nil, fail(show(v), " number required")
			}
			a, b := f(x)
			return []any{a, b}, nil
		}
	}
	out["frexp/0"] = split(func(x float64) (float64, float64) { m, e := math.Frexp(x); return m, float64(e) })
	out["modf/0"] = split(func(x float64) (float64, float64) { i, f := math.Modf(x); return f, i })
	return out
}

func lgamma(f float64) float64 {
	r, _ := math.Lgamma(f)
	return r
}
