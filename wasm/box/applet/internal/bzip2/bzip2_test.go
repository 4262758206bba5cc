package bzip2_test

import (
	"bytes"
	stdlib "compress/bzip2"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet/internal/bzip2"
)

func compress(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	z := bzip2.NewWriter(&out, level)
	for rest := data; len(rest) > 0; { // in pieces: runs cross them
		n := min(len(rest), 1+len(rest)/3)
		if _, err := z.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// inputs are texts that are hard for one part of the writer or another.
func inputs() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	fib := []string{"a", "b"}
	for len(fib[1]) < 150_000 {
		fib = []string{fib[1], fib[1] + fib[0]}
	}
	skewed := make([]byte, 0, 200_000) // frequencies that double want codes longer than there are
	for c := range 24 {
		skewed = append(skewed, bytes.Repeat([]byte{byte(c), byte(255 - c)}, min(1<<c, 20_000))...)
	}
	r.Shuffle(len(skewed), func(i, j int) { skewed[i], skewed[j] = skewed[j], skewed[i] })
	all := map[string][]byte{
		"empty": nil, "byte": {0}, "two": []byte("ab"), "same": []byte("aa"), "noise": noise, "fibonacci": []byte(fib[1]), "skewed": skewed,
		"period": bytes.Repeat([]byte("abc"), 50_000), "zeros": make([]byte, 1_000_000), "lines": []byte(strings.Repeat("the same line again\n", 20_000)),
	}
	for _, n := range []int{3, 4, 5, 254, 255, 256, 259, 260, 511} {
		all["run"+string(rune('A'+n%26))] = append(bytes.Repeat([]byte{'x'}, n), 'y')
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	for name, data := range inputs() {
		for _, level := range []int{1, 9} {
			got, err := io.ReadAll(stdlib.NewReader(bytes.NewReader(compress(t, data, level))))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s, level %d: %v, %d bytes of %d", name, level, err, len(got), len(data))
			}
		}
	}
}

// TestAgainstBzip2 holds what is written against what bzip2 writes: it reads
// it, and it is at most a hundredth longer.
func TestAgainstBzip2(t *testing.T) {
	tool, err := exec.LookPath("bzip2")
	if err != nil {
		if os.Getenv("DONAX_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for name, data := range inputs() {
		ours := compress(t, data, 9)
		cmd := exec.Command(tool, "-t")
		cmd.Stdin = bytes.NewReader(ours)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		cmd = exec.Command(tool, "-c")
		cmd.Stdin = bytes.NewReader(data)
		theirs, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if len(ours) > len(theirs)+len(theirs)/100+2 {
			t.Errorf("%s: %d bytes, bzip2 makes %d", name, len(ours), len(theirs))
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abracadabra"), uint8(3))
	f.Add(bytes.Repeat([]byte("ab"), 300), uint8(200))
	f.Fuzz(func(t *testing.T, data []byte, times uint8) {
		data = bytes.Repeat(data, int(times)+1)
		got, err := io.ReadAll(stdlib.NewReader(bytes.NewReader(compress(t, data, 1))))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%v, %d bytes of %d", err, len(got), len(data))
		}
	})
}
