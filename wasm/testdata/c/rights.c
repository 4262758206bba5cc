// Rights, preopens and the descriptors of the streams.
#include "check.h"

static void shrinking(int dir) {
	int fd;
	size_t n;
	__wasi_filesize_t at;
	char b[4] = {0, 1, 2, 3}, back[4];
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_CREAT, R(FD_READ) | R(FD_WRITE) | R(FD_SEEK) | R(FD_TELL), 0, &fd));
	OK(wr(fd, b, 4, NULL));
	OK(__wasi_fd_seek(fd, 0, __WASI_WHENCE_SET, &at));
	OK(rd(fd, back, 4, &n));
	CHECK(n == 4 && memcmp(b, back, 4) == 0);
	__wasi_fdstat_t st = fdstat(fd);
	OK(__wasi_fd_fdstat_set_rights(fd, st.fs_rights_base & ~(R(FD_READ) | R(FD_WRITE)), st.fs_rights_inheriting));
	__wasi_fdstat_t less = fdstat(fd);
	CHECK((less.fs_rights_base & (R(FD_READ) | R(FD_WRITE))) == 0 && (less.fs_rights_base & R(FD_SEEK)) != 0);
	ERR(rd(fd, back, 4, &n), E(BADF), E(NOTCAPABLE));
	ERR(wr(fd, b, 4, &n), E(BADF), E(NOTCAPABLE));
	ERR(__wasi_fd_fdstat_set_rights(fd, less.fs_rights_base | R(FD_READ) | R(FD_WRITE), less.fs_rights_inheriting | R(FD_READ)), E(NOTCAPABLE));
	OK(__wasi_fd_close(fd));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void truncating(int dir) {
	int fd;
	create(dir, "f");
	__wasi_fdstat_t st = fdstat(dir);
	CHECK(st.fs_filetype == __WASI_FILETYPE_DIRECTORY && st.fs_flags == 0);
	CHECK((st.fs_rights_base & R(FD_FILESTAT_SET_SIZE)) == 0 && (st.fs_rights_base & R(PATH_FILESTAT_SET_SIZE)) != 0);
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_TRUNC, 0, 0, &fd));
	OK(__wasi_fd_close(fd));
	OK(__wasi_fd_fdstat_set_rights(dir, st.fs_rights_base, st.fs_rights_inheriting & ~R(FD_FILESTAT_SET_SIZE)));
	OK(open_at(dir, 0, "f", __WASI_OFLAGS_TRUNC, 0, 0, &fd));
	OK(__wasi_fd_close(fd));
	OK(__wasi_fd_fdstat_set_rights(dir, st.fs_rights_base & ~R(PATH_FILESTAT_SET_SIZE), st.fs_rights_inheriting & ~R(FD_FILESTAT_SET_SIZE)));
	CHECK((fdstat(dir).fs_rights_base & R(PATH_FILESTAT_SET_SIZE)) == 0);
	ERR(open_at(dir, 0, "f", __WASI_OFLAGS_TRUNC, 0, 0, &fd), E(PERM), E(NOTCAPABLE));
	OK(__wasi_path_unlink_file(dir, "f"));
}

static void preopen(void) {
	const __wasi_rights_t base = R(PATH_CREATE_DIRECTORY) | R(PATH_CREATE_FILE) | R(PATH_LINK_SOURCE) | R(PATH_LINK_TARGET) | R(PATH_OPEN) |
		R(FD_READDIR) | R(PATH_READLINK) | R(PATH_RENAME_SOURCE) | R(PATH_RENAME_TARGET) | R(PATH_SYMLINK) | R(PATH_REMOVE_DIRECTORY) |
		R(PATH_UNLINK_FILE) | R(PATH_FILESTAT_GET) | R(PATH_FILESTAT_SET_TIMES) | R(FD_FILESTAT_GET) | R(FD_FILESTAT_SET_TIMES);
	const __wasi_rights_t inherit = base | R(FD_DATASYNC) | R(FD_READ) | R(FD_SEEK) | R(FD_FDSTAT_SET_FLAGS) | R(FD_SYNC) | R(FD_TELL) |
		R(FD_WRITE) | R(FD_ADVISE) | R(FD_ALLOCATE) | R(FD_FILESTAT_SET_SIZE) | R(POLL_FD_READWRITE);
	__wasi_prestat_t pre;
	uint8_t name[8] = {0};
	OK(__wasi_fd_prestat_get(3, &pre));
	CHECK(pre.tag == __WASI_PREOPENTYPE_DIR && pre.u.dir.pr_name_len == 1);
	ERR(__wasi_fd_prestat_dir_name(3, name, 0), E(INVAL), E(NAMETOOLONG));
	OK(__wasi_fd_prestat_dir_name(3, name, 2));
	CHECK(strcmp((char *)name, "/") == 0);
	ERR(__wasi_fd_prestat_get(1, &pre), E(BADF), E(INVAL), E(NOTSUP));
	__wasi_fdstat_t st = fdstat(3);
	CHECK((st.fs_rights_base & base) == base && (st.fs_rights_inheriting & inherit) == inherit);
	__wasi_fd_t fd;
	OK(__wasi_path_open(3, 0, ".", 0, st.fs_rights_base, st.fs_rights_inheriting, 0, &fd));
	OK(__wasi_fd_close(fd));
	int n;
	OK(open_at(3, 0, ".", 0, 0, 0, &n));
	OK(__wasi_fd_close(n));
	OK(open_at(3, 0, ".", __WASI_OFLAGS_DIRECTORY, R(FD_READ), 0, &n));
	OK(__wasi_fd_close(n));
	ERR(open_at(3, 0, ".", __WASI_OFLAGS_DIRECTORY, R(FD_READ) | R(FD_WRITE), 0, &n), E(ISDIR));
}

// Descriptors of preopens and streams are like all others.
static void moving(int dir) {
	__wasi_prestat_t pre;
	__wasi_filestat_t was = fdfilestat(dir);
	OK(__wasi_fd_renumber(dir, 3));
	__wasi_filestat_t is = fdfilestat(3);
	CHECK(was.dev == is.dev && was.ino == is.ino);
	__wasi_fdstat_t st;
	ERR(__wasi_fd_fdstat_get(dir, &st), E(BADF));
	for (int from = 0; from < 3; from++) {
		int to;
		__wasi_fd_t out;
		OK(__wasi_path_open(3, 0, "f", __WASI_OFLAGS_CREAT, 0, 0, 0, &out));
		to = (int)out;
		if (from == 2)
			break; // messages still have to go somewhere
		OK(__wasi_fd_renumber(from, to));
		fdstat(to);
		if (from != to)
			ERR(__wasi_fd_fdstat_get(from, &st), E(BADF));
		OK(__wasi_path_unlink_file(3, "f"));
	}
	OK(__wasi_fd_close(3));
	ERR(__wasi_fd_fdstat_get(3, &st), E(BADF));
	ERR(__wasi_fd_prestat_get(3, &pre), E(BADF));
	ERR(__wasi_fd_close(3), E(BADF));
}

int main(void) {
	preopen();
	int dir = scratch("rights");
	shrinking(dir);
	truncating(dir);
	moving(dir);
	return failed;
}
