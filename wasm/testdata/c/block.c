// Blocks for ever in the way that its argument says, once it has said so on
// standard error.
#include "check.h"
#include <time.h>

int main(int argc, char **argv) {
	const char *how = argv[1];
	char b[4096] = {0};
	size_t n;
	__wasi_size_t m;
	__wasi_event_t ev;
	__wasi_subscription_t in = {0};
	fprintf(stderr, "ready\n");
	if (strcmp(how, "read") == 0)
		rd(0, b, 1, &n);
	else if (strcmp(how, "fgets") == 0)
		fgets(b, sizeof b, stdin);
	else if (strcmp(how, "write") == 0)
		while (wr(1, b, sizeof b, &n) == 0) {
		}
	else if (strcmp(how, "sleep") == 0)
		sleep(1 << 30);
	else if (strcmp(how, "clock") == 0) {
		in.u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
		in.u.u.clock.timeout = 1ull << 62;
		__wasi_poll_oneoff(&in, &ev, 1, &m);
	} else if (strcmp(how, "poll") == 0) {
		in.u.tag = __WASI_EVENTTYPE_FD_READ;
		__wasi_poll_oneoff(&in, &ev, 1, &m);
	} else if (strcmp(how, "vector") == 0) { // one call that reads 2 GiB
		static uint8_t big[16 << 20];
		static __wasi_iovec_t v[128];
		for (int i = 0; i < 128; i++)
			v[i].buf = big, v[i].buf_len = sizeof big;
		int fd = open("/dev/zero", O_RDONLY);
		for (;;)
			OK(__wasi_fd_read(fd, v, 128, &m));
	} else if (strcmp(how, "yield") == 0)
		for (;;)
			__wasi_sched_yield();
	else if (strcmp(how, "spin") == 0)
		for (volatile int i = 0;; i++) {
		}
	fprintf(stderr, "came back, errno %d\n", errno);
	return 1;
}
