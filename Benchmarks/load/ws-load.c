// WebSocket load.
//
// ws-load upgrades --port P --path /p [--connections C] [--seconds S] [--tokens FILE] [--field "Name: value"]
//     connects, upgrades and disconnects, as often as possible
// ws-load messages … [--size 128]
//     C sockets, each sends a message when the last one has come back
// ws-load hold …
//     opens C sockets, answers pings, and executes lines from standard input; with --every MS, a message goes there and
//     back on each of them so often:
//     `mark` resets the counters; `mute` ends the messages; `report T0` prints what arrived since, with close times relative to T0 (monotonic ns)
#include "common.h"

typedef struct {
    int fd, is_open, is_closed;
    int64_t closed_at;
    int close_code;
    size_t have, out_left;
    const char *out;
    char *in;
} Socket;

enum { ROOM = 4096 };
static char **requests;
static size_t *lengths, request_count, next_request;
static int poller, port, connections, holds, sends_messages;
static int64_t upgraded, refused, messages, bytes_seen, pings, ended, sent, every, sending_since;
static unsigned dialled;
static char frame[70000];
static size_t frame_length, reply_length;
static char shared_in[131072];

static void open_socket(Socket *s) {
    s->fd = dial(port, 1 + dialled++ % 100);
    s->is_open = s->is_closed = 0;
    s->have = 0;
    s->out = requests[next_request];
    s->out_left = lengths[next_request];
    next_request = (next_request + 1) % request_count;
    watch(poller, EPOLL_CTL_ADD, s->fd, EPOLLIN | EPOLLOUT, s);
}

static void push_out(Socket *s) {
    while (s->out_left) {
        ssize_t n = send(s->fd, s->out, s->out_left, MSG_NOSIGNAL);
        if (n < 0) return;
        s->out += n;
        s->out_left -= (size_t)n;
    }
}

static void send_message(Socket *s) {
    s->out = frame;
    s->out_left = frame_length;
    s->have = 0;
    push_out(s);
    if (s->out_left) watch(poller, EPOLL_CTL_MOD, s->fd, EPOLLIN | EPOLLOUT, s);
}

static void gone(Socket *s) {
    if (s->is_closed != 2) ended++;
    s->is_closed = 2;
    epoll_ctl(poller, EPOLL_CTL_DEL, s->fd, NULL);
    cut(s->fd);
}

/// Reads the frames of a held socket: answers pings, and records the time of a Close.
static void read_frames(Socket *s, const char *data, size_t length) {
    bytes_seen += (int64_t)length;
    if (!s->in) s->in = malloc(ROOM);
    if (s->have + length > ROOM) return;
    memcpy(s->in + s->have, data, length);
    s->have += length;
    size_t at = 0;
    while (s->have - at >= 2) {
        unsigned char *f = (unsigned char *)s->in + at;
        size_t payload = f[1] & 127, head = 2;
        if (payload == 126) {
            if (s->have - at < 4) break;
            payload = (size_t)f[2] << 8 | f[3];
            head = 4;
        }
        if (s->have - at < head + payload) break;
        if ((f[0] & 15) == 9) {
            pings++;
            unsigned char pong[6 + 125] = {0x8a, 0x80 | (unsigned char)payload};
            memcpy(pong + 6, f + head, payload);
            if (write(s->fd, pong, 6 + payload) < 0 && errno != EPIPE && errno != ECONNRESET) perror("pong");
        } else if ((f[0] & 15) == 1) {
            messages++;
        } else if ((f[0] & 15) == 8 && !s->is_closed) {
            s->is_closed = 1;
            s->closed_at = now_ns();
            s->close_code = payload >= 2 ? f[head] << 8 | f[head + 1] : 1005;
            unsigned char answer[8] = {0x88, 0x82, 0, 0, 0, 0, f[head], f[head + 1]};
            if (write(s->fd, answer, payload >= 2 ? 8 : 6) < 0 && errno != EPIPE && errno != ECONNRESET) perror("close");
        }
        at += head + payload;
    }
    memmove(s->in, s->in + at, s->have - at);
    s->have -= at;
    if (!s->have) {
        free(s->in);
        s->in = NULL;
    }
}

/// Returns 0 if the connection has ended.
static int readable(Socket *s) {
    ssize_t n = read(s->fd, shared_in, sizeof shared_in);
    if (n == 0) return 0;
    if (n < 0) return errno == EAGAIN;
    const char *data = shared_in;
    size_t length = (size_t)n;
    if (!s->is_open) {
        // Every server measured here sends a head in one piece.
        char *end = memmem(shared_in, length, "\r\n\r\n", 4);
        if (!end || strncmp(shared_in, "HTTP/1.1 101", 12)) {
            if (!refused) fprintf(stderr, "refused: %.*s\n", (int)(length < 600 ? length : 600), shared_in);
            refused++;
            return 0;
        }
        s->is_open = 1;
        upgraded++;
        length -= (size_t)(end + 4 - shared_in);
        data = end + 4;
        if (sends_messages) send_message(s);
    }
    if (holds && length) read_frames(s, data, length);
    if (sends_messages && length) {
        s->have += length;
        if (s->have >= reply_length) {
            messages++;
            send_message(s);
        }
    }
    return 1;
}

/// Sends what is due on held sockets, one after the other. Those that are closed are passed over.
static void send_due(Socket *all, int64_t now) {
    static int64_t turn;
    int64_t due = (now - sending_since) / 1000000 * connections / every;
    // What was missed while this process was stopped is not made up for.
    if (due - turn > connections) turn = due - connections;
    for (; turn < due; turn++) {
        Socket *s = &all[turn % connections];
        if (s->is_open && !s->is_closed && write(s->fd, frame, frame_length) == (ssize_t)frame_length) sent++;
    }
}

static void report(Socket *all, int64_t start) {
    Samples times = {0};
    int codes[5] = {4401, 4403, 4409, 1001, 1013}, counts[5] = {0}, open = 0, other = 0;
    for (int i = 0; i < connections; i++) {
        Socket *s = &all[i];
        if (s->is_open && !s->is_closed) open++;
        if (!s->closed_at) continue;
        add_sample(&times, s->closed_at - start);
        int known = 0;
        for (int k = 0; k < 5; k++)
            if (codes[k] == s->close_code) counts[k]++, known = 1;
        other += !known;
    }
    sort_samples(&times);
    printf("{\"open\": %d, \"ended\": %lld, \"bytes\": %lld, \"pings\": %lld, \"closed\": %zu, \"p50\": %.2f, "
           "\"p99\": %.2f, \"max\": %.2f, \"4401\": %d, \"4403\": %d, \"other\": %d, \"sent\": %lld, \"back\": %lld}\n",
        open, (long long)ended, (long long)bytes_seen, (long long)pings, times.count,
        (double)quantile(&times, 0.5) / 1e6, (double)quantile(&times, 0.99) / 1e6, (double)quantile(&times, 1) / 1e6,
        counts[0], counts[1], other + counts[2] + counts[3] + counts[4], (long long)sent, (long long)messages);
    fflush(stdout);
}

/// Returns 0 at the end of the input.
static int obey(Socket *all) {
    char line[128];
    if (!fgets(line, sizeof line, stdin)) return 0;
    if (!strncmp(line, "mark", 4)) {
        bytes_seen = pings = 0;
        puts("{}");
        fflush(stdout);
    } else if (!strncmp(line, "mute", 4)) {
        every = 0;
        puts("{}");
        fflush(stdout);
    } else if (!strncmp(line, "report", 6)) {
        report(all, atoll(line + 6));
    }
    return 1;
}

int main(int argc, char **argv) {
    raise_files();
    // A held socket may have been closed by the server before its pong is written.
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) return 2;
    int counts_upgrades = !strcmp(argv[1], "upgrades");
    sends_messages = !strcmp(argv[1], "messages");
    holds = !strcmp(argv[1], "hold");
    port = (int)number(argc, argv, "--port", 0);
    connections = (int)number(argc, argv, "--connections", 32);
    double seconds = (double)number(argc, argv, "--seconds", 3);
    size_t size = (size_t)number(argc, argv, "--size", 128);
    every = number(argc, argv, "--every", 0);
    const char *path = option(argc, argv, "--path", "/"), *field = option(argc, argv, "--field", NULL);
    const char *token_file = option(argc, argv, "--tokens", NULL);
    char **tokens = read_lines(token_file, &request_count);
    requests = malloc(request_count * sizeof *requests);
    lengths = malloc(request_count * sizeof *lengths);
    for (size_t i = 0; i < request_count; i++) {
        int n = asprintf(&requests[i],
            "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s%s%s%s%s\r\n",
            path, port, field ? field : "", field ? "\r\n" : "", token_file ? "Authorization: Bearer " : "", tokens[i],
            token_file ? "\r\n" : "");
        if (n < 0) die("asprintf");
        lengths[i] = (size_t)n;
    }
    size_t head = size < 126 ? 2 : 4;
    frame[0] = (char)(holds ? 0x81 : 0x82);
    frame[1] = (char)(0x80 | (size < 126 ? size : 126));
    if (head == 4) frame[2] = (char)(size >> 8), frame[3] = (char)size;
    memset(frame + head + 4, 'm', size);
    frame_length = head + 4 + size;
    reply_length = head + size;

    poller = epoll_create1(0);
    Socket *all = calloc((size_t)connections, sizeof *all), input;
    if (holds) {
        setvbuf(stdin, NULL, _IONBF, 0);
        watch(poller, EPOLL_CTL_ADD, 0, EPOLLIN, &input);
    }
    int opened = 0, announced = 0, running = 1;
    int64_t warm = now_ns() + 300000000, until = warm + (int64_t)(seconds * 1e9), counted_from = -1;
    struct epoll_event events[512];
    while (running) {
        int window = holds ? 64 : connections;
        while (opened < connections && (counts_upgrades || opened - upgraded - refused < window))
            open_socket(&all[opened++]);
        int n = epoll_wait(poller, events, 512, 100);
        int64_t now = now_ns();
        if (announced && every) send_due(all, now);
        if (!holds && counted_from < 0 && now >= warm) {
            counted_from = now;
            if (counts_upgrades) upgraded = 0;
            messages = 0;
        }
        if (!holds && now >= until) break;
        for (int i = 0; i < n && running; i++) {
            Socket *s = events[i].data.ptr;
            if (s == &input) {
                running = obey(all);
                continue;
            }
            if (s->is_closed == 2) continue;
            if (events[i].events & EPOLLOUT) {
                push_out(s);
                if (!s->out_left) watch(poller, EPOLL_CTL_MOD, s->fd, EPOLLIN, s);
            }
            if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
                int alive = readable(s);
                if (counts_upgrades && (s->is_open || !alive)) {
                    cut(s->fd);
                    open_socket(s);
                } else if (!alive) {
                    gone(s);
                }
            }
        }
        if (holds && !announced && upgraded + refused >= connections) {
            announced = 1;
            sending_since = now;
            printf("{\"open\": %lld, \"refused\": %lld}\n", (long long)upgraded, (long long)refused);
            fflush(stdout);
        }
    }
    double elapsed = (double)(now_ns() - counted_from) / 1e9;
    if (!holds)
        printf("{\"rate\": %.1f, \"refused\": %lld, \"ended\": %lld}\n",
            (double)(counts_upgrades ? upgraded : messages) / elapsed, (long long)refused, (long long)ended);
    return 0;
}
