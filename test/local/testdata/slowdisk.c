// SPDX-License-Identifier: Apache-2.0

// What makes a file durable takes 40 ms longer, for the program that this is
// loaded into before the C library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int late(const char *name, int file) {
	struct timespec time = {.tv_nsec = 40 * 1000 * 1000};
	nanosleep(&time, NULL);
	return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return late("fsync", file); }
int fdatasync(int file) { return late("fdatasync", file); }
