// Names: what they lead to, links, renaming.
#include "check.h"

static int symlink_at(const char *target, int dir, const char *name) { return __wasi_path_symlink(target, dir, name); }
static int link_at(int dir, int flags, const char *from, int to, const char *name) { return __wasi_path_link(dir, flags, from, to, name); }
static int rename_at(int dir, const char *from, const char *to) { return __wasi_path_rename(dir, from, dir, to); }
static int is(int dir, const char *path, int oflags) {
	int fd, e = open_at(dir, 0, path, oflags, 0, 0, &fd);
	if (e == 0)
		OK(__wasi_fd_close(fd));
	return e;
}
static int follow(int dir, const char *path, int oflags) {
	int fd, e = open_at(dir, 1, path, oflags, 0, 0, &fd);
	if (e == 0)
		OK(__wasi_fd_close(fd));
	return e;
}

// A name with a NUL in it can be passed with a length only, which the C
// headers do not allow for.
__attribute__((import_module("wasi_snapshot_preview1"), import_name("path_open"))) int raw_path_open(int fd, int dirflags, const char *path, int len, int oflags, long long base, long long inherit, int fdflags, int *out);

static void interesting(int dir) {
	OK(__wasi_path_create_directory(dir, "dir"));
	OK(__wasi_path_create_directory(dir, "dir/nested"));
	create(dir, "dir/nested/file");
	ERR(is(dir, "/dir/nested/file", 0), E(PERM), E(NOTCAPABLE));
	OK(is(dir, "dir/.//nested/../../dir/nested/../nested///./file", 0));
	int fd;
	ERR(raw_path_open(dir, 0, "dir/nested/file\0", 16, 0, 0, 0, 0, &fd), E(INVAL), E(ILSEQ), E(NOENT));
	ERR(is(dir, "dir/nested/file/", 0), E(NOTDIR), E(NOENT));
	ERR(is(dir, "dir/nested/file///", 0), E(NOTDIR), E(NOENT));
	OK(is(dir, "dir/nested/", 0));
	OK(is(dir, "dir/nested///", 0));
	ERR(is(dir, "dir/nested/../../../names/dir/nested/file", 0), E(PERM), E(NOTCAPABLE));
	ERR(is(dir, "", 0), E(NOENT));
	ERR(is(dir, "nothing", 0), E(NOENT));
	ERR(is(dir, "dir/nested/file", __WASI_OFLAGS_CREAT | __WASI_OFLAGS_EXCL), E(EXIST));
	OK(__wasi_path_unlink_file(dir, "dir/nested/file"));
	OK(__wasi_path_remove_directory(dir, "dir/nested"));
	OK(__wasi_path_remove_directory(dir, "dir"));
}

static void kinds(int dir) {
	OK(__wasi_path_create_directory(dir, "sub"));
	create(dir, "sub/file");
	OK(symlink_at("sub/file", dir, "l1"));
	OK(symlink_at("sub", dir, "l2"));
	struct {
		const char *path;
		int itself, followed;
	} want[] = {
		{"sub", __WASI_FILETYPE_DIRECTORY, __WASI_FILETYPE_DIRECTORY},
		{"sub/file", __WASI_FILETYPE_REGULAR_FILE, __WASI_FILETYPE_REGULAR_FILE},
		{"l1", __WASI_FILETYPE_SYMBOLIC_LINK, __WASI_FILETYPE_REGULAR_FILE},
		{"l2", __WASI_FILETYPE_SYMBOLIC_LINK, __WASI_FILETYPE_DIRECTORY},
		{"l2/file", __WASI_FILETYPE_REGULAR_FILE, __WASI_FILETYPE_REGULAR_FILE},
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		CHECK(filestat(dir, 0, want[i].path).filetype == want[i].itself, "%s", want[i].path);
		CHECK(filestat(dir, 1, want[i].path).filetype == want[i].followed, "%s", want[i].path);
	}
	OK(__wasi_path_unlink_file(dir, "l1"));
	OK(__wasi_path_unlink_file(dir, "l2"));
	OK(__wasi_path_unlink_file(dir, "sub/file"));
	OK(__wasi_path_remove_directory(dir, "sub"));
}

static void same(int a, int b) {
	__wasi_filestat_t x = fdfilestat(a), y = fdfilestat(b);
	CHECK(x.dev == y.dev && x.ino == y.ino && x.atim == y.atim && x.mtim == y.mtim && x.ctim == y.ctim);
	CHECK(x.size == y.size && x.nlink == y.nlink && x.filetype == y.filetype);
	__wasi_fdstat_t s = fdstat(a), t = fdstat(b);
	CHECK(s.fs_flags == t.fs_flags && s.fs_filetype == t.fs_filetype && s.fs_rights_base == t.fs_rights_base && s.fs_rights_inheriting == t.fs_rights_inheriting);
}

static void hard_links(int dir) {
	const __wasi_rights_t rights = R(FD_READ) | R(PATH_LINK_SOURCE) | R(PATH_LINK_TARGET) | R(FD_FILESTAT_GET) | R(PATH_OPEN) | R(PATH_UNLINK_FILE);
	int a, b, sub;
	OK(open_at(dir, 0, "file", __WASI_OFLAGS_CREAT, rights, 0, &a));
	OK(link_at(dir, 0, "file", dir, "link"));
	OK(open_at(dir, 0, "link", 0, rights, 0, &b));
	same(a, b);
	CHECK(fdfilestat(a).nlink == 2);
	OK(__wasi_fd_close(b));
	OK(__wasi_path_unlink_file(dir, "link"));
	OK(__wasi_path_create_directory(dir, "sub"));
	OK(open_at(dir, 0, "sub", __WASI_OFLAGS_DIRECTORY, rights, 0, &sub));
	OK(link_at(dir, 0, "file", sub, "link"));
	OK(open_at(sub, 0, "link", 0, rights, 0, &b));
	same(a, b);
	OK(__wasi_fd_close(a));
	OK(__wasi_fd_close(b));
	OK(__wasi_path_unlink_file(sub, "link"));
	OK(__wasi_fd_close(sub));

	create(dir, "taken");
	ERR(link_at(dir, 0, "file", dir, "taken"), E(EXIST));
	ERR(link_at(dir, 0, "file", dir, "file"), E(EXIST));
	ERR(link_at(dir, 0, "file", dir, "sub"), E(EXIST));
	ERR(link_at(dir, 0, "sub", dir, "link"), E(PERM), E(ACCES));
	ERR(link_at(dir, 0, "file", dir, "link/"), E(NOENT));
	ERR(link_at(dir, 0, "nothing", dir, "link"), E(NOENT));
	OK(__wasi_path_unlink_file(dir, "taken"));
	OK(__wasi_path_remove_directory(dir, "sub"));
	for (int loop = 0; loop < 2; loop++) { // of a link that leads nowhere, and of one that leads to itself
		OK(symlink_at(loop ? "s" : "nowhere", dir, "s"));
		OK(link_at(dir, 0, "s", dir, "link"));
		CHECK(filestat(dir, 0, "link").filetype == __WASI_FILETYPE_SYMBOLIC_LINK);
		ERR(link_at(dir, 0, "file", dir, "s"), E(EXIST));
		ERR(link_at(dir, __WASI_LOOKUPFLAGS_SYMLINK_FOLLOW, "s", dir, "link2"), E(INVAL), E(NOENT));
		OK(__wasi_path_unlink_file(dir, "s"));
		OK(__wasi_path_unlink_file(dir, "link"));
	}
	OK(__wasi_path_unlink_file(dir, "file"));
}

static void symlinks(int dir) {
	char b[10] = {0};
	__wasi_size_t n;
	create(dir, "target");
	OK(symlink_at("target", dir, "s"));
	OK(follow(dir, "s", 0));
	ERR(is(dir, "s", 0), E(LOOP));
	ERR(is(dir, "s", __WASI_OFLAGS_DIRECTORY), E(LOOP), E(NOTDIR));
	ERR(follow(dir, "s", __WASI_OFLAGS_DIRECTORY), E(NOTDIR));
	OK(__wasi_path_readlink(dir, "s", (uint8_t *)b, sizeof b, &n));
	CHECK(n == 6 && memcmp(b, "target\0\0\0", 10) == 0);
	memset(b, 0, sizeof b);
	OK(__wasi_path_readlink(dir, "s", (uint8_t *)b, 4, &n));
	CHECK(n == 4 && memcmp(b, "targ\0", 5) == 0);
	ERR(__wasi_path_readlink(dir, "target", (uint8_t *)b, 4, &n), E(INVAL));
	OK(__wasi_path_unlink_file(dir, "s"));
	OK(__wasi_path_unlink_file(dir, "target"));

	OK(__wasi_path_create_directory(dir, "target"));
	OK(symlink_at("target", dir, "s"));
	ERR(is(dir, "s", __WASI_OFLAGS_DIRECTORY), E(LOOP), E(NOTDIR));
	ERR(is(dir, "s", 0), E(LOOP), E(ACCES));
	OK(follow(dir, "s", __WASI_OFLAGS_DIRECTORY));
	OK(__wasi_path_unlink_file(dir, "s"));
	OK(__wasi_path_remove_directory(dir, "target"));

	OK(symlink_at("nowhere", dir, "s"));
	ERR(is(dir, "s", __WASI_OFLAGS_DIRECTORY), E(LOOP), E(NOTDIR));
	ERR(is(dir, "s", 0), E(LOOP));
	ERR(follow(dir, "s", 0), E(NOENT));
	OK(__wasi_path_unlink_file(dir, "s"));
	OK(symlink_at("s", dir, "s"));
	ERR(is(dir, "s", 0), E(LOOP));
	ERR(follow(dir, "s", 0), E(LOOP));
	OK(__wasi_path_unlink_file(dir, "s"));
	CHECK(symlink_at("/", dir, "s") != 0, "an absolute link was made");

	ERR(symlink_at("x", dir, "t/"), E(NOENT));
	OK(__wasi_path_create_directory(dir, "t"));
	ERR(symlink_at("x", dir, "t/"), E(EXIST));
	ERR(symlink_at("x", dir, "t"), E(EXIST));
	OK(__wasi_path_remove_directory(dir, "t"));
	create(dir, "t");
	ERR(symlink_at("x", dir, "t/"), E(NOTDIR));
	ERR(symlink_at("x", dir, "t"), E(EXIST));
	OK(__wasi_path_unlink_file(dir, "t"));
}

static void renames(int dir) {
	const int D = __WASI_OFLAGS_DIRECTORY;
	OK(__wasi_path_create_directory(dir, "a"));
	OK(rename_at(dir, "a", "b"));
	ERR(is(dir, "a", D), E(NOENT));
	OK(is(dir, "b", D));
	OK(rename_at(dir, "b/", "a"));
	OK(rename_at(dir, "a", "b/"));
	OK(rename_at(dir, "b/", "a/"));
	OK(__wasi_path_create_directory(dir, "b"));
	OK(rename_at(dir, "a", "b")); // to an empty folder
	ERR(is(dir, "a", D), E(NOENT));
	OK(__wasi_path_create_directory(dir, "a"));
	create(dir, "b/file");
	ERR(rename_at(dir, "a", "b"), E(NOTEMPTY));
	ERR(rename_at(dir, "a", "b/file"), E(NOTDIR));
	ERR(rename_at(dir, "b", "b/c"), E(INVAL));
	OK(__wasi_path_unlink_file(dir, "b/file"));
	OK(__wasi_path_remove_directory(dir, "a"));

	create(dir, "f");
	OK(rename_at(dir, "f", "g"));
	ERR(is(dir, "f", 0), E(NOENT));
	create(dir, "f");
	OK(rename_at(dir, "f", "g")); // to a file
	ERR(is(dir, "f", 0), E(NOENT));
	OK(is(dir, "g", 0));
	ERR(rename_at(dir, "g", "b"), E(ISDIR));
	ERR(rename_at(dir, "g/", "h"), E(NOTDIR));
	ERR(rename_at(dir, "g", "h/"), E(NOTDIR));
	ERR(rename_at(dir, "none", "h"), E(NOENT));
	OK(__wasi_path_unlink_file(dir, "g"));
	OK(__wasi_path_remove_directory(dir, "b"));
}

int main(void) {
	int dir = scratch("names");
	interesting(dir);
	kinds(dir);
	hard_links(dir);
	symlinks(dir);
	renames(dir);
	return failed;
}
