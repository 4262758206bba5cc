// Writes what is in the files that its arguments name, as cat does, and makes
// the file that a last argument +NAME names.
#include "check.h"

int main(int argc, char **argv) {
	for (int i = 1; i < argc; i++) {
		bool make = argv[i][0] == '+';
		FILE *f = fopen(argv[i] + make, make ? "w" : "r");
		if (f == NULL) {
			printf("%s: errno %d\n", argv[i], errno);
			continue;
		}
		if (make)
			fputs("made\n", f);
		else
			for (int c; (c = getc(f)) != EOF;)
				putchar(c);
		fclose(f);
	}
	return 0;
}
