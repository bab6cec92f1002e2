// The common parts of the generators: clocks, options, non-blocking sockets, percentiles.
#ifndef COMMON_H
#define COMMON_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static inline int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void die(const char *what) {
    perror(what);
    exit(1);
}

static inline const char *option(int argc, char **argv, const char *name, const char *fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return argv[i + 1];
    return fallback;
}

static inline long number(int argc, char **argv, const char *name, long fallback) {
    const char *text = option(argc, argv, name, NULL);
    return text ? atol(text) : fallback;
}

static inline void raise_files(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/// Starts a non-blocking connection. `source` selects one of many loopback addresses, so that there are enough ports.
static inline int dial(int port, unsigned source) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0) die("socket");
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (source) {
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000100u + source % 200)};
        if (bind(fd, (struct sockaddr *)&own, sizeof own) < 0) die("bind");
    }
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) die("connect");
    return fd;
}

/// Ends a connection with a reset: nothing lingers in TIME_WAIT.
static inline void cut(int fd) {
    struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

static inline void watch(int poll, int how, int fd, uint32_t events, void *owner) {
    struct epoll_event event = {.events = events, .data.ptr = owner};
    if (epoll_ctl(poll, how, fd, &event) < 0) die("epoll_ctl");
}

// MARK: Samples

typedef struct {
    int64_t *values;
    size_t count, room;
} Samples;

static inline void add_sample(Samples *s, int64_t value) {
    if (s->count == s->room) {
        s->room = s->room ? s->room * 2 : 65536;
        s->values = realloc(s->values, s->room * sizeof *s->values);
        if (!s->values) die("realloc");
    }
    s->values[s->count++] = value;
}

static inline int compare_samples(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline void sort_samples(Samples *s) { qsort(s->values, s->count, sizeof *s->values, compare_samples); }

/// Of sorted samples.
static inline int64_t quantile(const Samples *s, double q) {
    if (!s->count) return 0;
    size_t index = (size_t)(q * (double)s->count);
    return s->values[index < s->count ? index : s->count - 1];
}

// MARK: Tokens

/// Lines of a file, or one empty line without a file.
static inline char **read_lines(const char *path, size_t *count) {
    char **lines = malloc(sizeof *lines);
    *count = 0;
    if (!path) {
        lines[(*count)++] = strdup("");
        return lines;
    }
    FILE *file = fopen(path, "r");
    if (!file) die(path);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, file)) > 0) {
        if (line[length - 1] == '\n') line[length - 1] = 0;
        lines = realloc(lines, (*count + 1) * sizeof *lines);
        lines[(*count)++] = strdup(line);
    }
    fclose(file);
    free(line);
    return lines;
}
#endif
