package file

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"time"
)

func itoa[T ~uint8 | ~uint16 | ~uint32 | ~int](n T) string { return strconv.Itoa(int(n)) }

// A magic is a format that its first bytes tell.
type magic struct {
	at         int
	bytes      string
	text, mime string
	more       func(data []byte) string // what is said after text
}

var magics = []magic{
	{0, "\x1f\x8b", "gzip compressed data", "application/gzip", gzip},
	{0, "BZh", "bzip2 compressed data, block size = ", "application/x-bzip2", func(d []byte) string { return string(d[3:min(4, len(d))]) + "00k" }},
	{0, "\xfd7zXZ\x00", "XZ compressed data", "application/x-xz", xz},
	{0, "\x28\xb5\x2f\xfd", "Zstandard compressed data (v0.8+)", "application/zstd", nil},
	{0, "7z\xbc\xaf\x27\x1c", "7-zip archive data", "application/x-7z-compressed", func(d []byte) string {
		if len(d) < 8 {
			return ""
		}
		return ", version " + itoa(d[6]) + "." + itoa(d[7])
	}},
	{0, "PK\x03\x04", "Zip archive data", "application/zip", zip},
	{0, "PK\x05\x06", "Zip archive data (empty)", "application/zip", nil},
	{257, "ustar  \x00", "POSIX tar archive (GNU)", "application/x-tar", nil},
	{257, "ustar\x00", "POSIX tar archive", "application/x-tar", nil},
	{0, "\x89PNG\r\n\x1a\n", "PNG image data", "image/png", png},
	{0, "GIF8", "GIF image data", "image/gif", func(d []byte) string {
		if len(d) < 10 {
			return ""
		}
		return ", version " + string(d[3:6]) + ", " + itoa(binary.LittleEndian.Uint16(d[6:])) + " x " + itoa(binary.LittleEndian.Uint16(d[8:]))
	}},
	{0, "\xff\xd8\xff", "JPEG image data", "image/jpeg", nil},
	{0, "%PDF-", "PDF document, version ", "application/pdf", func(d []byte) string {
		if len(d) < 8 {
			return ""
		}
		return string(d[5:8])
	}},
	{0, "\x00asm", "WebAssembly (wasm) binary module version ", "application/wasm", func(d []byte) string {
		if len(d) < 8 {
			return "?"
		}
		v := binary.LittleEndian.Uint32(d[4:])
		s := "0x" + strconv.FormatUint(uint64(v), 16)
		if v == 1 {
			s += " (MVP)"
		}
		return s
	}},
	{0, "\x7fELF", "ELF", "application/x-executable", elf},
	{0, "SQLite format 3\x00", "SQLite 3.x database", "application/vnd.sqlite3", nil},
	{0, "!<arch>\n", "current ar archive", "application/x-archive", nil},
	{0, "RIFF", "RIFF (little-endian) data", "application/octet-stream", nil},
	{0, "OggS", "Ogg data", "application/ogg", nil},
	{0, "\xca\xfe\xba\xbe", "compiled Java class data", "application/x-java-applet", nil},
}

// format recognizes what is no text.
func format(data []byte) (kind, bool) {
	for _, m := range magics {
		if len(data) < m.at || !bytes.HasPrefix(data[m.at:], []byte(m.bytes)) {
			continue
		}
		text := m.text
		if m.more != nil {
			text += m.more(data)
		}
		return binaryKind(text, m.mime), true
	}
	return kind{}, false
}

func gzip(d []byte) string {
	if len(d) < 18 {
		return ""
	}
	var s strings.Builder
	flags := d[3]
	at := 10
	if flags&4 != 0 && len(d) > at+2 {
		at += 2 + int(binary.LittleEndian.Uint16(d[at:]))
	}
	if flags&8 != 0 && at < len(d) {
		if name, _, ok := bytes.Cut(d[at:], []byte{0}); ok {
			s.WriteString(`, was "` + string(name) + `"`)
		}
	}
	if t := binary.LittleEndian.Uint32(d[4:]); t != 0 {
		s.WriteString(", last modified: " + time.Unix(int64(t), 0).UTC().Format("Mon Jan _2 15:04:05 2006"))
	}
	switch d[8] {
	case 2:
		s.WriteString(", max compression")
	case 4:
		s.WriteString(", max speed")
	}
	switch d[9] {
	case 0:
		s.WriteString(", from FAT filesystem (MS-DOS, OS/2, NT)")
	case 3:
		s.WriteString(", from Unix")
	}
	s.WriteString(", original size modulo 2^32 " + strconv.FormatUint(uint64(binary.LittleEndian.Uint32(d[len(d)-4:])), 10))
	return s.String()
}

func xz(d []byte) string {
	if len(d) < 8 {
		return ""
	}
	switch d[7] & 15 {
	case 0:
		return ", checksum NONE"
	case 1:
		return ", checksum CRC32"
	case 4:
		return ", checksum CRC64"
	case 10:
		return ", checksum SHA-256"
	}
	return ""
}

func zip(d []byte) string {
	if len(d) < 10 {
		return ""
	}
	s := ", at least v" + itoa(d[4]/10) + "." + itoa(d[4]%10) + " to extract, compression method="
	switch binary.LittleEndian.Uint16(d[8:]) {
	case 0:
		return s + "store"
	case 8:
		return s + "deflate"
	}
	return s + "[" + itoa(binary.LittleEndian.Uint16(d[8:])) + "]"
}

func png(d []byte) string {
	if len(d) < 29 {
		return ""
	}
	colors := map[byte]string{0: "grayscale", 2: "/color RGB", 3: " colormap", 4: " gray+alpha", 6: "/color RGBA"}
	color := colors[d[25]]
	if d[25] == 0 {
		color = " grayscale"
	}
	s := ", " + itoa(binary.BigEndian.Uint32(d[16:])) + " x " + itoa(binary.BigEndian.Uint32(d[20:])) + ", " + itoa(d[24]) + "-bit" + color
	if d[28] == 0 {
		return s + ", non-interlaced"
	}
	return s + ", interlaced"
}

// elf names class, order, type and machine; what hangs on the sections is left
// out.
func elf(d []byte) string {
	if len(d) < 20 {
		return ""
	}
	var order binary.ByteOrder = binary.LittleEndian
	class, end := " 64-bit", " LSB"
	if d[4] == 1 {
		class = " 32-bit"
	}
	if d[5] == 2 {
		order, end = binary.BigEndian, " MSB"
	}
	kinds := map[uint16]string{1: " relocatable", 2: " executable", 3: " shared object", 4: " core file"}
	machines := map[uint16]string{3: ", Intel 80386", 40: ", ARM", 62: ", x86-64", 183: ", ARM aarch64", 243: ", UCB RISC-V"}
	return class + end + kinds[order.Uint16(d[16:])] + machines[order.Uint16(d[18:])] + ", version " + itoa(d[6])
}
