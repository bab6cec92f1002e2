// The upstream of the benchmarks: a small HTTP answer, a sink and a source for large bodies, and a WebSocket echo.
//
// upstream --port P       prints `ready` when it listens
//   GET  anything         128 bytes, with the fields nginx would send
//   GET  /source/N        N bytes
//   POST anything         reads and drops the body, answers like GET
//   Upgrade: websocket    101, then every frame goes back unmasked
#include "common.h"
#include <openssl/sha.h>
#include <openssl/evp.h>

enum { ROOM = 65536 };
typedef struct {
    int fd, is_socket;
    size_t have, out_have, out_sent;
    int64_t body_left, source_left;
    char *in, *out;
    int wants_out;
} Peer;

static int poller;
static char filler[ROOM];
static const char answer_head[] =
    "HTTP/1.1 200 OK\r\nServer: upstream\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain\r\n"
    "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"659200a0-80\"\r\n"
    "Accept-Ranges: bytes\r\n";

static void drop(Peer *p) {
    close(p->fd);
    free(p->in);
    free(p->out);
    free(p);
}

static void want_out(Peer *p, int wanted) {
    if (p->wants_out == wanted) return;
    p->wants_out = wanted;
    watch(poller, EPOLL_CTL_MOD, p->fd, wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, p);
}

/// Returns 0 if the peer is gone.
static int flush_out(Peer *p) {
    while (p->out_sent < p->out_have || p->source_left > 0) {
        const char *from = p->out + p->out_sent;
        size_t length = p->out_have - p->out_sent;
        int is_source = length == 0;
        if (is_source) {
            from = filler;
            length = p->source_left < ROOM ? (size_t)p->source_left : ROOM;
        }
        ssize_t n = write(p->fd, from, length);
        if (n < 0) {
            if (errno != EAGAIN) return 0;
            want_out(p, 1);
            return 1;
        }
        if (is_source) p->source_left -= n; else p->out_sent += (size_t)n;
    }
    p->out_have = p->out_sent = 0;
    want_out(p, 0);
    return 1;
}

static void put(Peer *p, const void *bytes, size_t length) {
    if (!p->out) p->out = malloc(2 * ROOM);
    if (p->out_have + length > 2 * ROOM) return;
    memcpy(p->out + p->out_have, bytes, length);
    p->out_have += length;
}

static const char *field(const char *head, const char *name) {
    const char *at = strcasestr(head, name);
    if (!at) return NULL;
    at += strlen(name);
    while (*at == ' ') at++;
    return at;
}

static void accept_socket(Peer *p, const char *key) {
    char text[128];
    size_t length = strcspn(key, "\r\n");
    snprintf(text, sizeof text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)(length < 64 ? length : 64), key);
    unsigned char digest[20], encoded[32];
    SHA1((unsigned char *)text, strlen(text), digest);
    EVP_EncodeBlock(encoded, digest, 20);
    char head[256];
    int n = snprintf(head, sizeof head,
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Accept: %s\r\n\r\n",
        encoded);
    put(p, head, (size_t)n);
    p->is_socket = 1;
}

static void answer(Peer *p, const char *head) {
    int64_t source = 0;
    if (!strncmp(head, "GET /source/", 12)) source = atoll(head + 12);
    char text[64];
    put(p, answer_head, sizeof answer_head - 1);
    int n = snprintf(text, sizeof text, "Content-Length: %lld\r\n\r\n", (long long)(source ? source : 128));
    put(p, text, (size_t)n);
    if (source) p->source_left = source; else put(p, filler, 128);
}

/// Processes what has arrived, and returns the number of bytes consumed.
static size_t take_http(Peer *p, size_t at) {
    if (p->body_left > 0) {
        size_t part = p->have - at;
        if ((int64_t)part > p->body_left) part = (size_t)p->body_left;
        p->body_left -= (int64_t)part;
        if (p->body_left == 0) answer(p, "POST");
        return part;
    }
    char *end = memmem(p->in + at, p->have - at, "\r\n\r\n", 4);
    if (!end) return 0;
    char saved = end[2];
    end[2] = 0;
    char *head = p->in + at;
    const char *key = field(head, "\nsec-websocket-key:"), *length = field(head, "\ncontent-length:");
    if (key) {
        accept_socket(p, key);
    } else if (length && atoll(length) > 0) {
        p->body_left = atoll(length);
        if (field(head, "\nexpect:")) put(p, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    } else {
        answer(p, head);
    }
    end[2] = saved;
    return (size_t)(end + 4 - head);
}

static size_t take_frame(Peer *p, size_t at) {
    unsigned char *f = (unsigned char *)p->in + at;
    size_t have = p->have - at;
    if (have < 2) return 0;
    size_t length = f[1] & 127, head = 2;
    if (length == 126) {
        if (have < 4) return 0;
        length = (size_t)f[2] << 8 | f[3];
        head = 4;
    }
    if (length == 127 || !(f[1] & 128)) return have;
    if (have < head + 4 + length) return 0;
    unsigned char *mask = f + head, *payload = mask + 4;
    for (size_t i = 0; i < length; i++) payload[i] ^= mask[i & 3];
    unsigned char reply[4] = {f[0], f[1] & 127, f[2], f[3]};
    put(p, reply, head);
    put(p, payload, length);
    return head + 4 + length;
}

static int readable(Peer *p) {
    if (!p->in) p->in = malloc(ROOM + 1);
    ssize_t n = read(p->fd, p->in + p->have, ROOM - p->have);
    if (n == 0) return 0;
    if (n < 0) return errno == EAGAIN;
    p->have += (size_t)n;
    p->in[p->have] = 0;
    size_t at = 0, used;
    while (at < p->have && (used = p->is_socket ? take_frame(p, at) : take_http(p, at)) > 0) at += used;
    memmove(p->in, p->in + at, p->have - at);
    p->have -= at;
    return flush_out(p);
}

int main(int argc, char **argv) {
    raise_files();
    memset(filler, 'x', sizeof filler);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((int)number(argc, argv, "--port", 0)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0) die("bind");
    if (listen(listener, 4096) < 0) die("listen");
    poller = epoll_create1(0);
    watch(poller, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
    puts("ready");
    fflush(stdout);
    struct epoll_event events[256];
    while (1) {
        int n = epoll_wait(poller, events, 256, -1);
        for (int i = 0; i < n; i++) {
            Peer *p = events[i].data.ptr;
            if (!p) {
                int fd;
                while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    p = calloc(1, sizeof *p);
                    p->fd = fd;
                    watch(poller, EPOLL_CTL_ADD, fd, EPOLLIN, p);
                }
                continue;
            }
            int alive = 1;
            if (events[i].events & EPOLLOUT) alive = flush_out(p);
            if (alive && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) alive = readable(p);
            if (!alive) drop(p);
        }
    }
}
