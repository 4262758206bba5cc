// Times of files and links, and clocks.
#include "check.h"
#include <time.h>

static int set(int dir, int follow, const char *path, __wasi_timestamp_t at, __wasi_timestamp_t mt, int flags) {
	return __wasi_path_filestat_set_times(dir, follow ? __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW : 0, path, at, mt, flags);
}

static void files(int dir) {
	const int A = __WASI_FSTFLAGS_ATIM, AN = __WASI_FSTFLAGS_ATIM_NOW, M = __WASI_FSTFLAGS_MTIM, MN = __WASI_FSTFLAGS_MTIM_NOW;
	int fd;
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE) | R(FD_FILESTAT_GET) | R(FD_FILESTAT_SET_SIZE) | R(FD_FILESTAT_SET_TIMES), 0, &fd));
	OK(__wasi_fd_filestat_set_size(fd, 100));
	__wasi_filestat_t was = fdfilestat(fd);
	OK(__wasi_fd_filestat_set_times(fd, was.mtim - 100, was.mtim - 100, M));
	__wasi_filestat_t is = fdfilestat(fd);
	CHECK(is.size == 100 && is.mtim == was.mtim - 100 && is.atim == was.atim);
	OK(__wasi_fd_filestat_set_times(fd, was.atim - 5000, 1, A));
	is = fdfilestat(fd);
	CHECK(is.atim == was.atim - 5000 && is.mtim == was.mtim - 100);
	ERR(__wasi_fd_filestat_set_times(fd, 100, 200, M | MN), E(INVAL));
	ERR(__wasi_fd_filestat_set_times(fd, 100, 200, A | AN), E(INVAL));
	OK(set(dir, 0, "f", 0, was.mtim - 300, M));
	CHECK(filestat(dir, 0, "f").mtim == was.mtim - 300);
	ERR(set(dir, 0, "f", 0, 7, M | MN), E(INVAL));
	ERR(set(dir, 0, "f", 0, 7, A | AN), E(INVAL));
	CHECK(filestat(dir, 0, "f").mtim == was.mtim - 300, "a call that was refused has changed it");
	OK(set(dir, 0, "f", 0, 0, MN));
	CHECK(filestat(dir, 0, "f").mtim >= was.mtim - 1000000000);
	ERR(set(dir, 0, "none", 0, 0, MN), E(NOENT));

	OK(__wasi_path_symlink("f", dir, "s"));
	__wasi_timestamp_t of_file = filestat(dir, 0, "f").mtim, of_link = filestat(dir, 0, "s").mtim;
	OK(set(dir, 0, "s", 0, of_link - 200, M));
	CHECK(filestat(dir, 0, "s").mtim == of_link - 200, "the link's own time");
	CHECK(filestat(dir, 0, "f").mtim == of_file && filestat(dir, 1, "s").mtim == of_file);
	OK(set(dir, 1, "s", 0, of_link, M));
	CHECK(filestat(dir, 0, "f").mtim == of_link);
	CHECK(filestat(dir, 0, "s").mtim == of_link - 200);

	// What another file's name is by now is left alone.
	OK(__wasi_path_unlink_file(dir, "f"));
	create(dir, "f");
	__wasi_timestamp_t fresh = filestat(dir, 0, "f").mtim;
	__wasi_fd_filestat_set_times(fd, 5, 5, A | M);
	CHECK(filestat(dir, 0, "f").mtim == fresh);
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "s"));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void clocks(void) {
	__wasi_timestamp_t a, b;
	for (int id = 0; id < 4; id++) {
		OK(__wasi_clock_res_get(id, &a));
		CHECK(a > 0);
		OK(__wasi_clock_time_get(id, 0, &a));
		OK(__wasi_clock_time_get(id, 1, &b));
		CHECK(id == 0 || a <= b, "clock %d went back", id);
	}
	ERR(__wasi_clock_time_get(9, 0, &a), E(INVAL));
	ERR(__wasi_clock_res_get(9, &a), E(INVAL));
	struct timespec ts;
	CHECK(clock_getres(CLOCK_MONOTONIC, &ts) == 0 && clock_getres(CLOCK_REALTIME, &ts) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &ts) == 0 && clock_gettime(CLOCK_REALTIME, &ts) == 0 && ts.tv_sec > 1700000000);
}

static __wasi_timestamp_t now(int id) {
	__wasi_timestamp_t t = 0;
	OK(__wasi_clock_time_get(id, 0, &t));
	return t;
}

// Sleeps end in time, absolute and relative, and only what is due comes.
static void sleeps(void) {
	const __wasi_timestamp_t ms = 1000000;
	for (int clock = 0; clock < 2; clock++)
		for (int absolute = 0; absolute < 2; absolute++) {
			__wasi_timestamp_t start = now(clock);
			__wasi_subscription_t in[2] = {0};
			for (int i = 0; i < 2; i++) {
				in[i].userdata = 7 + i;
				in[i].u.tag = __WASI_EVENTTYPE_CLOCK;
				in[i].u.u.clock.id = clock;
				in[i].u.u.clock.flags = absolute ? __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME : 0;
			}
			in[0].u.u.clock.timeout = (absolute ? start : 0) + 3600 * 1000 * ms;
			in[1].u.u.clock.timeout = (absolute ? start : 0) + 20 * ms;
			__wasi_event_t out[2];
			__wasi_size_t n = 0;
			OK(__wasi_poll_oneoff(in, out, 2, &n));
			CHECK(n == 1 && out[0].userdata == 8 && out[0].error == 0 && out[0].type == __WASI_EVENTTYPE_CLOCK);
			CHECK(now(clock) - start >= 20 * ms, "clock %d woke early", clock);
		}
	// One clock relative, one absolute: the later is not due with the earlier.
	__wasi_subscription_t in[2] = {0};
	in[0].userdata = 1;
	in[0].u.u.clock.id = 1;
	in[0].u.u.clock.timeout = 30 * ms;
	in[1].userdata = 2;
	in[1].u.u.clock.id = 1;
	in[1].u.u.clock.flags = __WASI_SUBCLOCKFLAGS_SUBSCRIPTION_CLOCK_ABSTIME;
	in[1].u.u.clock.timeout = now(1) + 3600 * 1000 * ms;
	__wasi_event_t out[2];
	__wasi_size_t n = 0;
	OK(__wasi_poll_oneoff(in, out, 2, &n));
	CHECK(n == 1 && out[0].userdata == 1);
	ERR(__wasi_poll_oneoff(in, out, 0, &n), E(INVAL));
	struct timespec ts = {0, 1000000};
	CHECK(nanosleep(&ts, NULL) == 0);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL) == 0);
}

int main(void) {
	int dir = scratch("times");
	files(dir);
	clocks();
	sleeps();
	return failed;
}
