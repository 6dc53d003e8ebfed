/* Looks at single columns. */
#include "trace/store/chunk.c"

#include "trace/base/testing.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static struct column_scratch scratch;
static uint64_t values[COLUMN_VALUES_MAX], keys[COLUMN_VALUES_MAX], decoded[COLUMN_VALUES_MAX];
static unsigned char data[COLUMN_DATA_MAX];

/* Encode, write and read the description, decode in uneven steps, compare. Returns the bytes of data. */
static uint32_t round_trip(size_t n, const struct column_plan *plan)
{
    struct column_head head, again;
    unsigned char bytes[COLUMN_HEAD_BYTES];
    const uint64_t *key = plan->predictor == COLUMN_KEYED ? keys : NULL;
    column_encode(values, n, key, plan, &scratch, &head, data);
    column_head_write(&head, bytes);
    WORKS(column_head_read(&again, bytes, &err));
    struct column_reader reader = {0};
    WORKS(column_reader_start(&reader, &again, data, n, &err));
    for (size_t at = 0, step; at < n; at += step) {
        step = 1 + draw() % 5000;
        step = step < n - at ? step : n - at;
        column_read(&reader, step, key ? key + at : NULL, decoded + at);
    }
    column_reader_release(&reader);
    ck_assert_int_eq(memcmp(values, decoded, n * sizeof *values), 0);
    return head.bytes;
}

static void round_trip_all_plans(size_t n)
{
    for (int predictor = 0; predictor < COLUMN_PREDICTORS; predictor++)
        for (int codec = 0; codec < COLUMN_CODECS; codec++) {
            struct column_plan plan = {(enum column_predictor)predictor, (enum column_codec)codec,
                                       predictor == COLUMN_KEYED ? 0 : -1};
            (void)round_trip(n, &plan);
        }
}

START_TEST(every_predictor_and_codec_gives_back_any_values)
{
    static const uint64_t extremes[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX - 1, 4096};
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 100, 4096, 4097, COLUMN_VALUES_MAX};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int shape = 0; shape < 5; shape++) {
            for (size_t i = 0; i < sizes[s]; i++) {
                values[i] = shape == 0   ? extremes[draw() % 7]
                            : shape == 1 ? draw()
                            : shape == 2 ? (draw() % 1000) << 40
                            : shape == 3 ? 0 - (uint64_t)i * i
                                         : draw() % 3;
                keys[i] = draw() % 5000;
            }
            round_trip_all_plans(sizes[s]);
        }
}
END_TEST

START_TEST(constants_and_progressions_take_no_data)
{
    struct column_plan plan = {COLUMN_DELTA, COLUMN_BITSHUFFLE, -1};
    for (size_t i = 0; i < COLUMN_VALUES_MAX; i++)
        values[i] = UINT64_MAX - 5;
    ck_assert_uint_eq(round_trip(COLUMN_VALUES_MAX, &plan), 0);
    for (size_t i = 0; i < COLUMN_VALUES_MAX; i++)
        values[i] = 0x7F0000000000 - i * 4096;
    ck_assert_uint_eq(round_trip(COLUMN_VALUES_MAX, &plan), 0);
    values[77]++;
    ck_assert_uint_gt(round_trip(COLUMN_VALUES_MAX, &plan), 0);
}
END_TEST

/* 18 random bits a page: nothing can store them in less, and 20 % more is too much. */
START_TEST(random_pages_take_their_entropy)
{
    struct column_plan plan;
    for (size_t i = 0; i < COLUMN_VALUES_MAX; i++)
        values[i] = 0x7F0000000000 + (draw() % 262144) * 4096;
    column_choose(values, COLUMN_VALUES_MAX, NULL, 0, &scratch, &plan);
    ck_assert_int_eq(plan.predictor, COLUMN_RAW);
    uint32_t bytes = round_trip(COLUMN_VALUES_MAX, &plan);
    ck_assert_uint_le(bytes, COLUMN_VALUES_MAX * 18 / 8 * 12 / 10);
}
END_TEST

START_TEST(interleaved_actors_are_predicted_by_their_own_last_value)
{
    struct column_plan plan;
    const uint64_t *all[] = {NULL, keys};
    uint64_t next[64];
    for (size_t a = 0; a < 64; a++)
        next[a] = draw() % (1u << 30) * 4096;
    for (size_t i = 0; i < COLUMN_VALUES_MAX; i++) {
        keys[i] = draw() % 64;
        values[i] = next[keys[i]] += 4096;
    }
    column_choose(values, COLUMN_VALUES_MAX, all, 2, &scratch, &plan);
    ck_assert_int_eq(plan.predictor, COLUMN_KEYED);
    ck_assert_int_eq(plan.key, 1);
    ck_assert_uint_le(round_trip(COLUMN_VALUES_MAX, &plan), COLUMN_VALUES_MAX / 8);
}
END_TEST

START_TEST(descriptions_that_make_no_sense_are_refused)
{
    static const struct {
        int at;
        unsigned char value;
        const char *says;
    } wrong[] = {{0, 3, "form is 3"},  {1, 5, "predictor is 5"}, {2, 3, "codec is 3"},
                 {3, 3, "width is 3"}, {3, 0, "width is 0"},     {4, 64, "shift is 64"}};
    struct column_plan plan = {COLUMN_DELTA, COLUMN_BITSHUFFLE, -1};
    struct column_head head;
    unsigned char bytes[COLUMN_HEAD_BYTES];
    for (size_t i = 0; i < 100; i++)
        values[i] = draw();
    column_encode(values, 100, NULL, &plan, &scratch, &head, data);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {""};
        column_head_write(&head, bytes);
        bytes[wrong[i].at] = wrong[i].value;
        ck_assert_int_eq(column_head_read(&head, bytes, &err), -1);
        ck_assert_ptr_nonnull(strstr(err.msg, wrong[i].says));
        column_encode(values, 100, NULL, &plan, &scratch, &head, data);
    }
    struct err err = {""};
    struct column_reader reader = {0};
    head.bytes -= 1;
    ck_assert_int_eq(column_reader_start(&reader, &head, data, 100, &err), -1);
    head.bytes += 1;
    ck_assert_int_eq(column_reader_start(&reader, &head, data, 101, &err), -1);
    column_reader_release(&reader);
}
END_TEST

TEST_MAIN("chunk_column")
