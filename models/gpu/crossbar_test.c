#include "models/gpu/crossbar.h"

#include "trace/base/testing.h"

static bool crossbar_shows(const struct crossbar *x, uint32_t input)
{
    return x->output[input] >= 0;
}

static struct crossbar open_(uint32_t inputs, uint32_t outputs)
{
    struct crossbar x;
    ck_assert_int_eq(crossbar_init(&x, inputs, outputs, NULL), 0);
    return x;
}

static int32_t take(struct crossbar *x, uint32_t output, unsigned room)
{
    for (uint32_t class = 0; class < CROSSBAR_CLASSES; class ++)
        crossbar_set_room(x, output, class, room >> class & 1);
    return crossbar_take(x, output);
}

START_TEST(the_worked_example_goes_round_robin)
{
    struct crossbar x = open_(3, 2);
    crossbar_show(&x, 0, 1, 0);
    crossbar_show(&x, 1, 1, 0);
    crossbar_show(&x, 2, 0, 0);
    ck_assert_int_eq(crossbar_next(&x, 0), 0);
    ck_assert_int_eq(take(&x, 0, 3), 2);
    ck_assert_int_eq(crossbar_next(&x, 1), 1);
    ck_assert_int_eq(take(&x, 1, 3), 0);
    crossbar_show(&x, 0, 1, 0);
    ck_assert_int_eq(crossbar_next(&x, 0), 1);
    ck_assert_int_eq(take(&x, 1, 3), 1);
    ck_assert_int_eq(take(&x, 1, 3), 0);
    ck_assert_int_eq(take(&x, 1, 3), -1);
    ck_assert(crossbar_empty(&x));
    crossbar_release(&x);
}
END_TEST

START_TEST(a_class_without_room_is_passed_over)
{
    struct crossbar x = open_(4, 1);
    crossbar_show(&x, 0, 0, 1);
    crossbar_show(&x, 3, 0, 0);
    ck_assert_int_eq(take(&x, 0, 0), -1);
    ck_assert_int_eq(crossbar_next(&x, 0), -1);
    ck_assert(!crossbar_empty(&x));
    ck_assert_int_eq(take(&x, 0, 1), 3);
    ck_assert_int_eq(take(&x, 0, 1), -1);
    ck_assert(crossbar_shows(&x, 0));
    ck_assert_int_eq(take(&x, 0, 2), 0);
    ck_assert(!crossbar_shows(&x, 0));
    crossbar_release(&x);
}
END_TEST

/* The same rule by a walk over all inputs. */
static int by_walk(const struct crossbar *x, uint32_t output, unsigned room)
{
    for (uint32_t k = 0; k < x->inputs; k++) {
        const uint32_t i = (x->first[output] + k) % x->inputs;
        if (x->output[i] == (int32_t)output && room >> x->class[i] & 1)
            return (int)i;
    }
    return -1;
}

START_TEST(masks_take_what_a_walk_over_all_inputs_takes)
{
    static const uint32_t inputs[] = {1, 63, 64, 65, 80, 200};
    uint64_t r = 42;
    for (int s = 0; s < 6; s++) {
        struct crossbar x = open_(inputs[s], 70);
        for (int n = 0; n < 20000; n++) {
            r ^= r << 13, r ^= r >> 7, r ^= r << 17;
            const uint32_t i = (uint32_t)(r >> 8) % inputs[s], o = (uint32_t)(r >> 40) % 7 * 11;
            if (!crossbar_shows(&x, i))
                crossbar_show(&x, i, o, r & 1);
            const unsigned room = r >> 1 & 3;
            const uint32_t out = (uint32_t)(r >> 50) % 70;
            const int expected = by_walk(&x, out, room);
            if (take(&x, out, room) != expected)
                ck_abort_msg("%u inputs, step %d: expected input %d", inputs[s], n, expected);
        }
        for (uint32_t k = 0; k < x.outputs; k++)
            for (uint32_t class = 0; class < CROSSBAR_CLASSES; class ++)
                crossbar_set_room(&x, k, class, true);
        int32_t o = -1;
        while ((o = crossbar_next(&x, (uint32_t)(o + 1))) >= 0)
            while (take(&x, (uint32_t)o, 3) >= 0)
                ;
        ck_assert(crossbar_empty(&x));
        for (uint32_t i = 0; i < inputs[s]; i++)
            ck_assert(!crossbar_shows(&x, i));
        crossbar_release(&x);
    }
}
END_TEST

TEST_MAIN("crossbar")
