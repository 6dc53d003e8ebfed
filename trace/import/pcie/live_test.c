#include "trace/import/pcie/live.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
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

START_TEST(packets_on_the_loopback_interface_are_recorded)
{
    struct err err = {""};
    struct capture_options options = {.tlp_offset = -1, .filter = {PORT, PORT, 0}};
    struct live *live = live_open("lo", &options, &err);
    if (!live) {
        (void)fprintf(stderr, "skipped: %s\n", err.msg);
        return;
    }
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (bind(fd, (struct sockaddr *)&self, sizeof self)) {
        (void)fprintf(stderr, "skipped: UDP port %d is taken\n", PORT);
        live_close(live);
        return;
    }
    const char *path = testing_file("live.db");
    struct store *store = store_create(path, true, "test", &err);
    pthread_t sender;
    ck_assert_int_eq(pthread_create(&sender, NULL, send_reads, &fd), 0);
    ck_assert_msg(live_run(live, store, &stop, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(pthread_join(sender, NULL), 0);
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    ck_assert_uint_eq(live_dropped(live), 0);
    ck_assert_uint_eq(live_damaged(live), 1);
    ck_assert_uint_ge(live_frames(live), 2 * READS + 1);
    live_close(live);
    (void)close(fd);
    store = store_open(path, &err);
    int64_t totals[2] = {0};
    ck_assert_int_eq(store_rows(store, "tlp_totals", add_total, totals, &err), 0);
    ck_assert_int_eq(totals[0], READS);
    ck_assert_int_eq(totals[1], 2 * READS);
    store_close(store);
}
END_TEST

START_TEST(an_unknown_interface_is_named)
{
    struct err err = {""};
    struct capture_options options = {.tlp_offset = -1};
    ck_assert_ptr_null(live_open("no-such-if0", &options, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no-such-if0"));
}
END_TEST

TEST_MAIN("live", packets_on_the_loopback_interface_are_recorded, an_unknown_interface_is_named)
