// What the C programs of the tests share. Each checks one group of functions
// by calling them as raw preview 1 functions or through the C library, and
// ends with 0, or with 1 and a line for each thing that is wrong.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasi/api.h>

static int failed;

#define CHECK(cond, ...)                                         \
	do {                                                           \
		if (!(cond)) {                                               \
			failed = 1;                                                \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond); \
			fprintf(stderr, "" __VA_ARGS__);                           \
			fprintf(stderr, "\n");                                     \
		}                                                            \
	} while (0)

// ERR checks an error number against a list that ends with -1.
static void err_is(int line, const char *what, int got, ...) {
	va_list want;
	va_start(want, got);
	for (int w; (w = va_arg(want, int)) != -1;)
		if (w == got) {
			va_end(want);
			return;
		}
	va_end(want);
	failed = 1;
	fprintf(stderr, "line %d: %s: error %d\n", line, what, got);
}
#define ERR(call, ...) err_is(__LINE__, #call, (call), __VA_ARGS__, -1)
#define OK(call) ERR(call, 0)

#define R(name) __WASI_RIGHTS_##name
#define E(name) __WASI_ERRNO_##name

// The rights that the public suite opens its working folder with.
static const __wasi_rights_t dir_base =
	R(FD_FILESTAT_GET) | R(FD_READDIR) | R(PATH_CREATE_FILE) | R(PATH_CREATE_DIRECTORY) | R(PATH_OPEN) |
	R(PATH_UNLINK_FILE) | R(PATH_LINK_SOURCE) | R(PATH_LINK_TARGET) | R(PATH_READLINK) | R(PATH_RENAME_SOURCE) |
	R(PATH_RENAME_TARGET) | R(PATH_FILESTAT_GET) | R(PATH_FILESTAT_SET_SIZE) | R(PATH_FILESTAT_SET_TIMES) |
	R(PATH_SYMLINK) | R(PATH_REMOVE_DIRECTORY);
static const __wasi_rights_t dir_inherit =
	R(FD_READ) | R(FD_WRITE) | R(FD_READDIR) | R(FD_FILESTAT_GET) | R(FD_SEEK) | R(PATH_LINK_SOURCE) |
	R(PATH_LINK_TARGET) | R(PATH_OPEN) | R(PATH_UNLINK_FILE) | R(PATH_FILESTAT_GET) | R(FD_FDSTAT_SET_FLAGS) |
	R(FD_SYNC) | R(FD_TELL) | R(FD_ADVISE) | R(FD_ALLOCATE) | R(FD_FILESTAT_SET_SIZE) | R(FD_FILESTAT_SET_TIMES);

static int open_at(int dir, int follow, const char *path, int oflags, __wasi_rights_t rights, int fdflags, int *fd) {
	__wasi_fd_t out = -1;
	int e = __wasi_path_open(dir, follow ? __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW : 0, path, oflags, rights, 0, fdflags, &out);
	*fd = (int)out;
	if (e == 0)
		CHECK(*fd > 2, "%s got number %d", path, *fd);
	return e;
}

// scratch makes a folder of its own below the first preopen called "/".
static int scratch(const char *name) {
	for (int fd = 3;; fd++) {
		__wasi_prestat_t st;
		char buf[64] = {0};
		if (__wasi_fd_prestat_get(fd, &st) != 0 || st.u.dir.pr_name_len >= sizeof buf) {
			fprintf(stderr, "no preopen /\n");
			exit(2);
		}
		OK(__wasi_fd_prestat_dir_name(fd, (uint8_t *)buf, st.u.dir.pr_name_len));
		if (strcmp(buf, "/") != 0)
			continue;
		OK(__wasi_path_create_directory(fd, name));
		__wasi_fd_t dir;
		OK(__wasi_path_open(fd, 0, name, __WASI_OFLAGS_DIRECTORY, dir_base, dir_inherit, 0, &dir));
		return (int)dir;
	}
}

static void create(int dir, const char *path) {
	int fd;
	OK(open_at(dir, 0, path, __WASI_OFLAGS_CREAT, 0, 0, &fd));
	OK(__wasi_fd_close(fd));
}

static __wasi_filestat_t filestat(int dir, int follow, const char *path) {
	__wasi_filestat_t st = {0};
	OK(__wasi_path_filestat_get(dir, follow ? __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW : 0, path, &st));
	return st;
}

static __wasi_filestat_t fdfilestat(int fd) {
	__wasi_filestat_t st = {0};
	OK(__wasi_fd_filestat_get(fd, &st));
	return st;
}

static __wasi_fdstat_t fdstat(int fd) {
	__wasi_fdstat_t st = {0};
	OK(__wasi_fd_fdstat_get(fd, &st));
	return st;
}

static int wr(int fd, const void *b, size_t n, size_t *done) {
	__wasi_ciovec_t v = {b, n};
	__wasi_size_t got = 0;
	int e = __wasi_fd_write(fd, &v, 1, &got);
	if (done)
		*done = got;
	else if (e == 0)
		CHECK(got == n, "wrote %zu of %zu", (size_t)got, n);
	return e;
}

static int rd(int fd, void *b, size_t n, size_t *done) {
	__wasi_iovec_t v = {b, n};
	__wasi_size_t got = 0;
	int e = __wasi_fd_read(fd, &v, 1, &got);
	*done = got;
	return e;
}
