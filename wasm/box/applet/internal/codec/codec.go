// Package codec opens and writes the compressions that the standard library
// lacks, xz and zstd, in the way that fits the sandbox: one thread, bounded
// memory.
package codec

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/donax-sh/donax/wasm/box/applet"
)

// Beginnings of the formats.
const (
	MagicXZ   = "\xFD7zXZ\x00"
	MagicZstd = "\x28\xB5\x2F\xFD"
)

// Errors about the data; others are those of the streams below.
var (
	ErrFormat    = errors.New("File format not recognized")
	ErrTruncated = errors.New("Unexpected end of input")
	ErrCorrupt   = errors.New("Compressed data is corrupt")
)

// maxWindow bounds what a zstd frame may ask for, in bytes; --long=27 of the
// tool is as much.
const maxWindow = 128 << 20

// NewXZReader returns the content of xz streams.
func NewXZReader(r io.Reader) (io.Reader, error) {
	z, err := xz.NewReader(&source{r: r})
	if err != nil {
		return nil, reason(err)
	}
	return checked{z}, nil
}

// NewZstdReader returns the content of zstd frames. Close it.
func NewZstdReader(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(&source{r: r}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, reason(err)
	}
	return closing{checked{z}, z}, nil
}

type closing struct {
	io.Reader
	z *zstd.Decoder
}

func (c closing) Close() error { c.z.Close(); return nil }

// source marks the errors of the stream below, to tell them from those about
// its content.
type source struct{ r io.Reader }

type sourceError struct{ error }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		err = sourceError{err}
	}
	return n, err
}

// checked translates the errors of a decoder.
type checked struct{ io.Reader }

func (c checked) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = reason(err)
	}
	return n, err
}

func reason(err error) error {
	var se sourceError
	switch {
	case errors.As(err, &se):
		return se.error
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.Is(err, zstd.ErrMagicMismatch), strings.Contains(err.Error(), "magic"):
		return ErrFormat
	}
	return ErrCorrupt
}

// XZOptions say how to write xz. The zero value is that of xz -6.
type XZOptions struct {
	Level int    // 0 to 9; the dictionary ends at 16 MiB
	Check string // crc32, crc64 (""), sha256 or none
}

// NewXZWriter writes xz. Close it.
func NewXZWriter(w io.Writer, o XZOptions) io.WriteCloser { return &xzWriter{w: w, o: o} }

// xzWriter waits for the first MiB: a dictionary larger than what there is to
// write would only cost time and memory.
type xzWriter struct {
	w    io.Writer
	o    XZOptions
	held []byte
	z    io.WriteCloser
}

const smallest = 1 << 20

func (x *xzWriter) Write(p []byte) (int, error) {
	if x.z == nil {
		if len(x.held)+len(p) < smallest {
			x.held = append(x.held, p...)
			return len(p), nil
		}
		if err := x.start(16 << 20); err != nil {
			return 0, err
		}
	}
	return x.z.Write(p)
}

func (x *xzWriter) start(most int) error {
	size := []int{256 << 10, 1 << 20, 2 << 20, 4 << 20, 4 << 20, 8 << 20, 8 << 20, 16 << 20, 16 << 20, 16 << 20}[x.o.Level]
	c := xz.WriterConfig{DictCap: min(size, most)}
	switch x.o.Check {
	case "crc32":
		c.CheckSum = xz.CRC32
	case "sha256":
		c.CheckSum = xz.SHA256
	case "none":
		c.NoCheckSum = true
	}
	var err error
	if x.z, err = c.NewWriter(x.w); err == nil {
		_, err = x.z.Write(x.held)
	}
	x.held = nil
	return err
}

func (x *xzWriter) Close() error {
	if x.z == nil {
		if err := x.start(max(64<<10, len(x.held))); err != nil {
			return err
		}
	}
	return x.z.Close()
}

// NewZstdWriter writes zstd of a level from 1 to 22, with or without a
// checksum. From 7 on levels are the same: harder ones need tables of 40 MB.
// Close it.
func NewZstdWriter(w io.Writer, level int, sum bool) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderLevel(min(zstd.EncoderLevelFromZstd(level), zstd.SpeedBetterCompression)), zstd.WithEncoderCRC(sum))
}

// Unpacked returns the content of what b reads when it is compressed, by any
// program that the box has, and else what b reads.
func Unpacked(b *bufio.Reader) (io.Reader, error) {
	head, _ := b.Peek(6)
	switch {
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		return gzip.NewReader(b)
	case bytes.HasPrefix(head, []byte("BZh")):
		return bzip2.NewReader(b), nil
	case Begins(head, MagicXZ):
		return NewXZReader(b)
	case Begins(head, MagicZstd):
		return NewZstdReader(b)
	}
	return b, nil
}

// Copy copies all, reading and writing 64 KiB at a time.
func Copy(w io.Writer, r io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, applet.BufSize))
}

// Begins tells whether what r reads next is magic.
func Begins(head []byte, magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }

// Replace makes the file to out of an open one by work, with its permissions
// and times. A file that could not be made whole is removed again.
func Replace(to string, from *os.File, info fs.FileInfo, work func(io.Writer, io.Reader) error) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = work(out, from)
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(to)
		return err
	}
	os.Chmod(to, info.Mode().Perm()) // where there are modes
	os.Chtimes(to, time.Time{}, info.ModTime())
	return nil
}
