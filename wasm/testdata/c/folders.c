// Folders: reading them, removing them, and what cannot be done with them.
#include "check.h"
#include <dirent.h>

struct entry {
	__wasi_dirent_t d;
	char name[64];
};

// list reads one buffer of 256 bytes of entries.
static int list(int dir, __wasi_dircookie_t cookie, struct entry *out, bool *eof) {
	uint8_t buf[256];
	__wasi_size_t used;
	OK(__wasi_fd_readdir(dir, buf, sizeof buf, cookie, &used));
	CHECK(used <= sizeof buf);
	int n = 0;
	for (size_t at = 0; at + sizeof(__wasi_dirent_t) <= used;) {
		memcpy(&out[n].d, buf + at, sizeof out[n].d);
		at += sizeof out[n].d;
		if (at + out[n].d.d_namlen > used)
			break;
		memset(out[n].name, 0, sizeof out[n].name);
		memcpy(out[n].name, buf + at, out[n].d.d_namlen);
		at += out[n].d.d_namlen;
		n++;
	}
	*eof = used < sizeof buf;
	return n;
}

static void reading(int dir) {
	struct entry e[16];
	bool eof;
	CHECK(list(dir, 0, e, &eof) == 2 && eof);
	CHECK(strcmp(e[0].name, ".") == 0 && e[0].d.d_type == __WASI_FILETYPE_DIRECTORY && e[0].d.d_ino == fdfilestat(dir).ino);
	CHECK(strcmp(e[1].name, "..") == 0 && e[1].d.d_type == __WASI_FILETYPE_DIRECTORY);
	create(dir, "file");
	CHECK(list(dir, 0, e, &eof) == 3 && eof);
	CHECK(strcmp(e[2].name, "file") == 0 && e[2].d.d_type == __WASI_FILETYPE_REGULAR_FILE);
	CHECK(e[2].d.d_ino == filestat(dir, 0, "file").ino);
	__wasi_dircookie_t next = e[1].d.d_next;
	CHECK(list(dir, next, e, &eof) == 1 && strcmp(e[0].name, "file") == 0);
	CHECK(list(dir, e[0].d.d_next, e, &eof) == 0 && eof);
	OK(__wasi_path_unlink_file(dir, "file"));

	const int many = 300;
	char name[32];
	for (int i = 0; i < many; i++) {
		snprintf(name, sizeof name, "file.%d", i);
		create(dir, name);
	}
	int total = 0;
	for (__wasi_dircookie_t cookie = 0;;) {
		int n = list(dir, cookie, e, &eof);
		total += n;
		if (eof || n == 0)
			break;
		cookie = e[n - 1].d.d_next;
	}
	CHECK(total == many + 2, "%d entries", total);
	// Removing what is read hides nothing of the rest.
	int gone = 0;
	for (__wasi_dircookie_t cookie = 0;;) {
		int n = list(dir, cookie, e, &eof);
		for (int i = 0; i < n; i++)
			if (e[i].name[0] != '.') {
				OK(__wasi_path_unlink_file(dir, e[i].name));
				gone++;
			}
		if (eof || n == 0)
			break;
		cookie = e[n - 1].d.d_next;
	}
	CHECK(gone == many, "%d removed", gone);
}

// What belongs to files is refused.
static void no_file(int dir) {
	char b[16];
	size_t n;
	__wasi_size_t m;
	__wasi_filesize_t at;
	__wasi_iovec_t r = {(uint8_t *)b, sizeof b};
	__wasi_ciovec_t w = {(uint8_t *)b, sizeof b};
	CHECK(fdfilestat(dir).filetype == __WASI_FILETYPE_DIRECTORY);
	ERR(rd(dir, b, sizeof b, &n), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_pread(dir, &r, 1, 0, &m), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(wr(dir, b, sizeof b, &n), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_pwrite(dir, &w, 1, 0, &m), E(ISDIR), E(BADF), E(NOTCAPABLE));
	for (int whence = 0; whence < 3; whence++)
		ERR(__wasi_fd_seek(dir, 0, whence, &at), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_tell(dir, &at), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_allocate(dir, 0, 1), E(ISDIR), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_filestat_set_size(dir, 0), E(ISDIR), E(INVAL), E(BADF), E(NOTCAPABLE));
	int fd;
	OK(__wasi_path_create_directory(dir, "d"));
	OK(open_at(dir, 0, "d", __WASI_OFLAGS_DIRECTORY, R(FD_SEEK), 0, &fd));
	ERR(__wasi_fd_seek(fd, 0, __WASI_WHENCE_CUR, &at), E(ISDIR), E(BADF), E(NOTCAPABLE));
	__wasi_fdstat_t st = fdstat(fd);
	CHECK(st.fs_filetype == __WASI_FILETYPE_DIRECTORY && (st.fs_rights_base & R(FD_SEEK)) == 0);
	OK(__wasi_fd_close(fd));
	OK(open_at(dir, 0, ".", 0, 0, __WASI_FDFLAGS_NONBLOCK, &fd));
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_remove_directory(dir, "d"));
	// The same number is a file from here on.
	create(dir, "f");
	OK(open_at(dir, 0, "f", 0, 0, 0, &fd));
	int in;
	ERR(open_at(fd, 0, "x", __WASI_OFLAGS_CREAT, 0, 0, &in), E(NOTDIR), E(NOTCAPABLE));
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void removing(int dir) {
	OK(__wasi_path_create_directory(dir, "d"));
	ERR(__wasi_path_create_directory(dir, "d"), E(EXIST));
	OK(__wasi_path_create_directory(dir, "d/n"));
	ERR(__wasi_path_remove_directory(dir, "d"), E(NOTEMPTY));
	ERR(__wasi_path_remove_directory(dir, "d/."), E(INVAL));
	ERR(__wasi_path_unlink_file(dir, "d"), E(ISDIR));
	ERR(__wasi_path_unlink_file(dir, "d/"), E(ISDIR));
	OK(__wasi_path_remove_directory(dir, "d/n"));
	ERR(__wasi_path_remove_directory(dir, "d/."), E(INVAL));
	OK(__wasi_path_remove_directory(dir, "d/"));
	ERR(__wasi_path_remove_directory(dir, "d"), E(NOENT));
	create(dir, "f");
	ERR(__wasi_path_remove_directory(dir, "f"), E(NOTDIR));
	ERR(__wasi_path_remove_directory(dir, "f/"), E(NOTDIR));
	ERR(__wasi_path_unlink_file(dir, "f/"), E(NOTDIR));
	OK(__wasi_path_unlink_file(dir, "f"));
	for (int i = 0; i < 2; i++) { // a name can be used again
		int fd;
		OK(__wasi_path_create_directory(dir, "d"));
		OK(open_at(dir, 0, "d", __WASI_OFLAGS_DIRECTORY, 0, 0, &fd));
		OK(__wasi_fd_close(fd));
		OK(__wasi_path_remove_directory(dir, "d"));
	}
}

static void libc(void) {
	CHECK(mkdir("dir", 0777) == 0);
	fclose(fopen("dir/file-0", "w"));
	fclose(fopen("dir/file-1", "w"));
	int dfd = open("dir", O_RDONLY | O_DIRECTORY), seen = 0;
	CHECK(dfd >= 0);
	DIR *d = fdopendir(dfd);
	CHECK(d != NULL);
	ino_t ino[2] = {0};
	for (struct dirent *e; (e = readdir(d)) != NULL;) {
		if (e->d_name[0] == '.')
			continue;
		struct stat st;
		CHECK(fstatat(dfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == e->d_ino);
		CHECK(strncmp(e->d_name, "file-", 5) == 0 && seen < 2);
		ino[seen++ & 1] = e->d_ino;
	}
	CHECK(seen == 2 && ino[0] != ino[1]);
	closedir(d);
	CHECK(rmdir("dir") == -1 && errno == ENOTEMPTY);
	CHECK(unlink("dir/file-0") == 0 && unlink("dir/file-1") == 0 && rmdir("dir") == 0);
	CHECK(open("nothing", O_RDONLY) == -1 && errno == ENOENT);
}

int main(void) {
	int dir = scratch("folders");
	reading(dir);
	no_file(dir);
	removing(dir);
	libc();
	return failed;
}
