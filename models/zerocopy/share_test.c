#include "models/zerocopy/share.h"

#include "trace/base/testing.h"

static const double gib = 0x1p30, rtx3090_sms = 82, rtx3090_warps = 48;

START_TEST(a_rtx_3090_needs_324_6_requests_and_8_2_percent)
{
    double n = share_outstanding(25.8 * gib, 128, 1.5e-6);
    ck_assert_double_eq_tol(n, 324.6, 0.1);
    ck_assert_double_eq_tol(100 * share_of_gpu(n, rtx3090_warps, rtx3090_sms, 0), 8.2, 0.06);
}
END_TEST

START_TEST(all_768_tags_take_19_5_percent)
{
    ck_assert_double_eq_tol(100 * share_of_gpu(768, rtx3090_warps, rtx3090_sms, 1), 19.5, 0.05);
}
END_TEST

START_TEST(a_copy_pays_from_85_5_kib)
{
    ck_assert_double_eq_tol(share_copy_break_even_bytes(3.16e-6, 25.8 * gib) / 1024, 85.5, 0.1);
}
END_TEST

TEST_MAIN("share", a_rtx_3090_needs_324_6_requests_and_8_2_percent, all_768_tags_take_19_5_percent,
          a_copy_pays_from_85_5_kib)
