#include "replay/uvm/uvm_version.h"

#include "trace/base/testing.h"

START_TEST(a_driver_says_its_version)
{
    ck_assert_int_eq(uvm_version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Sat Oct 4 12:00:00"),
                     580);
    ck_assert_int_eq(
        uvm_version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build"), 590);
    ck_assert_int_eq(uvm_version_in("460.27.04"), 460);
    ck_assert_int_eq(uvm_version_in(NULL), 0);
    ck_assert_int_eq(uvm_version_in(""), 0);
    ck_assert_int_eq(uvm_version_in("no 12.0 here, nor 580 alone, nor 99999999999999999999.1"), 0);
}
END_TEST

START_TEST(the_lapse_adapts_from_590_on)
{
    ck_assert_int_eq(uvm_version_lapse(460), UVM_LAPSE_FIXED);
    ck_assert_int_eq(uvm_version_lapse(589), UVM_LAPSE_FIXED);
    ck_assert_int_eq(uvm_version_lapse(590), UVM_LAPSE_WRITTEN);
    ck_assert(!uvm_version_discards(570) && uvm_version_discards(580));
}
END_TEST

TEST_MAIN("uvm_version", a_driver_says_its_version, the_lapse_adapts_from_590_on)
