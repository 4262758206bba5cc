// Errors as such. /a and /b are two file systems, /a with room for 1 MiB,
// /ro cannot be changed, and /dev is there.
#include "check.h"

#define FAILS(call, want) \
	do { \
		errno = 0; \
		CHECK((call) == -1 && errno == (want), "errno %d, not %d", errno, want); \
	} while (0)

int main(void) {
	static char b[64 << 10]; // as large as the stack is
	memset(b, 'x', sizeof b);
	int fd = open("/a/f", O_CREAT | O_WRONLY, 0666);
	CHECK(fd > 2);
	FAILS(rename("/a/f", "/b/f"), EXDEV);
	FAILS(link("/a/f", "/b/f"), EXDEV);
	ssize_t n;
	size_t total = 0;
	while ((n = write(fd, b, sizeof b)) > 0)
		total += n;
	CHECK(n == -1 && errno == EDQUOT, "errno %d after %zu bytes", errno, total);
	CHECK(total == 1 << 20, "%zu bytes", total);
	FAILS(ftruncate(fd, 2 << 20), EDQUOT);
	CHECK(posix_fallocate(fd, 0, 2 << 20) == EDQUOT);
	CHECK(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 && write(fd, b, 1) == 1);
	close(fd);

	fd = open("/dev/full", O_WRONLY);
	CHECK(fd > 2);
	FAILS(write(fd, b, 1), ENOSPC);
	close(fd);
	FAILS(open("/ro/f", O_CREAT | O_WRONLY, 0666), EROFS);
	FAILS(mkdir("/ro/d", 0777), EROFS);
	FAILS(unlink("/ro/file"), EROFS);
	CHECK(symlink("two", "/b/one") == 0 && symlink("one", "/b/two") == 0);
	FAILS(open("/b/one", O_RDONLY), ELOOP);
	struct stat st;
	FAILS(stat("/b/one/x", &st), ELOOP);
	FAILS(open("/b/none/f", O_CREAT | O_WRONLY, 0666), ENOENT);
	FAILS(open("/a/f/x", O_RDONLY), ENOTDIR);
	FAILS(open("/b", O_WRONLY), EISDIR);
	FAILS(lseek(1, 0, SEEK_SET), ESPIPE);
	char name[300];
	memset(name, 'n', sizeof name);
	memcpy(name, "/b/", 3);
	name[sizeof name - 1] = 0;
	FAILS(open(name, O_CREAT | O_WRONLY, 0666), ENAMETOOLONG);
	int opened = 0;
	while (open("/a/f", O_RDONLY) >= 0)
		opened++;
	CHECK(errno == EMFILE && opened > 100, "errno %d after %d", errno, opened);
	// Nobody reads standard output any more.
	while ((n = write(1, b, sizeof b)) > 0) {
	}
	CHECK(n == -1 && errno == EPIPE, "errno %d", errno);
	return failed;
}
