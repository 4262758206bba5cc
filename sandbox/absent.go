package sandbox

import (
	"path"
	"strings"
)

// Absent returns one line about a command that agents often try and that the
// sandbox does not bring, with the nearest thing there is; "" for all other
// names. Name may be a path into a folder of programs. What stands in
// backquotes can be typed.
func Absent(name string) string {
	if dir, base := path.Split(name); dir == "/bin/" || dir == "/usr/bin/" || dir == "/usr/local/bin/" {
		name = base
	}
	if name == "" {
		return ""
	}
	for _, candidate := range []string{name, strings.TrimRight(name, "0123456789.-")} { // python3.12, gcc-13
		for _, row := range absent {
			for n := range strings.FieldsSeq(row.names) {
				if n == candidate {
					return "donax: " + name + ": not in the sandbox: " + strings.ReplaceAll(row.hint, "NAME", name)
				}
			}
		}
	}
	return ""
}

const (
	program  = "the operator can add a WebAssembly build with --program NAME=FILE.wasm"
	noSocket = "the only network is HTTP, by `curl` and `wget`, to hosts that the operator allows"
	noBuild  = "nothing is compiled here; " + program
	noSetup  = "nothing can be installed here; `ls /bin` shows what there is"
	oneUser  = "there is one user, and no other to become or to make"
	noSystem = "there are no services, devices or foreign processes here; `ps` lists the line's own"
)

// absent is what agents try. A test holds it against the commands of the box.
var absent = []struct{ names, hint string }{
	{"python python2 python3 ipython", "`awk`, `jq` and `bc` compute; " + program},
	{"pip pip3 pipx uv uvx poetry conda npm npx yarn pnpm gem bundle composer cpan", noSetup},
	{"apt apt-get apt-cache dpkg yum dnf rpm apk pacman brew snap flatpak nix", noSetup},
	{"node nodejs deno bun tsx ts-node", "`jq` transforms JSON; " + program},
	{"perl ruby php lua luajit tclsh Rscript julia", "`sed` and `awk` treat text; " + program},
	{"duckdb", "`sqlite3` is"},
	{"psql mysql mariadb mongo mongosh redis-cli", "no database is reached; " + noSocket},
	{"git svn hg jj", "history is neither read nor written here; `diff` and `patch` compare and apply"},
	{"gh glab hub aws gcloud az kubectl helm terraform ansible docker podman docker-compose", noSocket},
	{"make cmake ninja meson bazel gradle mvn ant just task", "run the steps as lines of the shell; " + noBuild},
	{"gcc g++ cc c++ clang clang++ ld as rustc cargo go gofmt java javac dotnet tsc swift zig ghc", noBuild},
	{"ssh scp sftp ftp telnet nc ncat netcat socat openssl", noSocket},
	{"rsync", "`cp -a` copies folders; " + noSocket},
	{"ping dig nslookup host traceroute whois ip ifconfig netstat ss nmap tcpdump", noSocket},
	{"http https httpie aria2c axel", "`curl` and `wget` make requests"},
	{"sudo su doas pkexec", oneUser + ": run the command without NAME"},
	{"useradd adduser usermod userdel groupadd passwd chsh", oneUser},
	{"vi vim nvim nano emacs pico code ed ex micro", "nothing is interactive; `sed -i` edits, `cat > FILE <<'EOF'` writes, `patch` applies"},
	{"man info apropos tldr help2man", "`COMMAND --help` tells the options of a command"},
	{"open xdg-open pbcopy pbpaste xclip xsel wl-copy notify-send osascript", "there is no desktop; write to a file or to standard output"},
	{"clear reset tput stty script expect dialog fzf", "nothing is interactive, and output is no terminal"},
	{"screen tmux", "`COMMAND &` runs in the background; terminals that name the same session share a shell"},
	{"crontab at batch", "nothing runs after the line; `sleep` waits"},
	{"systemctl service journalctl dmesg init reboot shutdown sysctl modprobe", noSystem},
	{"quota", "`df` and `df -i` show what files may take, and `du -sh` what they do"},
	{"pstree", "`ps -ef` lists what the line has started; there are no other processes"},
	{"w last finger", "`id` and `whoami` tell who runs this"},
	{"getfacl setfacl lsattr chattr setcap", "`chmod` sets permissions; there are no attributes and no capabilities"},
	{"top htop btop pgrep pkill killall pidof lsof strace ltrace gdb perf vmstat iostat", noSystem},
	{"mount umount losetup mkfs fdisk lsblk blkid mknod chroot unshare nsenter lscpu lspci lsusb", "folders are mounted by the operator, with --mount SRC[:DST]"},
	{"ffmpeg ffprobe convert magick identify sox exiftool pandoc pdftotext gs latex pdflatex", "no media or documents are converted here; `file` tells what a file is; " + program},
	{"recode uconv", "`iconv` converts text between encodings"},
	{"locale localectl getconf", "the locale is always C.UTF-8"},
	{"gpg age pass", "there are no keys here; `sha256sum` and `b2sum` make checksums"},
	{"hexyl", "`xxd` and `hexdump -C` are"},
	{"bat batcat ccat", "`cat -n` is"},
	{"fd fdfind locate mlocate", "`find` is"},
	{"exa eza lsd ll la", "`ls -la` is"},
	{"ag ack ack-grep ugrep", "`rg` and `grep -r` are"},
	{"sd", "`sed -E` is"},
	{"dc", "`bc` is"},
	{"mail sendmail mutt logger", noSocket},
	{"delta difft colordiff vimdiff sdiff diff3", "`diff` is, with -u or -y"},
	{"dust duf ncdu", "`du -h` is"},
	{"md5 shasum sha1 sha256 gmd5sum", "`md5sum`, `sha1sum` and `sha256sum` are"},
	{"gsed ggrep gtar gdate gfind gxargs gcp gls greadlink gsort", "the command without its first letter is, and it is GNU's"},
	{"zsh dash ksh fish csh tcsh ash busybox toybox pwsh powershell", "`bash` is"},
	{"xmllint xmlstarlet xq mlr xsv qsv csvcut csvkit", "`awk -F,` splits tables, `grep -o` finds in text, `jq` and `yq` read JSON and YAML"},
	{"7z 7za rar unrar lz4 lzma lzop brotli cpio ar", "`tar`, `zip`, `gzip`, `xz` and `zstd` are"},
	{"hostnamectl timedatectl lsb_release neofetch", "`uname -a`, `hostname` and `date` are"},
}
