// A preopen with a relative name, which the argument repeats.
#include "check.h"

int main(int argc, char **argv) {
	char path[64];
	__wasi_prestat_t pre;
	CHECK(argc == 2);
	OK(__wasi_fd_prestat_get(3, &pre));
	CHECK(pre.u.dir.pr_name_len == strlen(argv[1]));
	ERR(__wasi_fd_prestat_get(4, &pre), E(BADF));
	snprintf(path, sizeof path, "%s/file", argv[1]);
	FILE *f = fopen(path, "r");
	CHECK(f != NULL && fread(path, 1, 13, f) == 13 && memcmp(path, "in the folder", 13) == 0);
	CHECK(fopen("file", "r") == NULL && errno == ENOTCAPABLE, "errno %d", errno);
	CHECK(fopen("fs-tests.dir/../file", "r") == NULL && errno == EPERM, "errno %d", errno);
	return failed;
}
