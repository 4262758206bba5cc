// Streams: waiting for them, not waiting for them, and what they are. The
// test writes a line to standard input for each line of standard output, and
// closes it after "end".
#include "check.h"
#include <poll.h>

static int poll_in(__wasi_timestamp_t timeout, __wasi_event_t *out) {
	__wasi_subscription_t in[2] = {0};
	in[0].userdata = 1;
	in[0].u.tag = __WASI_EVENTTYPE_FD_READ;
	in[0].u.u.fd_read.file_descriptor = 0;
	in[1].userdata = 2;
	in[1].u.tag = __WASI_EVENTTYPE_CLOCK;
	in[1].u.u.clock.id = __WASI_CLOCKID_MONOTONIC;
	in[1].u.u.clock.timeout = timeout;
	__wasi_size_t n = 0;
	OK(__wasi_poll_oneoff(in, out, 2, &n));
	return (int)n;
}

static void say(const char *s) { OK(wr(1, s, strlen(s), NULL)); }

int main(void) {
	const __wasi_timestamp_t ms = 1000000, long_time = 60000 * ms;
	char b[64];
	size_t n;
	for (int fd = 0; fd < 3; fd++) {
		CHECK(!isatty(fd) && errno == ENOTTY, "stream %d", fd);
		CHECK(fdstat(fd).fs_filetype != __WASI_FILETYPE_CHARACTER_DEVICE);
	}
	// Nothing is there: the clock comes, a read does not wait.
	__wasi_event_t ev[2];
	CHECK(poll_in(20 * ms, ev) == 1 && ev[0].userdata == 2);
	OK(__wasi_fd_fdstat_set_flags(0, __WASI_FDFLAGS_NONBLOCK));
	CHECK((fdstat(0).fs_flags & __WASI_FDFLAGS_NONBLOCK) != 0);
	ERR(rd(0, b, sizeof b, &n), E(AGAIN));
	CHECK(read(0, b, sizeof b) == -1 && errno == EAGAIN);
	// A line comes while a poll waits.
	say("one\n");
	CHECK(poll_in(long_time, ev) == 1 && ev[0].userdata == 1 && ev[0].error == 0 && ev[0].fd_readwrite.nbytes > 0);
	for (n = 0; n < 4;) {
		size_t m;
		int e = rd(0, b + n, sizeof b - n, &m);
		if (e == E(AGAIN)) {
			CHECK(poll_in(long_time, ev) == 1);
			continue;
		}
		OK(e);
		if (e != 0)
			break;
		n += m;
	}
	CHECK(n == 4 && memcmp(b, "one\n", 4) == 0);
	ERR(rd(0, b, sizeof b, &n), E(AGAIN));
	// Reads that may wait do, and give what is there, not all that was asked for.
	OK(__wasi_fd_fdstat_set_flags(0, 0));
	say("two\n");
	__wasi_iovec_t v[2] = {{(uint8_t *)b, 4}, {(uint8_t *)b + 4, 60}};
	for (n = 0; n < 4;) {
		__wasi_size_t m;
		v[0].buf = (uint8_t *)b + n, v[0].buf_len = 4 - n;
		OK(__wasi_fd_read(0, v, 2, &m));
		if (m == 0)
			break;
		n += m;
	}
	CHECK(n == 4 && memcmp(b, "two\n", 4) == 0);
	// Writing is possible at once, also through the C library.
	struct pollfd p[2] = {{1, POLLOUT, 0}, {2, POLLOUT, 0}};
	CHECK(poll(p, 2, 60000) == 2 && p[0].revents == POLLOUT && p[1].revents == POLLOUT);
	// The end is there for a poll, too.
	say("end\n");
	CHECK(poll_in(long_time, ev) == 1 && ev[0].userdata == 1);
	OK(rd(0, b, sizeof b, &n));
	CHECK(n == 0);
	// A stream by its name is the same stream.
	int again = open("/dev/stdin", O_RDONLY);
	CHECK(again > 2 && read(again, b, sizeof b) == 0 && !isatty(again));
	// Wrong subscriptions come at once, each with its error.
	__wasi_subscription_t bad[3] = {0};
	bad[0].u.tag = __WASI_EVENTTYPE_FD_READ;
	bad[0].u.u.fd_read.file_descriptor = 77;
	bad[1].u.tag = __WASI_EVENTTYPE_FD_WRITE;
	bad[1].u.u.fd_write.file_descriptor = 0;
	bad[2].u.tag = __WASI_EVENTTYPE_CLOCK;
	bad[2].u.u.clock.id = 99;
	__wasi_event_t out[3];
	__wasi_size_t m;
	OK(__wasi_poll_oneoff(bad, out, 3, &m));
	CHECK(m == 3 && out[0].error == E(BADF) && out[1].error == E(BADF) && out[2].error == E(INVAL));
	return failed;
}
