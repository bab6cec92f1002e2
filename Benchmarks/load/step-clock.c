// A wall clock that is wrong. Preloaded into a process, it adds the seconds that it finds in the file named by STEP_CLOCK,
// eight bytes, to the time of day. They may change at any moment. Monotonic clocks, which an operator can't set either, go
// on as they are.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *step;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("STEP_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) step = seen;
    close(file);
}

int clock_gettime(clockid_t which, struct timespec *into) {
    int result = real ? real(which, into) : (int)syscall(SYS_clock_gettime, which, into);
    int is_wall = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE || which == CLOCK_TAI;
    if (result == 0 && step && is_wall) into->tv_sec += (time_t)*step;
    return result;
}

int gettimeofday(struct timeval *restrict into, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    into->tv_sec = now.tv_sec;
    into->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}

int timespec_get(struct timespec *into, int base) {
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, into) ? base : 0;
}
