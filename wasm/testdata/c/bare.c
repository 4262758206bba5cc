// A program without files: arguments, environment, randomness, and sockets,
// of which there are none.
#include "check.h"
#include <sys/socket.h>

static const char *const args[] = {"bare", "first", "the \"second\" arg", "", "4\n"};
static const char *const env[] = {"a=text", "b=escap \" ing", "c=new\nline"};

extern char **environ;

int main(int argc, char **argv) {
	CHECK(argc == 5, "%d arguments", argc);
	for (int i = 1; i < argc && i < 5; i++)
		CHECK(strcmp(argv[i], args[i]) == 0, "%s", argv[i]);
	__wasi_size_t n, size;
	OK(__wasi_environ_sizes_get(&n, &size));
	CHECK(n == 3 && size == sizeof "a=text" + sizeof "b=escap \" ing" + sizeof "c=new\nline");
	uint8_t *ptr[3], buf[64];
	OK(__wasi_environ_get(ptr, buf));
	for (int i = 0; i < 3; i++)
		CHECK(strcmp((char *)ptr[i], env[i]) == 0);
	CHECK(strcmp(getenv("a"), "text") == 0 && getenv("none") == NULL);

	uint8_t big[1024 + 1] = {0}, zero[sizeof big] = {0};
	OK(__wasi_random_get(big, 1024));
	CHECK(memcmp(big, zero, 1024) != 0 && big[1024] == 0);
	OK(__wasi_random_get(big, 0));
	OK(__wasi_sched_yield());

	__wasi_prestat_t pre;
	__wasi_filesize_t at;
	ERR(__wasi_fd_prestat_get(3, &pre), E(BADF));
	CHECK(shutdown(3, SHUT_RD) == -1 && errno == EBADF);
	CHECK(shutdown(STDOUT_FILENO, SHUT_RD) == -1 && errno == ENOTSOCK);
	CHECK(fopen("fs-tests.dir/file", "r") == NULL && errno == ENOTCAPABLE, "errno %d", errno);
	ERR(__wasi_fd_seek(1, 0, __WASI_WHENCE_SET, &at), E(SPIPE));
	ERR(wr(-31337, "x", 1, NULL), E(BADF));
	CHECK(printf("hello\n") == 6);
	fflush(stdout);
	if (failed)
		return 1;
	__wasi_proc_exit(33);
}
