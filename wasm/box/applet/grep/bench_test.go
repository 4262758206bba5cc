package grep

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/donax-sh/donax/wasm/box/applet"
)

func BenchmarkGrep(b *testing.B) {
	var data bytes.Buffer
	for i := 0; data.Len() < 1<<20; i++ {
		fmt.Fprintf(&data, "2026-11-%02d 10:00:%02d INFO request id=%d path=/api/v1/items/%d status=%d\n", i%30, i%60, i, i%97, 200+i%7*50)
	}
	for _, args := range [][]string{
		{"-c", "items/96 status=500"}, {"-cE", "status=(404|500)$"}, {"-ci", "ITEMS/96 "}, {"-cE", "id=[0-9]+7 "},
		{"-c", `\(.\)\1\1\1`}, {"-cP", `\d{3}7\b`}, {"-o", "id=[0-9]*"}, {"-cw", "500"}, {"-v", "INFO"}, {"-n", "status=5"},
	} {
		b.Run(fmt.Sprint(args), func(b *testing.B) {
			b.SetBytes(int64(data.Len()))
			for range b.N {
				out := bufio.NewWriter(io.Discard)
				Command.Run(&applet.Ctx{Cmd: Command, Args: args, Stdin: bytes.NewReader(data.Bytes()), Stdout: out, Stderr: io.Discard})
			}
		})
	}
}
