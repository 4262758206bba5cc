/* What C programs for Unix expect and WASI preview 1 lacks. Changes of owner
   and mode succeed without effect, as for the one user of the sandbox;
   starting programs fails. The working folder is what PWD says. */
#ifndef DONAX_WASI_H
#define DONAX_WASI_H
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef F_SETLK
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define F_GETLK 5
#define F_SETLK 6
#endif

static inline int wasi_chmod(const char *path, mode_t mode) { return 0; }
static inline int wasi_fchmod(int fd, mode_t mode) { return 0; }
static inline int wasi_fchown(int fd, uid_t uid, gid_t gid) { return 0; }
static inline uid_t wasi_uid(void) { return 1000; }
static inline mode_t wasi_umask(mode_t mode) { return 022; }
static inline int wasi_system(const char *line) { errno = ENOSYS; return -1; }
static inline FILE *wasi_popen(const char *line, const char *mode) { errno = ENOSYS; return NULL; }
static inline int wasi_pclose(FILE *file) { errno = ENOSYS; return -1; }
static inline char *wasi_getcwd(char *buf, size_t size)
{
	const char *dir = getenv("PWD");
	if (!dir || strlen(dir) >= size) {
		errno = dir ? ERANGE : ENOENT;
		return NULL;
	}
	return strcpy(buf, dir);
}
#define chmod wasi_chmod
#define fchmod wasi_fchmod
#define fchown wasi_fchown
#define getcwd wasi_getcwd
#define geteuid wasi_uid
#define getuid wasi_uid
#define umask wasi_umask
#define system wasi_system
#define popen wasi_popen
#define pclose wasi_pclose
#endif
