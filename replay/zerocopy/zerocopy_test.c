#include "models/zerocopy/link.h"
#include "replay/run/testing_replay.h"

static struct replay_result result;

/* Run the zero-copy engine; released by done(). */
static void run(const char *spec, const char *platform, const char *policies, const char *set)
{
    testing_replay(&result, testing_request("zerocopy", platform, policies, &set), spec);
}

static void done(void)
{
    replay_release(&result);
}

static double metric(size_t policy, const char *name)
{
    const struct metric_value *v = outcome_get(&result.runs[policy], name);
    ck_assert_msg(v && v->known, "%s is unknown", name);
    return v->real;
}

/* By hand: 65,536 rows of 512 B are 524,288 host lines of 64 B at 59 GB/s, 568.7 us, and as many jumps of 5 ns;
 * a launch, 19.5 us. */
START_TEST(each_row_of_a_gather_is_a_jump)
{
    run("synth:gather,row_bytes=512,count=65536,table_rows=1048576", "h200", "naive,shift", "pcie.jump_ns=5");
    ck_assert_double_eq_tol(metric(0, "time_ns"), 568.7e3 + 327.7e3 + 19.5e3, 4e3);
    ck_assert_double_eq_tol(metric(1, "time_ns"), 568.7e3 + 327.7e3 + 19.5e3, 4e3);
    ck_assert_double_eq(metric(0, "bound_host_ratio"), 1);
    done();
}
END_TEST

/* A tenth of the multiprocessors, or what is written to GPU memory; the whole GPU leaves nothing. */
START_TEST(a_kernel_beside_loses_what_is_taken)
{
    static const char spec[] = "synth:kv-load,blocks=200,block_bytes=64KiB", policies[] = "naive,copy-blocks,uvm";
    for (int share = 10; share <= 100; share += 90) {
        run(spec, "h100", policies, testing_text("sm_share_pct=%d", share));
        const struct metric_value *naive = outcome_get(&result.runs[0], "beside_ratio"),
                                  *copies = outcome_get(&result.runs[1], "beside_ratio");
        ck_assert(share == 10 ? naive->lo == 1 && fabs(naive->hi - 1 / 0.9) < 1e-9 : !naive->interval);
        ck_assert_double_eq_tol(copies->hi, 1 / (1 - 200 * 65536.0 / metric(1, "time_ns") / 3352), 1e-4);
        ck_assert(!outcome_get(&result.runs[2], "beside_ratio")->interval);
        done();
    }
}
END_TEST

/* Only where the platform lacks the number, and the table needs it. */
START_TEST(a_table_beyond_what_was_measured_is_noted)
{
    static const struct {
        const char *spec, *platform;
        bool noted;
    } cases[] = {{"synth:gather,count=99,table_rows=2000000", "v100", true},
                 {"synth:gather,count=99,table_rows=2000000,reuse=l1", "rtx3090", true},
                 {"synth:gather,count=99,table_rows=600000", "v100", false},
                 {"synth:gather,count=99,table_rows=2000000", "h100", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool noted = false;
        run(cases[i].spec, cases[i].platform, "naive", NULL);
        for (size_t n = 0; n < result.runs[0].note_count; n++)
            noted |= strstr(result.runs[0].notes[n], "the table is 2 GB") != NULL;
        ck_assert_int_eq(noted, cases[i].noted);
        done();
    }
}
END_TEST

/* Hardware counters and bandwidths, H200, driver 580.159.04, 2026-11. */
START_TEST(arrays_on_h200_make_the_measured_requests_and_bandwidths)
{
    run("synth:array,bytes=64MiB,element=4,chunk=32,offset=0", "h200", "naive,merged,aligned", NULL);
    ck_assert_double_eq_tol(metric(0, "requests"), 3244883, 0.1 * 3244883);
    for (size_t p = 1; p < 3; p++) {
        ck_assert_double_eq(metric(p, "requests_128"), 524288);
        ck_assert_double_eq(metric(p, "requests"), 524288);
        ck_assert_double_eq(metric(p, "wire_up_bytes"), 16 * 524288);
        ck_assert_double_eq(metric(p, "wire_down_bytes"), 140 * 524288);
    }
    done();
    run("synth:array,bytes=512MiB,element=4,chunk=32,offset=0", "h200", "naive,aligned,copy", NULL);
    ck_assert_double_eq_tol(metric(0, "requests"), 22.2e6, 2.2e6);
    ck_assert_double_eq_tol(metric(0, "bandwidth_bytes_per_s"), 17.8e9, 1e9);
    ck_assert_double_eq_tol(metric(1, "bandwidth_bytes_per_s"), 50.5e9, 2e9);
    ck_assert_double_eq_tol(metric(2, "bandwidth_bytes_per_s"), 55.3e9, 2e9);
    done();
    run("synth:array,bytes=512MiB,offset=8", "h200", "merged", NULL);
    ck_assert_double_eq(metric(0, "requests"), 8388607);
    ck_assert_double_eq_tol(metric(0, "bandwidth_bytes_per_s"), 39.5e9, 2.4e9);
    done();
    run("synth:array,bytes=512MiB,offset=16", "h200", "merged", NULL);
    ck_assert_double_eq_tol(metric(0, "bandwidth_bytes_per_s"), 42.9e9, 2.5e9);
    done();
}
END_TEST

/* Counters of a sweep over kron scale 18, k 16: H200, 2026-11. No number was fitted to them; what L1 does was compared
 * on them. */
START_TEST(graph_reads_on_h200_are_the_counted_ones)
{
    run("synth:cc,iterations=1,graph=kron,scale=18,k=16,element=8,reuse=l1", "h200", "naive,merged,aligned",
        "simulated_loads=50000");
    ck_assert_double_eq_tol(metric(0, "requests") / 1911486, 1, 0.05);
    ck_assert_double_eq_tol(metric(1, "requests") / 642619, 1, 0.04);
    ck_assert_double_eq_tol(metric(2, "requests") / 598033, 1, 0.02);
    done();
}
END_TEST

/* A pattern's simulation is that of the program with its kernel. */
START_TEST(a_pattern_is_its_program)
{
    static const char *const patterns[] = {"naive", "merged", "aligned"};
    for (int i = 0; i < 3; i++) {
        run(testing_text("synth:bfs,graph=urand,scale=10,root=auto,reuse=l1,kernel=%s", patterns[i]), "h200",
            "naive,merged,aligned,as-written", NULL);
        ck_assert_double_eq(metric((size_t)i, "requests"), metric(3, "requests"));
        ck_assert_double_eq(metric((size_t)i, "time_ns"), metric(3, "time_ns"));
        ck_assert_double_ne(metric((size_t)(i + 1) % 3, "requests"), metric(3, "requests"));
        done();
    }
}
END_TEST

START_TEST(what_cannot_be_simulated_is_not_guessed)
{
    run("synth:bfs,graph=kron,scale=8,root=auto,reuse=l1", "h200", "chunk,aligned", NULL);
    ck_assert(!outcome_get(&result.runs[0], "requests")->known);
    ck_assert_double_gt(metric(1, "requests"), 0);
    done();
    run("synth:bfs,graph=kron,scale=8,root=auto,reuse=l1", "v100", "aligned", NULL);
    ck_assert(!outcome_get(&result.runs[0], "requests")->known);
    done();
}
END_TEST

/* Dissertation, sections 2.3.3 and 2.5: V100, PCIe 3.0; an A100's link at 4.0 and 3.0. */
START_TEST(v100_keeps_the_published_order_of_patterns)
{
    run("synth:array,bytes=256MiB,chunk=32", "v100", "naive,aligned", NULL);
    ck_assert_double_eq_tol(metric(0, "bandwidth_bytes_per_s"), 4.8e9, 0.1e9);
    ck_assert_double_eq_tol(metric(1, "bandwidth_bytes_per_s"), 12.15e9, 0.16e9);
    done();
    /* That naive is slower than unified memory, 0.73 of it, is not reproduced: docs/zerocopy-engine.md. */
    run("synth:bfs,graph=kron,scale=16,roots=4", "v100", "uvm,naive,merged,aligned", "gpu_memory_ratio=2.2");
    ck_assert_double_ge(metric(2, "speedup_ratio"), 2);
    ck_assert_double_lt(metric(1, "speedup_ratio"), metric(2, "speedup_ratio"));
    ck_assert_double_ge(metric(3, "speedup_ratio"), metric(2, "speedup_ratio"));
    ck_assert_double_le(metric(3, "read_amplification_ratio"), 1.35);
    ck_assert_double_ge(metric(0, "read_amplification_ratio"), 2);
    done();
    double time[2];
    static const char *const platforms[] = {"a100-pcie3", "a100"};
    for (int i = 0; i < 2; i++) {
        run("synth:bfs,graph=urand,scale=16,root=auto", platforms[i], "aligned", NULL);
        time[i] = metric(0, "time_ns");
        done();
    }
    ck_assert_double_ge(time[0] / time[1], 1.8);
    ck_assert_double_le(time[0] / time[1], 2.0);
}
END_TEST

/* Dissertation, tables 2.3 and 2.4, aligned: seconds. UK5 on the TITAN Xp is low by 17 %: its many levels cost time,
 * how many they are is a guess, and what one costs was taken from the V100. */
START_TEST(published_times_follow_from_the_degrees)
{
    static const struct {
        const char *spec, *platform;
        double seconds, share;
    } published[] = {
        {"synth:degrees,graph=ml", "titanxp", 4.43, 0.06},
        {"synth:degrees,graph=fs", "titanxp", 2.59, 0.06},
        {"synth:degrees,graph=sk", "titanxp", 1.62, 0.06},
        {"synth:degrees,graph=uk5", "titanxp", 4.00, 0.20},
        {"synth:degrees,graph=gk,element=4", "v100", 1.66, 0.15},
        {"synth:degrees,graph=fs,element=4", "v100", 1.49, 0.15},
        {"synth:degrees,graph=sk,element=4", "v100", 0.85, 0.15},
        {"synth:degrees,graph=uk5,element=4", "v100", 1.85, 0.15},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        run(published[i].spec, published[i].platform, "aligned", NULL);
        ck_assert_double_eq_tol(metric(0, "time_ns") / 1e9 / published[i].seconds, 1, published[i].share);
        done();
    }
}
END_TEST

/* Requests in equal requests out: sizes, payload and wire bytes agree; a first sweep reads every list once. */
START_TEST(counts_conserve_bytes)
{
    run("synth:pagerank,graph=kron,scale=12,iterations=1", "v100", "naive,merged,aligned,chunk,subgraph,copy", NULL);
    for (size_t p = 0; p < 4; p++) {
        double sizes =
            metric(p, "requests_32") + metric(p, "requests_64") + metric(p, "requests_96") + metric(p, "requests_128");
        double payload = 32 * metric(p, "requests_32") + 64 * metric(p, "requests_64") + 96 * metric(p, "requests_96") +
                         128 * metric(p, "requests_128");
        ck_assert_double_eq(metric(p, "requests"), sizes);
        ck_assert_double_eq(metric(p, "payload_bytes"), payload);
        ck_assert_double_eq(metric(p, "wire_down_bytes"), payload + 12 * sizes);
        ck_assert_double_ge(metric(p, "read_amplification_ratio"), 1);
        ck_assert_double_eq_tol(metric(p, "overfetch_ratio"), metric(p, "read_amplification_ratio"), 1e-9);
    }
    ck_assert_double_eq(metric(4, "overfetch_ratio"), 1);
    ck_assert_double_eq(metric(5, "read_amplification_ratio"), 1);
    done();
}
END_TEST

START_TEST(a_policy_that_does_not_suit_is_unknown_with_a_note)
{
    run("synth:gather,count=100,row_bytes=480,table_rows=1000", "v100", "shift,merged", NULL);
    ck_assert_double_gt(metric(0, "requests"), 0);
    ck_assert(!outcome_get(&result.runs[1], "requests")->known);
    ck_assert_uint_eq(result.runs[1].note_count, 3); /* and whose numbers they are, and those of its launches */
    done();
}
END_TEST

/* Graphs take prefetchers and evictions as all else does; lists say no pages. */
START_TEST(graphs_take_prefetchers_and_evictions)
{
    run("synth:bfs,graph=urand,scale=15,root=auto", "v100",
        "uvm,uvm:paging=tree+lru,uvm:paging=none,uvm:paging=[tree,threshold=90+random,seed=2]", "gpu_memory_ratio=1.3");
    ck_assert_double_eq(metric(1, "time_ns"), metric(0, "time_ns")); /* the driver's own by name */
    ck_assert_double_gt(metric(2, "time_ns"), metric(0, "time_ns"));
    ck_assert_double_ne(metric(3, "payload_bytes"), metric(0, "payload_bytes"));
    done();
    run("synth:degrees,graph=gk", "v100", "uvm", NULL);
    ck_assert(!outcome_get(&result.runs[0], "time_ns")->known);
    done();
    run("synth:gather,graph=kron,scale=12,row_bytes=64", "v100", "uvm", "resident=degree");
    ck_assert(!outcome_get(&result.runs[0], "time_ns")->known);
    ck_assert_ptr_nonnull(strstr(result.runs[0].notes[0], "kept on the GPU"));
    done();
}
END_TEST

/* What a kernel reads of host memory is payload as what is moved is. */
START_TEST(under_unified_memory_remote_reads_are_payload_too)
{
    run("synth:array,bytes=2MiB", "h200", "uvm", "advise=[all:accessed-by]");
    ck_assert_double_eq(metric(0, "payload_bytes"), 2 << 20);
    ck_assert_double_eq(metric(0, "host_dram_bytes"), 2 << 20);
    ck_assert_double_eq(metric(0, "h2d_bytes"), 0);
    done();
    run("synth:array,bytes=2MiB", "h200", "uvm", NULL);
    ck_assert_double_eq(metric(0, "payload_bytes"), 2 << 20);
    done();
}
END_TEST

/* What stays in GPU memory from root to root is moved once: a mean that must not be read as the time of a traversal. */
START_TEST(a_structure_that_stays_in_gpu_memory_is_said_to)
{
    run("synth:bfs,graph=urand,scale=10,roots=16", "v100", "uvm", NULL);
    ck_assert_uint_eq(result.runs[0].note_count, 4); /* and whose numbers they are, [launch], [pcie] and [uvm] */
    ck_assert_ptr_nonnull(strstr(result.runs[0].notes[0], "16 traversals"));
    done();
    run("synth:bfs,graph=urand,scale=10,root=auto", "v100", "uvm", NULL);
    ck_assert_uint_eq(result.runs[0].note_count, 3);
    done();
}
END_TEST

START_TEST(more_roots_give_means)
{
    run("synth:bfs,graph=urand,scale=10,roots=16", "v100", "aligned", NULL);
    ck_assert_double_eq(metric(0, "roots"), 16);
    ck_assert_double_eq_tol(metric(0, "read_amplification_ratio"), 1.09, 0.03);
    done();
}
END_TEST

TEST_MAIN("zerocopy")
