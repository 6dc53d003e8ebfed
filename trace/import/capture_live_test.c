#define TESTING_FORK CK_FORK

#include "trace/import/capture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

enum { READS = 500, PORT = 0x30f7 };

static atomic_int stop;

static void pause_ms(long ms)
{
    (void)nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* The TLP in a NetTLP header, over the loopback interface to itself. */
static void send_tlp(int fd, const struct build_tlp *t)
{
    uint8_t data[BUILD_MOST] = {0};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    size_t n = 6 + build_tlp(data + 6, t);
    ck_assert_int_eq(sendto(fd, data, n, 0, (struct sockaddr *)&to, sizeof to), (ssize_t)n);
}

static void *send_reads(void *ctx)
{
    int fd = *(int *)ctx;
    pause_ms(200);
    for (unsigned i = 0; i < READS; i++) {
        send_tlp(fd, &(struct build_tlp){.byte0 = 0x00, .length = 64, .enables = 0xff, .tag = i & 255});
        send_tlp(fd,
                 &(struct build_tlp){.byte0 = 0x4a, .length = 64, .byte_count = 256, .tag = i & 255, .payload = 256});
        if (i % 50 == 49)
            pause_ms(1);
    }
    send_tlp(fd, &(struct build_tlp){0}); /* all zero: malformed */
    pause_ms(400);
    atomic_store(&stop, 1);
    return NULL;
}

static int add_total(void *ctx, const struct store_value *v, size_t n)
{
    int64_t *totals = ctx;
    (void)n;
    if (strcmp(v[1].s, "completed_reads") == 0)
        totals[0] = v[2].i;
    if (strcmp(v[1].s, "tlps") == 0)
        totals[1] = v[2].i;
    return 0;
}

/* NULL, and said so: it may not be listened there. */
static struct live *open_live(void)
{
    struct err err = {""};
    const struct capture_options options = {.tlp_offset = -1, .filter = {PORT, PORT, 0}};
    struct live *live = live_open("lo", &options, &err);
    if (!live)
        (void)fprintf(stderr, "skipped: %s\n", err.msg);
    return live;
}

/* Packets come from the port that they go to. -1, and said so: it is taken. */
static int open_port(void)
{
    const struct sockaddr_in self = {
        .sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (const struct sockaddr *)&self, sizeof self) == 0)
        return fd;
    (void)fprintf(stderr, "skipped: UDP port %d is taken\n", PORT);
    (void)close(fd);
    return -1;
}

START_TEST(packets_on_the_loopback_interface_are_recorded)
{
    struct live *live = open_live();
    if (!live)
        return;
    int fd = open_port();
    if (fd < 0) {
        live_close(live);
        return;
    }
    const char *path = testing_file("live.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    pthread_t sender;
    ck_assert_int_eq(pthread_create(&sender, NULL, send_reads, &fd), 0);
    WORKS(live_run(live, store, &stop, &err));
    ck_assert_int_eq(pthread_join(sender, NULL), 0);
    WORKS(store_finish(store, &err));
    store_close(store);
    ck_assert_uint_eq(live_counts(live).dropped, 0);
    ck_assert_uint_eq(live_counts(live).damaged, 1);
    ck_assert_uint_ge(live_counts(live).frames, 2 * READS + 1);
    live_close(live);
    (void)close(fd);
    store = GIVES(store_open(path, &err));
    int64_t totals[2] = {0};
    WORKS(store_rows(store, "tlp_totals", add_total, totals, &err));
    ck_assert_int_eq(totals[0], READS);
    ck_assert_int_eq(totals[1], 2 * READS);
    store_close(store);
}
END_TEST

/* Packets and answered reads in a trace that is still being written, and whether it says so. */
static void look(const char *path, uint64_t found[2], bool *complete)
{
    struct store *store = store_open(path, NULL);
    int packets = store ? store_stream_find(store, "tlp") : -1,
        reads = store ? store_stream_find(store, "tlp_reads") : -1;
    found[0] = packets < 0 ? 0 : store_stream(store, packets)->records;
    found[1] = reads < 0 ? 0 : store_stream(store, reads)->records;
    *complete = store && store_complete(store);
    store_close(store);
}

/* Far fewer packets than a chunk holds: what is in the file is there because time has passed. */
START_TEST(a_killed_recording_keeps_what_it_saw_and_matched)
{
    struct err err = {""};
    struct live *live = open_live();
    if (!live)
        return;
    live_close(live);
    const char *path = testing_file("killed.db");
    pid_t child = fork();
    if (child == 0) {
        live = open_live();
        struct store *store = live ? store_create(path, OUTPUT_IN_PLACE, "test", &err) : NULL;
        _exit(!store || live_run(live, store, &stop, &err));
    }
    int fd = open_port();
    if (fd < 0) {
        (void)kill(child, SIGKILL);
        return;
    }
    uint64_t found[2] = {0, 0};
    bool complete = false;
    for (int i = 0; i < 600 && found[1] < 3; i++) {
        send_tlp(fd, &(struct build_tlp){.byte0 = 0x00, .length = 64, .enables = 0xff, .tag = (unsigned)i & 255});
        send_tlp(fd, &(struct build_tlp){
                         .byte0 = 0x4a, .length = 64, .byte_count = 256, .tag = (unsigned)i & 255, .payload = 256});
        pause_ms(50);
        look(path, found, &complete);
    }
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    (void)close(fd);
    look(path, found, &complete);
    ck_assert_uint_ge(found[1], 3);
    ck_assert_uint_ge(found[0], 6);
    ck_assert(!complete);
}
END_TEST

START_TEST(an_unknown_interface_is_named)
{
    struct capture_options options = {.tlp_offset = -1};
    GIVES_NONE(live_open("no-such-if0", &options, &err), "no-such-if0");
}
END_TEST

TEST_MAIN("capture_live")
