#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/hash.h"
#include "trace/recorder/inject/inject.h"
#include "trace/recorder/wire/record_pipe.h"

enum { HIGH_FD = 700, START_MESSAGES = 4096, CONNECT_WAIT_S = 2, MOST_WAITS = 20 };

/* A text that was sent. */
struct text {
    UT_hash_handle hh;
    uint64_t number; /* from 1 */
    char name[];     /* without its end */
};

static struct {
    pthread_mutex_t lock; /* of everything below but the sending side */
    struct record_pipe_message *queue;
    size_t n, cap, max;
    uint64_t lost;      /* messages refused since the last report */
    struct text *texts; /* by name; kept for good */
    uint64_t text_count, text_bytes;
    /* Sending side, one thread at a time (send_lock). */
    pthread_mutex_t send_lock;
    struct record_pipe_message *sending;
    size_t sending_n, sending_cap, sent_bytes;
    int fd;
    char name[128]; /* of the recorder's socket */
    ino_t inode;
    atomic_bool dead; /* the recorder is gone, or this is a forked child */
} outbox = {.lock = PTHREAD_MUTEX_INITIALIZER, .send_lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Room for n more messages; the lock is held. */
static bool outbox_room(size_t n)
{
    if (outbox.n + n <= outbox.cap)
        return true;
    if (outbox.n + n > outbox.max)
        return false;
    size_t cap = outbox.cap ? outbox.cap * 2 : START_MESSAGES;
    while (cap < outbox.n + n)
        cap *= 2;
    void *grown = realloc(outbox.queue, cap * sizeof *outbox.queue);
    if (!grown)
        return false;
    outbox.queue = grown;
    outbox.cap = cap;
    return true;
}

static bool outbox_put_locked(const struct record_pipe_message *messages, size_t n, bool counted)
{
    if (!outbox_room(n)) {
        outbox.lost += counted ? n : 0;
        return false;
    }
    memcpy(outbox.queue + outbox.n, messages, n * sizeof *messages);
    outbox.n += n;
    return true;
}

static bool outbox_put(const struct record_pipe_message *messages, size_t n, bool counted)
{
    if (atomic_load(&outbox.dead))
        return true;
    pthread_mutex_lock(&outbox.lock);
    bool room = outbox_put_locked(messages, n, counted);
    pthread_mutex_unlock(&outbox.lock);
    return room;
}

void inject_put(const struct record_pipe_message *messages, size_t n)
{
    (void)outbox_put(messages, n, true);
}

bool inject_offer(const struct record_pipe_message *messages, size_t n)
{
    return outbox_put(messages, n, false);
}

static void text_send(uint64_t number, const char *text, size_t total)
{
    size_t at = 0;
    do {
        struct record_pipe_message m = {.type = RECORD_PIPE_TEXT, .id = number};
        m.text_offset = (uint32_t)at;
        m.text_total = (uint32_t)total;
        size_t n = total - at < RECORD_PIPE_TEXT_BYTES ? total - at : RECORD_PIPE_TEXT_BYTES;
        memcpy(m.text, text + at, n);
        (void)outbox_put_locked(&m, 1, true);
        at += n;
    } while (at < total);
}

/* Told apart by all of their bytes, also those that are not sent. NULL: no memory. */
static struct text *text_new(const char *text, size_t length)
{
    struct text *t = malloc(sizeof *t + length);
    if (!t)
        return NULL;
    memcpy(t->name, text, length);
    t->number = outbox.text_count + 1;
    HASH_ADD_KEYPTR(hh, outbox.texts, t->name, length, t);
    if (hash_has(t))
        return t;
    free(t);
    return NULL;
}

static uint64_t text_add(const char *text)
{
    size_t length = strlen(text), total = length < RECORD_PIPE_TEXT_MAX ? length : RECORD_PIPE_TEXT_MAX;
    struct text *t;
    HASH_FIND(hh, outbox.texts, text, length, t);
    if (t)
        return t->number;
    /* A text is sent whole or not at all, so that later messages can name it. */
    if (outbox.text_count + 1 >= RECORD_PIPE_TEXTS_MAX || outbox.text_bytes + total > RECORD_PIPE_TEXTS_SUM ||
        !outbox_room(total / RECORD_PIPE_TEXT_BYTES + 1))
        return 0;
    t = text_new(text, length);
    if (!t)
        return 0;
    outbox.text_bytes += total;
    text_send(++outbox.text_count, text, total);
    return t->number;
}

/* fstat() itself is of glibc 2.33. */
static int look_at(int fd, struct stat *st)
{
    return (int)syscall(SYS_fstat, fd, st);
}

/* A recorder that is stopped takes no connections: the program does not wait long for it. */
static int outbox_connect(const char *name)
{
    const struct timeval wait = {.tv_sec = CONNECT_WAIT_S};
    struct sockaddr_un addr;
    socklen_t length = record_address(name, &addr);
    int fd = length ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (connect(fd, (struct sockaddr *)&addr, length) == 0)
        return fd;
    close(fd);
    return -1;
}

int inject_outbox_open(const char *socket_path, size_t max_bytes)
{
    int fd = outbox_connect(socket_path);
    if (fd < 0)
        return -1;
    /* Out of the way of programs that count on low numbers. */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    struct stat st;
    if (fcntl(fd, F_SETFL, O_NONBLOCK) || look_at(fd, &st)) {
        close(fd);
        return -1;
    }
    outbox.fd = fd;
    outbox.inode = st.st_ino;
    (void)snprintf(outbox.name, sizeof outbox.name, "%s", socket_path);
    outbox.max = max_bytes / 2 / sizeof *outbox.queue; /* two queues: one fills, one is sent */
    struct record_pipe_message hello = {.type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC, .id = (uint64_t)getpid()};
    hello.bytes = RECORD_PIPE_VERSION;
    hello.group = (uint32_t)getppid();
    (void)outbox_put_locked(&hello, 1, true);
    text_send(0, "?", 1);
    return 0;
}

uint64_t inject_text(const char *text)
{
    if (atomic_load(&outbox.dead))
        return 0;
    pthread_mutex_lock(&outbox.lock);
    uint64_t number = text_add(text ? text : "?");
    pthread_mutex_unlock(&outbox.lock);
    return number;
}

void inject_fact(const char *key, const char *value)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_FACT, .id = inject_text(key)};
    m.addr = inject_text(value);
    inject_put(&m, 1);
}

void inject_fact_number(const char *key, int64_t value)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    inject_fact(key, text);
}

void inject_count(enum record_pipe_type skip_or_drop, const char *reason, uint64_t n)
{
    if (n == 0)
        return;
    struct record_pipe_message m = {.type = skip_or_drop, .id = inject_text(reason)};
    m.bytes = n;
    inject_put(&m, 1);
}

void inject_problem(enum record_pipe_problem how, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    struct record_pipe_message m = {.type = RECORD_PIPE_PROBLEM, .id = inject_text(text)};
    m.flags = how;
    inject_put(&m, 1);
}

/* Take the queue over for sending; put the count of lost messages in front. */
static void outbox_take(void)
{
    pthread_mutex_lock(&outbox.lock);
    struct record_pipe_message *empty = outbox.sending;
    size_t empty_cap = outbox.sending_cap;
    outbox.sending = outbox.queue;
    outbox.sending_n = outbox.n;
    outbox.sending_cap = outbox.cap;
    outbox.queue = empty;
    outbox.cap = empty_cap;
    outbox.n = 0;
    uint64_t lost = outbox.lost;
    outbox.lost = 0;
    pthread_mutex_unlock(&outbox.lock);
    outbox.sent_bytes = 0;
    inject_count(RECORD_PIPE_DROP, "the recorder's queue was full", lost);
}

static void outbox_lose(bool ours)
{
    if (ours)
        close(outbox.fd);
    outbox.fd = -1;
    outbox.sending_n = 0;
    atomic_store(&outbox.dead, true);
}

/* Send what was taken. Only a socket with our inode is written to: a program that closes all descriptors and opens
 * others must not find our messages in them. */
static int outbox_flush(int64_t wait_ms)
{
    size_t total = outbox.sending_n * sizeof *outbox.sending;
    int64_t start = clock_ms(CLOCK_MONOTONIC), deadline = start + wait_ms;
    while (outbox.sent_bytes < total) {
        struct stat st;
        if (outbox.fd < 0 || look_at(outbox.fd, &st) || st.st_ino != outbox.inode || !S_ISSOCK(st.st_mode)) {
            outbox_lose(false);
            return -1;
        }
        ssize_t n = send(outbox.fd, (char *)outbox.sending + outbox.sent_bytes, total - outbox.sent_bytes,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            outbox.sent_bytes += (size_t)n;
            deadline = wait_ms && clock_ms(CLOCK_MONOTONIC) - start < wait_ms * MOST_WAITS
                           ? clock_ms(CLOCK_MONOTONIC) + wait_ms
                           : deadline;
            continue;
        }
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) {
            outbox_lose(true);
            return -1;
        }
        int64_t left = deadline - clock_ms(CLOCK_MONOTONIC);
        if (left <= 0)
            return -1;
        struct pollfd p = {.fd = outbox.fd, .events = POLLOUT};
        (void)poll(&p, 1, left > 100 ? 100 : (int)left);
    }
    outbox.sending_n = 0;
    return 0;
}

int inject_outbox_send(int wait_ms)
{
    pthread_mutex_lock(&outbox.send_lock);
    int rc = 0;
    for (int turn = 0; turn < 2 && rc == 0; turn++) {
        if (outbox.sending_n == 0)
            outbox_take();
        rc = outbox_flush(wait_ms);
    }
    pthread_mutex_unlock(&outbox.send_lock);
    return rc;
}

/* What is not sent, said in a connection of its own: a recorder that is stopped finds it there when it goes on. */
static void outbox_report(void)
{
    pthread_mutex_lock(&outbox.send_lock);
    pthread_mutex_lock(&outbox.lock);
    uint64_t left = outbox.n + outbox.lost + outbox.sending_n - outbox.sent_bytes / sizeof *outbox.sending;
    pthread_mutex_unlock(&outbox.lock);
    pthread_mutex_unlock(&outbox.send_lock);
    int fd = atomic_load(&outbox.dead) || left == 0 ? -1 : outbox_connect(outbox.name);
    if (fd < 0)
        return;
    struct record_pipe_message report = {
        .type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC, .id = (uint64_t)getpid()};
    report.bytes = RECORD_PIPE_VERSION;
    report.flags = RECORD_PIPE_LOSS_REPORT;
    report.addr = left;
    (void)send(fd, &report, sizeof report, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

void inject_outbox_goodbye(int wait_ms)
{
    const struct record_pipe_message bye = {.type = RECORD_PIPE_BYE};
    inject_put(&bye, 1);
    if (inject_outbox_send(wait_ms))
        outbox_report();
}

void inject_outbox_abandon(void)
{
    atomic_store(&outbox.dead, true);
    if (outbox.fd >= 0)
        close(outbox.fd);
    outbox.fd = -1;
}
