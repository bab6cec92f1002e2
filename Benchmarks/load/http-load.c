// HTTP/1.1 load over keep-alive connections: as fast as answers come, or at a fixed rate.
//
// http-load --port P [--connections C] [--seconds S] [--rate R] [--path /p] [--tokens FILE] [--field "Name: value"]
//           [--status 200] [--hold yes]
//
// With --tokens, every request has the next line of the file as its bearer token, from a random one on: what a run before
// has left in a cache is then rarely asked for again. At a fixed rate, latency is measured
// from the moment a request was due, so that it includes waiting for a stalled server (no coordinated omission).
// With --hold each connection makes one request and stays open until standard input ends.
#include "common.h"

typedef struct {
    int fd, index;
    int64_t sent_at;
    size_t have;
    const char *out;
    size_t out_left;
    int is_connected, is_busy;
    char in[8192];
} Connection;

static char **requests;
static size_t *lengths, request_count, next_request;
static int poller, expected;
static int64_t done, failed, bad_status;
static Samples latencies;
static Connection *idle[20000];
static int idle_count;

static void push_out(Connection *c) {
    while (c->out_left) {
        ssize_t n = write(c->fd, c->out, c->out_left);
        if (n < 0) {
            if (errno == EAGAIN) return watch(poller, EPOLL_CTL_MOD, c->fd, EPOLLIN | EPOLLOUT, c);
            die("write");
        }
        c->out += n;
        c->out_left -= (size_t)n;
    }
}

static void send_next(Connection *c, int64_t due) {
    c->out = requests[next_request];
    c->out_left = lengths[next_request];
    next_request = (next_request + 1) % request_count;
    c->sent_at = due;
    c->have = 0;
    c->is_busy = 1;
    push_out(c);
}

static const char *find_field(const char *head, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *at = head; at + length < end; at++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (!at || at + 1 + length >= end) return NULL;
        if (!strncasecmp(at + 1, name, length)) return at + 1 + length;
    }
    return NULL;
}

/// Returns 1 if the answer is complete, 0 if more must arrive, -1 if the connection cannot be used any further.
static int read_answer(Connection *c) {
    ssize_t n = read(c->fd, c->in + c->have, sizeof c->in - 1 - c->have);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    c->have += (size_t)n;
    c->in[c->have] = 0;
    char *end = memmem(c->in, c->have, "\r\n\r\n", 4);
    if (!end) return 0;
    const char *length = find_field(c->in, end + 2, "content-length:");
    size_t body = length ? strtoul(length, NULL, 10) : 0;
    size_t whole = (size_t)(end + 4 - c->in) + body;
    if (c->have < whole) {
        if (whole >= sizeof c->in) { fprintf(stderr, "the answer is too large for this generator\n"); exit(1); }
        return 0;
    }
    if (atoi(c->in + 9) != expected) bad_status++;
    return 1;
}

int main(int argc, char **argv) {
    raise_files();
    int port = (int)number(argc, argv, "--port", 0);
    int connections = (int)number(argc, argv, "--connections", 32);
    double seconds = (double)number(argc, argv, "--seconds", 3);
    long rate = number(argc, argv, "--rate", 0);
    int hold = option(argc, argv, "--hold", NULL) != NULL;
    expected = (int)number(argc, argv, "--status", 200);
    const char *path = option(argc, argv, "--path", "/");
    const char *field = option(argc, argv, "--field", NULL);
    const char *token_file = option(argc, argv, "--tokens", NULL);
    char **tokens = read_lines(token_file, &request_count);
    requests = malloc(request_count * sizeof *requests);
    lengths = malloc(request_count * sizeof *lengths);
    for (size_t i = 0; i < request_count; i++) {
        int n = asprintf(
            &requests[i],
            "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: http-load\r\nAccept: */*\r\n%s%s%s%s%s\r\n",
            path, port, field ? field : "", field ? "\r\n" : "", token_file ? "Authorization: Bearer " : "", tokens[i],
            token_file ? "\r\n" : "");
        if (n < 0) die("asprintf");
        lengths[i] = (size_t)n;
    }
    next_request = (size_t)(now_ns() / 1000) % request_count;
    poller = epoll_create1(0);
    Connection *all = calloc((size_t)connections, sizeof *all);
    int opened = 0, answered = 0, window = hold ? 64 : connections;
    int timer = -1;
    Connection clock_mark;
    if (rate) {
        timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
        struct itimerspec tick = {.it_value.tv_nsec = 50000, .it_interval.tv_nsec = 50000};
        timerfd_settime(timer, 0, &tick, NULL);
        watch(poller, EPOLL_CTL_ADD, timer, EPOLLIN, &clock_mark);
    }
    if (hold) watch(poller, EPOLL_CTL_ADD, 0, EPOLLIN, NULL);
    int64_t began = now_ns(), warm = began + (hold ? 0 : 300000000), until = warm + (int64_t)(seconds * 1e9);
    int64_t due_count = 0, counted_from = -1;
    int running = 1, announced = 0;
    struct epoll_event events[256];
    while (running) {
        while (opened < connections && opened - answered < window) {
            Connection *c = &all[opened];
            c->index = opened;
            c->fd = dial(port, (unsigned)(hold ? opened % 50 : 0));
            watch(poller, EPOLL_CTL_ADD, c->fd, EPOLLIN | EPOLLOUT, c);
            opened++;
        }
        int n = epoll_wait(poller, events, 256, 100);
        int64_t now = now_ns();
        if (!hold && counted_from < 0 && now >= warm) {
            counted_from = now;
            done = 0;
            latencies.count = 0;
        }
        if (!hold && now >= until) break;
        for (int i = 0; i < n; i++) {
            Connection *c = events[i].data.ptr;
            if (c == NULL) {
                running = 0;
                break;
            }
            if (c == &clock_mark) {
                uint64_t ticks;
                if (read(timer, &ticks, sizeof ticks) < 0 && errno != EAGAIN) die("timer");
                continue;
            }
            if (events[i].events & EPOLLOUT) {
                watch(poller, EPOLL_CTL_MOD, c->fd, EPOLLIN, c);
                if (!c->is_connected) {
                    c->is_connected = 1;
                    if (rate) idle[idle_count++] = c; else send_next(c, now);
                } else {
                    push_out(c);
                }
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                int got = read_answer(c);
                if (got < 0) {
                    failed++;
                    answered += hold && c->is_busy;
                    epoll_ctl(poller, EPOLL_CTL_DEL, c->fd, NULL);
                    close(c->fd);
                    if (!hold) {
                        c->is_connected = c->is_busy = 0;
                        c->fd = dial(port, 0);
                        watch(poller, EPOLL_CTL_ADD, c->fd, EPOLLIN | EPOLLOUT, c);
                    }
                } else if (got == 1 && c->is_busy) {
                    c->is_busy = 0;
                    done++;
                    answered++;
                    add_sample(&latencies, now_ns() - c->sent_at);
                    if (rate) idle[idle_count++] = c; else if (!hold) send_next(c, now);
                }
            }
        }
        if (rate) {
            now = now_ns();
            int64_t due = (int64_t)((double)(now - began) * (double)rate / 1e9);
            while (due_count < due && idle_count > 0) {
                due_count++;
                send_next(idle[--idle_count], began + (int64_t)((double)due_count * 1e9 / (double)rate));
            }
        }
        if (hold && !announced && answered == connections) {
            announced = 1;
            printf("{\"open\": %lld, \"failed\": %lld, \"bad_status\": %lld}\n", (long long)(connections - failed),
                (long long)failed, (long long)bad_status);
            fflush(stdout);
        }
    }
    double elapsed = (double)(now_ns() - counted_from) / 1e9;
    sort_samples(&latencies);
    printf("{\"rate\": %.1f, \"requests\": %lld, \"failed\": %lld, \"bad_status\": %lld, \"p50\": %.1f, \"p90\": %.1f, "
           "\"p99\": %.1f, \"max\": %.1f}\n",
        (double)done / elapsed, (long long)done, (long long)failed, (long long)bad_status,
        (double)quantile(&latencies, 0.5) / 1e3, (double)quantile(&latencies, 0.9) / 1e3,
        (double)quantile(&latencies, 0.99) / 1e3, (double)quantile(&latencies, 1) / 1e3);
    return 0;
}
