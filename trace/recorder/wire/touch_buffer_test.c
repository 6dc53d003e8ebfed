#include "trace/recorder/wire/touch_buffer.h"

#include <pthread.h>
#include <stdbool.h>

#include "trace/base/testing.h"

/* The very code that runs on the device, with threads of the host in place of warps. */

enum { BLOCKS = 64, CAPACITY = 40000, THREADS = 4, TOUCHES = 40000 };

static struct touch_buffer *buffer;

static struct touch_buffer *make(uint64_t blocks, uint64_t capacity)
{
    struct touch_buffer *b = calloc(1, (size_t)touch_buffer_bytes(blocks, capacity));
    ck_assert_ptr_nonnull(b);
    b->blocks = blocks;
    b->capacity = capacity;
    return b;
}

START_TEST(a_page_stands_there_once_for_reads_and_once_for_writes_in_the_order_they_came)
{
    buffer = make(BLOCKS, CAPACITY);
    touch_buffer_touch(buffer, 0x7f0000001abc, SAN_FLAG_READ, 7);
    touch_buffer_touch(buffer, 0x7f0000001000, SAN_FLAG_READ, 8);
    touch_buffer_touch(buffer, 0x7f0000000ffc, SAN_FLAG_WRITE, 9);
    touch_buffer_touch(buffer, 0x7f0000001ffc, SAN_FLAG_WRITE, 10);
    touch_buffer_touch(buffer, 0x10000000, SAN_FLAG_READ | SAN_FLAG_WRITE | SAN_FLAG_ATOMIC, 11);
    touch_buffer_touch(buffer, 0x10000000, SAN_FLAG_READ, 12);
    touch_buffer_touch(buffer, 0x10000000, SAN_FLAG_PREFETCH, 13);
    const struct touch_entry expected[] = {{0x7f0000001000 | SAN_FLAG_READ, 7},
                                           {0x7f0000000000 | SAN_FLAG_WRITE, 9},
                                           {0x7f0000001000 | SAN_FLAG_WRITE, 10},
                                           {0x10000000 | SAN_FLAG_ATOMIC, 11},
                                           {0x10000000 | SAN_FLAG_READ, 12}};
    ck_assert_uint_eq(buffer->taken, sizeof expected / sizeof *expected);
    ck_assert_mem_eq(touch_buffer_entries(buffer), expected, sizeof expected);
    free(buffer);
}
END_TEST

static uint64_t page_of(unsigned i)
{
    return 0x7f0000000000 + (uint64_t)(i * 2654435761u % 16000) * 4096;
}

static void *touch_many(void *who)
{
    for (unsigned i = 0; i < TOUCHES; i++)
        touch_buffer_touch(buffer, page_of(i) + i % 4096, i % 3 ? SAN_FLAG_READ : SAN_FLAG_WRITE, (uint64_t)who);
    return NULL;
}

START_TEST(however_many_touch_a_page_at_once_it_stands_there_once)
{
    static bool seen[16000][3];
    pthread_t threads[THREADS];
    size_t expected = 0;
    buffer = make(BLOCKS, CAPACITY);
    for (size_t t = 0; t < THREADS; t++)
        ck_assert_int_eq(pthread_create(&threads[t], NULL, touch_many, (void *)t), 0);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (unsigned i = 0; i < TOUCHES; i++) {
        bool *s = &seen[(page_of(i) - 0x7f0000000000) / 4096][i % 3 ? 1 : 2];
        expected += !*s;
        *s = true;
    }
    ck_assert_uint_eq(buffer->taken, expected);
    for (size_t i = 0; i < expected; i++) {
        const struct touch_entry *e = touch_buffer_entries(buffer) + i;
        bool *s = &seen[(e->page - 0x7f0000000000) / 4096][e->page & 3];
        ck_assert(*s); /* and never again */
        *s = false;
    }
    ck_assert_uint_eq(buffer->full, 0);
    free(buffer);
}
END_TEST

START_TEST(what_has_no_room_is_counted)
{
    buffer = make(4, 3);
    for (unsigned i = 0; i < 10; i++)
        touch_buffer_touch(buffer, (uint64_t)i << TOUCH_BLOCK_BITS, SAN_FLAG_READ, 0);
    ck_assert_uint_eq(buffer->taken, 4); /* of which three are kept */
    ck_assert_uint_eq(buffer->full, 6);
    free(buffer);
}
END_TEST

TEST_MAIN("touch_buffer", a_page_stands_there_once_for_reads_and_once_for_writes_in_the_order_they_came,
          however_many_touch_a_page_at_once_it_stands_there_once, what_has_no_room_is_counted)
