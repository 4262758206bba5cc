// Files: sizes, positions, flags, truncation, appending.
#include "check.h"

static void advise_allocate(int dir) {
	int fd;
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE) | R(FD_ADVISE) | R(FD_FILESTAT_GET) | R(FD_FILESTAT_SET_SIZE) | R(FD_ALLOCATE), 0, &fd));
	CHECK(fdfilestat(fd).size == 0);
	OK(__wasi_fd_filestat_set_size(fd, 100));
	CHECK(fdfilestat(fd).size == 100);
	OK(__wasi_fd_advise(fd, 10, 50, __WASI_ADVICE_NORMAL));
	ERR(__wasi_fd_advise(fd, 10, 50, 17), E(INVAL));
	CHECK(fdfilestat(fd).size == 100);
	OK(__wasi_fd_allocate(fd, 100, 100));
	CHECK(fdfilestat(fd).size == 200);
	OK(__wasi_fd_allocate(fd, 10, 10));
	CHECK(fdfilestat(fd).size == 200);
	OK(__wasi_fd_allocate(fd, 190, 20));
	CHECK(fdfilestat(fd).size == 210);
	OK(__wasi_fd_sync(fd));
	OK(__wasi_fd_datasync(fd));
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void positions(int dir) {
	int fd;
	size_t n;
	__wasi_filesize_t at;
	char data[100] = {0}, back[100];
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE) | R(FD_SEEK) | R(FD_TELL), 0, &fd));
	OK(__wasi_fd_tell(fd, &at));
	CHECK(at == 0);
	OK(wr(fd, data, sizeof data, NULL));
	OK(__wasi_fd_tell(fd, &at));
	CHECK(at == 100);
	OK(__wasi_fd_seek(fd, -50, __WASI_WHENCE_CUR, &at));
	CHECK(at == 50);
	OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
	CHECK(at == 0);
	OK(__wasi_fd_seek(fd, 1000, __WASI_WHENCE_CUR, &at));
	CHECK(at == 1000);
	ERR(__wasi_fd_seek(fd, -2000, __WASI_WHENCE_CUR, &at), E(INVAL));
	ERR(__wasi_fd_seek(fd, 0, 9, &at), E(INVAL));
	OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
	OK(rd(fd, back, sizeof back, &n));
	CHECK(n == 100);
	OK(__wasi_fd_tell(fd, &at));
	CHECK(at == 100);
	OK(rd(fd, back, sizeof back, &n));
	CHECK(n == 0);
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void at_offsets(int dir) {
	int fd;
	__wasi_size_t n;
	__wasi_filesize_t at;
	unsigned char b[4] = {0, 1, 2, 3}, back[4] = {9, 9, 9, 9};
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_SEEK) | R(FD_TELL) | R(FD_WRITE), 0, &fd));
	__wasi_ciovec_t w[2] = {{b, 2}, {b + 2, 2}};
	__wasi_iovec_t r[2] = {{back, 2}, {back + 2, 2}};
	OK(__wasi_fd_pwrite(fd, w, 2, 0, &n));
	CHECK(n == 4);
	OK(__wasi_fd_pread(fd, r, 2, 0, &n));
	CHECK(n == 4 && memcmp(b, back, 4) == 0);
	OK(__wasi_fd_tell(fd, &at));
	CHECK(at == 0, "at offsets, the position moved");
	__wasi_iovec_t whole = {back, 4};
	memset(back, 0, 4);
	OK(__wasi_fd_pread(fd, &whole, 1, 2, &n));
	CHECK(n == 2 && back[0] == 2 && back[1] == 3 && back[2] == 0);
	OK(__wasi_fd_pread(fd, &whole, 1, 100, &n));
	CHECK(n == 0);
	__wasi_ciovec_t part = {b + 1, 2};
	OK(__wasi_fd_pwrite(fd, &part, 1, 6, &n));
	CHECK(fdfilestat(fd).size == 8);
	ERR(__wasi_fd_pread(fd, &whole, 1, 1ull << 63, &n), E(INVAL));
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void flags(int dir) {
	int fd;
	size_t n;
	__wasi_filesize_t at;
	char b[100], back[100];
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE) | R(FD_SEEK) | R(FD_TELL) | R(FD_FDSTAT_SET_FLAGS), __WASI_FDFLAGS_APPEND | __WASI_FDFLAGS_SYNC, &fd));
	CHECK(fdstat(fd).fs_flags == (__WASI_FDFLAGS_APPEND | __WASI_FDFLAGS_SYNC));
	for (int i = 0; i < 2; i++) {
		memset(b, i, sizeof b);
		OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
		OK(wr(fd, b, sizeof b, NULL));
		OK(__wasi_fd_seek(fd, i * 100, __WASI_WHENCE_SET, &at));
		OK(rd(fd, back, sizeof back, &n));
		CHECK(n == 100 && memcmp(b, back, 100) == 0, "append %d", i);
	}
	OK(__wasi_fd_fdstat_set_flags(fd, 0));
	CHECK(fdstat(fd).fs_flags == 0);
	OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
	memset(b, 2, sizeof b);
	OK(wr(fd, b, sizeof b, NULL));
	OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
	OK(rd(fd, back, sizeof back, &n));
	CHECK(n == 100 && memcmp(b, back, 100) == 0);
	ERR(__wasi_fd_fdstat_set_flags(fd, 0x4000), E(INVAL));
	OK(__wasi_fd_close(fd));
	CHECK(filestat(dir, 0, "f").size == 200);
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void truncation(int dir) {
	int fd;
	size_t n;
	char back[50];
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_WRITE), 0, &fd));
	OK(wr(fd, "soon gone", 9, NULL));
	OK(__wasi_fd_close(fd));
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_TRUNC, R(FD_READ) | R(FD_WRITE), 0, &fd));
	OK(rd(fd, back, sizeof back, &n));
	CHECK(n == 0);
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

// What one descriptor writes another reads at once.
static void two_descriptors(int dir) {
	int r, w;
	size_t n;
	char b;
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ), 0, &r));
	OK(open_at(dir, 0, "f", 0, R(FD_WRITE), 0, &w));
	OK(wr(w, "x", 1, NULL));
	OK(rd(r, &b, 1, &n));
	CHECK(n == 1 && b == 'x');
	ERR(wr(r, "x", 1, NULL), E(BADF), E(NOTCAPABLE), E(ACCES));
	ERR(rd(w, &b, 1, &n), E(BADF), E(NOTCAPABLE), E(ACCES));
	CHECK((fdstat(r).fs_rights_base & (R(FD_READ) | R(FD_WRITE))) == R(FD_READ));
	CHECK((fdstat(w).fs_rights_base & (R(FD_READ) | R(FD_WRITE))) == R(FD_WRITE));
	OK(__wasi_fd_close(r));
	OK(__wasi_fd_close(w));
	ERR(__wasi_fd_close(w), E(BADF));

	// A file that is gone lives on while it is open.
	OK(open_at(dir, 0, "f", 0, R(FD_READ) | R(FD_FILESTAT_GET), 0, &r));
	OK(__wasi_path_unlink_file(dir, "f"));
	create(dir, "f");
	OK(rd(r, &b, 1, &n));
	CHECK(n == 1 && b == 'x');
	CHECK(filestat(dir, 0, "f").ino != fdfilestat(r).ino);
	OK(__wasi_fd_close(r));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void renumber(int dir) {
	int a, b;
	OK(open_at(dir, 0, "a", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE), 0, &a));
	OK(open_at(dir, 0, "b", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE), 0, &b));
	__wasi_fdstat_t was = fdstat(a);
	OK(__wasi_fd_renumber(a, b));
	ERR(__wasi_fd_close(a), E(BADF));
	__wasi_fdstat_t is = fdstat(b);
	CHECK(was.fs_filetype == is.fs_filetype && was.fs_flags == is.fs_flags && was.fs_rights_base == is.fs_rights_base && was.fs_rights_inheriting == is.fs_rights_inheriting);
	ERR(__wasi_fd_renumber(b, a), E(BADF));
	OK(__wasi_fd_close(b));
	OK(__wasi_path_unlink_file(dir, "a"));
	OK(__wasi_path_unlink_file(dir, "b"));
}

static void libc(void) {
	char b[8];
	FILE *f = fopen("text", "w");
	CHECK(f != NULL);
	fputs("01234567", f);
	CHECK(fclose(f) == 0);
	f = fopen("text", "r");
	CHECK(f != NULL);
	CHECK(fread(b, 1, 4, f) == 4);
	fflush(f);
	CHECK(lseek(fileno(f), 0, SEEK_CUR) == 4);
	CHECK(fread(b, 1, 1, f) == 1 && b[0] == '4');
	fflush(f);
	CHECK(lseek(fileno(f), 0, SEEK_CUR) == 5);
	CHECK(lseek(fileno(f), 0, SEEK_END) == 8);
	fclose(f);
	int fd = open("text", O_RDONLY);
	CHECK(pread(fd, b, 3, 5) == 3 && memcmp(b, "567", 3) == 0);
	CHECK(!isatty(fd) && errno == ENOTTY);
	close(fd);

	fd = open("text", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND);
	CHECK(write(fd, b, 2) == 2);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(write(fd, b, 2) == 2);
	CHECK(lseek(fd, 0, SEEK_CUR) == 4);
	CHECK(pwrite(fd, b, 3, 0) == 3);
	CHECK(lseek(fd, 0, SEEK_CUR) == 4);
	off_t end = lseek(fd, 0, SEEK_END);
	CHECK(end == 4 || end == 7);
	close(fd);

	struct stat a, c;
	CHECK(stat("text", &a) == 0 && stat("other", &c) == -1 && errno == ENOENT);
	fclose(fopen("other", "w"));
	CHECK(stat("other", &c) == 0 && a.st_dev == c.st_dev && a.st_ino != c.st_ino);
	CHECK(access("text", R_OK) == 0 && access("none", F_OK) == -1);
	CHECK(remove("text") == 0 && remove("other") == 0);
}

int main(void) {
	int dir = scratch("files");
	advise_allocate(dir);
	positions(dir);
	at_offsets(dir);
	flags(dir);
	truncation(dir);
	two_descriptors(dir);
	renumber(dir);
	libc();
	return failed;
}
