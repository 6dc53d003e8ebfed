#include "trace/workloads/rodinia/parts/query_set.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/testing.h"

enum { BASES = 500, QUERIES = 40, LENGTH = 25 };

static struct genome_tree tree;

static struct query_set drawn(double errors, uint64_t seed)
{
    struct err err = {""};
    struct query_set set = {&tree, NULL, QUERIES, LENGTH, 20};
    ck_assert_msg(query_set_draw(&set, errors, seed, &err) == 0, "%s", err.msg);
    return set;
}

/* The fewest of its bases that are not those of a part of the genome. */
static uint32_t off(const uint8_t *query)
{
    uint32_t least = LENGTH;
    for (uint32_t at = 0; at + LENGTH <= BASES; at++) {
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < LENGTH; i++)
            wrong += query[i] != tree.text[at + i];
        least = wrong < least ? wrong : least;
    }
    return least;
}

START_TEST(a_query_is_a_part_of_the_genome_but_for_its_errors)
{
    ck_assert_int_eq(genome_tree_init(&tree, BASES, 4, NULL), 0);
    struct query_set right = drawn(0, 1), some = drawn(0.1, 1), none = drawn(1, 1);
    uint32_t wrong = 0;
    for (uint32_t q = 0; q < QUERIES; q++) {
        ck_assert_uint_eq(off(right.letters + (size_t)q * LENGTH), 0);
        wrong += off(some.letters + (size_t)q * LENGTH);
        ck_assert_uint_gt(off(none.letters + (size_t)q * LENGTH), LENGTH / 4);
    }
    ck_assert_uint_gt(wrong, QUERIES * LENGTH / 20);
    ck_assert_uint_lt(wrong, QUERIES * LENGTH / 5);
    for (uint32_t i = 0; i < QUERIES * LENGTH; i++)
        ck_assert_uint_lt(none.letters[i], GENOME_BASES);
    struct query_set again = drawn(0.1, 1), other = drawn(0.1, 2);
    ck_assert_mem_eq(again.letters, some.letters, QUERIES * LENGTH);
    ck_assert_mem_ne(other.letters, some.letters, QUERIES * LENGTH);
    const struct query_set *sets[] = {&right, &some, &none, &again, &other};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        free((void *)sets[i]->letters);
    genome_tree_release(&tree);
}
END_TEST

TEST_MAIN("query_set", a_query_is_a_part_of_the_genome_but_for_its_errors)
