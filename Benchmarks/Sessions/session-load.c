// Creates anonymous sessions over keep-alive connections, as fast as possible; with --token, upgrades each at once.
//
// session-load --port P [--connections C] [--seconds S] [--token FILE]
#include "../load/common.h"

typedef struct {
    int fd, is_connected, is_upgrade;
    int64_t sent_at;
    size_t have;
    const char *out;
    size_t out_left;
    char request[4096], in[8192];
} Connection;

static int port, poller;
/// Each upgrade takes the next.
static char **tokens;
static size_t token_count, next_token;
static int64_t created, upgraded, failed, bad_status;
static Samples latencies;

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

static void send_request(Connection *c, int length) {
    c->out = c->request;
    c->out_left = (size_t)length;
    c->have = 0;
    c->sent_at = now_ns();
    push_out(c);
}

static void create(Connection *c) {
    c->is_upgrade = 0;
    send_request(c, snprintf(c->request, sizeof c->request,
        "POST /api/session/create-anonymous HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 0\r\n\r\n", port));
}

/// Copies the text of a member of the answer.
static int member(const char *json, const char *name, char *into, size_t room) {
    const char *at = strstr(json, name);
    if (!at) return 0;
    at += strlen(name);
    const char *end = strchr(at, '"');
    if (!end || (size_t)(end - at) >= room) return 0;
    memcpy(into, at, (size_t)(end - at));
    into[end - at] = 0;
    return 1;
}

static void upgrade(Connection *c) {
    char id[64], secret[64];
    if (!member(c->in, "\"session_id\":\"", id, sizeof id) ||
        !member(c->in, "\"session_secret\":\"", secret, sizeof secret)) {
        fprintf(stderr, "no session in: %s\n", c->in);
        exit(1);
    }
    c->is_upgrade = 1;
    send_request(c, snprintf(c->request, sizeof c->request,
        "PATCH /api/session/%s/upgrade HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
        "Session-Secret: %s\r\nContent-Length: 0\r\n\r\n", id, port, tokens[next_token++ % token_count], secret));
}

/// Returns 1 if the answer is complete, 0 if more must arrive, -1 if the connection cannot be used any further.
static int read_answer(Connection *c) {
    ssize_t n = read(c->fd, c->in + c->have, sizeof c->in - 1 - c->have);
    if (n == 0) return -1;
    if (n < 0) return errno == EAGAIN ? 0 : -1;
    c->have += (size_t)n;
    c->in[c->have] = 0;
    char *end = strstr(c->in, "\r\n\r\n");
    if (!end) return 0;
    char *length = strcasestr(c->in, "\r\ncontent-length:");
    size_t whole = (size_t)(end + 4 - c->in) + (length ? strtoul(length + 17, NULL, 10) : 0);
    return c->have >= whole;
}

int main(int argc, char **argv) {
    port = (int)number(argc, argv, "--port", 0);
    int connections = (int)number(argc, argv, "--connections", 64);
    double seconds = (double)number(argc, argv, "--seconds", 3);
    const char *file = option(argc, argv, "--token", NULL);
    if (file) tokens = read_lines(file, &token_count);
    poller = epoll_create1(0);
    Connection *all = calloc((size_t)connections, sizeof *all);
    for (int i = 0; i < connections; i++) {
        all[i].fd = dial(port, 0);
        watch(poller, EPOLL_CTL_ADD, all[i].fd, EPOLLIN | EPOLLOUT, &all[i]);
    }
    int64_t warm = now_ns() + 300000000, until = warm + (int64_t)(seconds * 1e9), counted_from = -1;
    struct epoll_event events[256];
    while (1) {
        int n = epoll_wait(poller, events, 256, 100);
        int64_t now = now_ns();
        if (counted_from < 0 && now >= warm) {
            counted_from = now;
            created = upgraded = 0;
            latencies.count = 0;
        }
        if (now >= until) break;
        for (int i = 0; i < n; i++) {
            Connection *c = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) {
                watch(poller, EPOLL_CTL_MOD, c->fd, EPOLLIN, c);
                if (c->is_connected) { push_out(c); } else { c->is_connected = 1; create(c); }
            }
            if (!(events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) continue;
            int got = read_answer(c);
            if (got < 0) {
                failed++;
                epoll_ctl(poller, EPOLL_CTL_DEL, c->fd, NULL);
                close(c->fd);
            } else if (got) {
                add_sample(&latencies, now_ns() - c->sent_at);
                if (atoi(c->in + 9) != 200) {
                    bad_status++;
                    create(c);
                } else if (c->is_upgrade) {
                    upgraded++;
                    create(c);
                } else {
                    created++;
                    if (tokens) { upgrade(c); } else { create(c); }
                }
            }
        }
    }
    double elapsed = (double)(now_ns() - counted_from) / 1e9;
    sort_samples(&latencies);
    printf("{\"rate\": %.1f, \"created\": %.1f, \"upgraded\": %.1f, \"failed\": %lld, \"bad_status\": %lld, "
           "\"p50\": %.1f, \"p99\": %.1f}\n",
        (double)(created + upgraded) / elapsed, (double)created / elapsed, (double)upgraded / elapsed,
        (long long)failed, (long long)bad_status, (double)quantile(&latencies, 0.5) / 1e3,
        (double)quantile(&latencies, 0.99) / 1e3);
    return 0;
}
