# offchip: make | make demo | make install | make uninstall | make man | make clean | make deps | make cuda
# tests:   make check | make unit | make cli | make golden CASE=.. | make check-html | make check-examples
#          | make check-gpu | make lint | make format | make docs | make asan | make tsan | make fuzz | make soak
# numbers: make reproduce | make bench | make bench-peers PEERS=DIR
# packages: make deb | make bundle | make bundle-check
#
# Files are found by pattern: X.c is library code, X_test.c a Check program, X_fuzz.c a libFuzzer target, X_bench.c a
# benchmark, cmd/*.c the program. Nothing needs registering here.

# All processors, unless told otherwise.
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

BUILD   ?= build
V       ?= 0
Q       := $(if $(filter 0,$(V)),@)
# make demo builds without a word but this.
DEMO    := $(filter demo,$(MAKECMDGOALS))
$(if $(DEMO),$(if $(MAKE_RESTARTS)$(wildcard $(BUILD)/offchip),,$(info Building offchip takes minutes; V=1 shows each step.)))
SAY      = $(if $(filter 0,$(V)),$(if $(DEMO),,@echo "  $(1)" $(2)))
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
VERSION := 0.3.0
# Which sources of that release: empty where there is no git.
COMMIT  := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)

# demo and check first install what is missing. The recipe makes a file that make includes: after it make starts anew,
# and asks pkg-config again. No other goal installs anything, nor does make -n.
ifneq ($(if $(findstring n,$(firstword -$(MAKEFLAGS))),,$(filter demo check,$(MAKECMDGOALS))),)
include $(BUILD)/packages.mk
$(BUILD)/packages.mk: FORCE
	@mkdir -p $(@D)
	@[ -f $@ ] && sh .ci/deps.sh --there || { sh .ci/deps.sh --missing && : > $@; }
endif

PACKAGES := sqlite3 blosc libzstd zlib liblzma libpcap jansson libxxhash
# x86-64-v2 (every x86-64 processor since 2009) has popcnt; other machines take the compiler's default.
MARCH   ?= $(if $(filter x86_64,$(shell uname -m)),-march=x86-64-v2)
# Warnings are errors for those who work on offchip: another compiler's new warning stops nobody's build.
WERROR   = $(if $(DEVELOPER),-Werror)
CSTD    := -std=gnu17 -D_GNU_SOURCE
WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 $(WERROR)
OPT     ?= -O2 -g
SAN     ?=
# Product code converts no value that may change; clang means more by it.
CONVERT  = $(if $(findstring clang,$(CC)),,-Wconversion -Wno-sign-conversion)
INCLUDE := -I. -I$(BUILD)/gen
PKG     := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
LIBS    := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -ldl -lm
CFLAGS_ALL = $(CSTD) $(WARN) $(OPT) $(MARCH) -fopenmp -fPIC -fvisibility=hidden $(SAN) $(INCLUDE) $(PKG) $(OWN) $(CFLAGS)
# -rdynamic: loaded policies call the program's functions (PLUGIN_API); all others are hidden.
LDFLAGS_ALL = -fopenmp -rdynamic $(SAN) $(LDFLAGS)
CHECK_LIBS = $(shell pkg-config --libs check)

# Sources that are not part of the library: built into objects of their own.
APART   := $(wildcard trace/recorder/inject/*.c)
ALL_C   := $(shell find cmd trace replay models -name '*.c' | LC_ALL=C sort)
TEST_C  := $(filter %_test.c,$(ALL_C))
FUZZ_C  := $(filter %_fuzz.c,$(ALL_C))
BENCH_C := $(filter %_bench.c,$(ALL_C))
CODE_C  := $(filter-out $(TEST_C) $(FUZZ_C) $(BENCH_C) $(APART),$(ALL_C))
CMD_C   := $(filter-out cmd/version.c cmd/policy_build.c cmd/info_%,$(filter $(wildcard cmd/*.c),$(CODE_C)))
LIB_C   := $(filter-out $(CMD_C),$(CODE_C))
GEN_C   := $(BUILD)/gen/embedded.c
OBJ      = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
$(call OBJ,$(CODE_C) $(APART)): OWN += $(CONVERT)
TESTS   := $(patsubst %_test.c,$(BUILD)/test/%,$(TEST_C))
FUZZERS := $(patsubst %_fuzz.c,$(BUILD)/fuzz/%,$(FUZZ_C))
BENCHES := $(patsubst %_bench.c,$(BUILD)/bench/%,$(BENCH_C))
PLATFORMS := $(wildcard models/platforms/*.ini)
MAN_SRC := $(wildcard docs/man/*.scd)
MAN     := $(patsubst docs/man/%.scd,$(BUILD)/man/%,$(MAN_SRC))

.DEFAULT_GOAL := all
.PHONY: all demo check check-html check-examples unit cli lint asan fuzz fuzzers bench reproduce install uninstall deps clean man format docs
include trace/recorder/recorder.mk

all: $(BUILD)/offchip $(INJECT) $(ACCESSES)

EMBEDDED := $(sort $(shell find cmd trace replay -name "*.sql" -o -name "*.html" -o -name "*.bash"))
# --- what is embedded: the schema and the shipped platforms ---
$(BUILD)/gen/embedded.c: .ci/embed.sh $(PLATFORMS) $(EMBEDDED)
	@mkdir -p $(@D)
	$(Q)sh .ci/embed.sh $(EMBEDDED) $(PLATFORMS) > $@.tmp && mv $@.tmp $@

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(BUILD)/obj/gen/embedded.o: $(BUILD)/gen/embedded.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@
# The loops over columns, over edges drawn and over sums of bits gain half their speed and more from vector code.
$(patsubst %,$(BUILD)/obj/%.o,trace/store/chunk trace/graph/graph_generate models/zerocopy/row_cache): OWN += -O3
# As the simulators of make bench-peers are built: a twentieth fewer instructions.
$(BUILD)/obj/models/dram/loop_mem/loop_mem.o: OWN += $(filter -O3,$(OPT:-O2=-O3))
# A tenth less time where memory thrashes.
$(patsubst %,$(BUILD)/obj/replay/uvm/%.o,fault_buffer uvm_gpu uvm_driver uvm_memory): OWN += $(filter -O3,$(OPT:-O2=-O3))

# --- the version: looked at every time, written when it changed; only the program is linked anew for it ---
VERSION_C = const char offchip_release[] = "$(VERSION)", offchip_version[] = "$(VERSION)$(COMMIT:%=+%)", \
    offchip_build[] = "$(strip $(CC) $(OPT) $(MARCH) $(SAN) $(CFLAGS))";
$(BUILD)/gen/version.c: FORCE
	@mkdir -p $(@D)
	@echo '#include "trace/base/version.h"' > $@.new; echo '$(VERSION_C)' >> $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
VERSION_O := $(BUILD)/obj/gen/version.o
$(VERSION_O): $(BUILD)/gen/version.c trace/base/version.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@

# The archive is made anew when the list of its members changes.
$(BUILD)/lib.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_C)' | cmp -s - $@ || echo '$(LIB_C)' > $@
.PHONY: FORCE
FORCE:
$(BUILD)/liboffchip.a: $(call OBJ,$(LIB_C)) $(BUILD)/obj/gen/embedded.o $(BUILD)/lib.list
	@rm -f $@
	$(Q)$(AR) rcs $@ $(filter %.o,$^)
$(BUILD)/offchip: $(call OBJ,$(CMD_C)) $(VERSION_O) $(BUILD)/liboffchip.a
	$(call SAY,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

# --- the table `records` as an SQLite extension: SQLite reached through its host, never by linking; not sanitised ---
EXTENSION   := $(BUILD)/offchip_records.so
EXTENSION_C := $(addprefix trace/,$(addprefix store/,vtab.c directory.c chunk.c) \
    event/record.c base/err.c base/mem.c)
$(BUILD)/ext/%.o: %.c
	@mkdir -p $(@D)
	$(call SAY,CC,$<)
	$(Q)$(CC) $(filter-out $(SAN),$(CFLAGS_ALL)) -O3 -DOFFCHIP_EXTENSION -MMD -MP -c $< -o $@
$(EXTENSION): $(patsubst %.c,$(BUILD)/ext/%.o,$(EXTENSION_C))
	$(call SAY,LINK,$@)
	$(Q)$(CC) -shared $(LDFLAGS) $^ -lblosc -lm -o $@
all: $(EXTENSION)
SHARED += $(EXTENSION)
-include $(patsubst %.c,$(BUILD)/ext/%.d,$(EXTENSION_C))

# --- tests: linked with the archive, or with all of it as one library (asan): a link of each takes half a second there ---
# Gold, where there is one, takes two thirds of the time; -O0 half of what
# -O1 takes, but for tests that count in long loops of their own.
comma := ,
TEST_LIB ?= $(BUILD)/liboffchip.a
TEST_LD  := $(if $(shell command -v ld.gold),-fuse-ld=gold)
TEST_LOOPS := $(addsuffix _test.c,models/uvm/prefetch/tree models/dram/reference trace/workloads/micro/array)
$(call OBJ,$(TEST_LOOPS)): OWN += $(filter -O1,$(OPT:-O2=-O1))
$(call OBJ,$(filter-out $(TEST_LOOPS),$(TEST_C))): OWN += $(filter -O0,$(patsubst -O%,-O0,$(OPT)))
$(BUILD)/liboffchip.so: $(call OBJ,$(LIB_C)) $(BUILD)/obj/gen/embedded.o $(BUILD)/lib.list
	$(call SAY,LINK,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) $(LDFLAGS_ALL) $(filter %.o,$^) $(LIBS) -o $@
$(BUILD)/test/%: $(BUILD)/obj/%_test.o $(TEST_LIB) | $(VERSION_O)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_LD) $(LDFLAGS_ALL) $(if $(filter %.so,$^),-Wl$(comma)-rpath$(comma)$(abspath $(BUILD))) $^ $(VERSION_O) $(LIBS) $(CHECK_LIBS) -o $@
unit: $(EXTENSION) $(TESTS)
	@sh .ci/unit.sh $(TESTS)
cli: $(BUILD)/offchip
	@sh fixtures/cli/run.sh $(BUILD)/offchip
# What the command-line cases say now becomes what they must say: of CASE, or of all.
.PHONY: golden
golden: all $(STANDIN)
	@UPDATE=1 sh fixtures/cli/run.sh $(BUILD)/offchip $(CASE)
check: $(BUILD)/offchip $(EXTENSION) $(TESTS)
	@sh .ci/check.sh $(BUILD)/offchip $(TESTS)

# The HTML pages in a real browser. Skipped, and said so, where Chromium is missing.
check-html: $(BUILD)/offchip
	@python3 .ci/html.py $(BUILD)/offchip

# Every example of help texts, man pages, README and docs is run.
check-examples: $(BUILD)/offchip $(EXTENSION) $(INJECT) $(STANDIN)
	@python3 .ci/examples.py $(BUILD)/offchip
	@python3 .ci/reproduction_test.py $(BUILD)/offchip

demo: $(BUILD)/offchip
	@sh .ci/demo.sh $(BUILD)/offchip $(BUILD)/demo

# What UBSan sees ends the program, and ASan says where: texts for each place made programs of 12 MB more, and every start
# slow. All tests of a program run in one process (trace/base/testing.h).
# A test that includes the .c it looks into has its globals twice, and of one size: that is no violation.
asan:
	READERS_EVERY=100 TESTS_EVERY=13 CK_FORK=no ASAN_OPTIONS="handle_sigill=1:detect_odr_violation=1:$(ASAN_OPTIONS)" \
	    $(MAKE) DEVELOPER=1 BUILD=$(BUILD)/asan OPT="-O1 -g1 -fno-omit-frame-pointer" \
	    CFLAGS="-fvisibility=default -Wno-format-truncation -Wno-maybe-uninitialized $(CFLAGS)" \
	    TEST_LIB=$(BUILD)/asan/liboffchip.so \
	    SAN="-fsanitize=address,undefined -fsanitize-undefined-trap-on-error" check

# What runs in several threads, under ThreadSanitizer: clang, with its OpenMP runtime and libarcher (package libomp-dev).
.PHONY: tsan tsan-run
tsan:
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan CC=clang OPT="-O1 -g" SAN=-fsanitize=thread tsan-run
tsan-run: $(BUILD)/offchip $(INJECT) $(ACCESSES) $(STANDIN) $(shell sh .ci/tsan.sh $(BUILD) --list)
	@sh .ci/tsan.sh $(BUILD)

# --- fuzzing: clang's libFuzzer, FUZZ_S seconds each; folders that none of them reaches are not built ---
FUZZ_S ?= 10
FUZZ_OPT ?= -O1
$(BUILD)/libfuzz.a: $(call OBJ,$(filter-out cmd/% trace/export/% $(addprefix replay/,compare/% dram/% report/% zerocopy/%),$(LIB_C))) $(BUILD)/obj/gen/embedded.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $^
$(BUILD)/fuzz/%: $(BUILD)/obj/%_fuzz.o $(BUILD)/libfuzz.a | $(VERSION_O)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer $(TEST_LD) $(LDFLAGS_ALL) $^ $(VERSION_O) $(LIBS) -o $@
fuzzers: $(FUZZERS)
fuzz:
	$(MAKE) BUILD=$(BUILD)/clang-fuzz CC=clang OPT="$(FUZZ_OPT) -gline-tables-only" SAN="-fsanitize=address,undefined,fuzzer-no-link -fsanitize-trap=undefined" fuzzers
	@sh .ci/fuzz.sh $(BUILD)/clang-fuzz/fuzz $(FUZZ_S)

# --- benchmarks: never pass or fail ---
$(BUILD)/bench/%: $(BUILD)/obj/%_bench.o $(BUILD)/liboffchip.a | $(VERSION_O)
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(VERSION_O) $(LIBS) -o $@
# Writes docs/benchmarks.md; QUICK=1 runs the smallest sizes only and writes no page.
bench: $(BUILD)/offchip $(BENCHES)
	@CC="$(CC)" BENCH_FLAGS="$(OPT) $(MARCH) $(SAN)" python3 .ci/bench.py $(BUILD) docs/benchmarks.md $(if $(QUICK),--quick)

# The DRAM controller beside Ramulator 2 and DRAMsim3, whose sources lie in PEERS; never pass or fail (.ci/peers.py).
.PHONY: bench-peers
bench-peers: $(BUILD)/bench/peer_offchip
	@[ -n "$(PEERS)" ] || { echo "usage: make bench-peers PEERS=DIR with DIR/ramulator2 and DIR/DRAMsim3" >&2; exit 2; }
	@python3 .ci/peers.py $(BUILD) $(PEERS)
$(BUILD)/bench/peer_offchip: .ci/peers/offchip.c .ci/peers/stream.h $(BUILD)/liboffchip.a | $(VERSION_O)
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)
	$(Q)$(CC) $(CFLAGS_ALL) -I.ci/peers $(LDFLAGS_ALL) $< $(BUILD)/liboffchip.a $(VERSION_O) $(LIBS) -o $@

# Every experiment of the papers beside the published numbers: the pages of docs/reproduction, their index docs/reproduction.md,
# and docs/figures. PAPER=NAME: only that page; ROW=PATTERN runs and prints the rows that match, of long ones a share (WHOLE=1: all); GRAPHS=DIR fills the rows of public
# graphs; QUICK=1 leaves out the long runs and writes to build/reproduction. SAMPLE=N runs N short rows, drawn by SEED, anew and
# compares them with their pages.
SEED ?= $(or $(shell git rev-parse HEAD 2>/dev/null),0)
reproduce: $(BUILD)/offchip $(BUILD)/bench/replay/placement/placement_draws
	@python3 .ci/reproduce.py $(BUILD)/offchip $(if $(QUICK),$(BUILD)/reproduction --quick,docs/reproduction) \
	    $(if $(PAPER),--paper $(PAPER)) $(if $(ROW),--row "$(ROW)" $(if $(WHOLE),--whole)) $(if $(GRAPHS),--graphs $(GRAPHS)) $(if $(SAMPLE),--sample $(SEED) $(SAMPLE))

# Predicted beside measured times: docs/accuracy.md, its figure and the errors of ties, built anew where these changed. WITH=LEDGER.csv: rows of one's own (diff --ledger) too.
.PHONY: accuracy
accuracy: $(BUILD)/offchip
	@python3 fixtures/measured/accuracy.py $(BUILD)/offchip $(WITH) || \
	    { [ $$? = 3 ] && $(MAKE) $(BUILD)/offchip && python3 fixtures/measured/accuracy.py $(BUILD)/offchip $(WITH); }

# SOAK_N random kill -9 and all else that must not lose anything; SOAK_ONLY=STEP,..: no other steps (.ci/soak.py).
SOAK_N ?= 500
.PHONY: soak
soak: all $(STANDIN)
	@python3 .ci/soak.py $(BUILD)/offchip --n $(SOAK_N) $(if $(SOAK_SEED),--seed $(SOAK_SEED)) $(if $(SOAK_ONLY),--only $(SOAK_ONLY))

lint: DEVELOPER = 1
lint: $(BUILD)/offchip
	@sh .ci/lint.sh $(BUILD)/offchip "$(CSTD) -Wall -Wextra -Werror -fopenmp $(INCLUDE) $(PKG)"
format:
	clang-format -i $$(find cmd trace replay models -name '*.[ch]')
docs: $(BUILD)/offchip
	python3 .ci/reference.py $(BUILD)/offchip > docs/reference.md
deps:
	@sh .ci/deps.sh

# --- installation ---
$(BUILD)/man/%: docs/man/%.scd
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@
# Name, usage and examples are those of --help.
$(BUILD)/man/offchip-%.1: docs/man/offchip-%.1.scd docs/man/page.awk $(BUILD)/offchip
	@mkdir -p $(@D)
	$(Q)$(BUILD)/offchip $* --help | awk -v PAGE=$< -f docs/man/page.awk | scdoc > $@
man: $(MAN)
# Below share/, as all that follows.
COMPLETION    := bash-completion/completions/offchip
SHARE          = $(DESTDIR)$(PREFIX)/share
install: $(BUILD)/offchip $(SHARED) man
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/offchip \
	    $(addprefix $(SHARE)/,offchip/platforms offchip/schema man/man1 doc/offchip/docs $(dir $(COMPLETION)))
	install -m 755 $(BUILD)/offchip $(DESTDIR)$(PREFIX)/bin/offchip
	for f in $(SHARED); do [ ! -f $$f ] || install -m 644 $$f $(DESTDIR)$(PREFIX)/lib/offchip/ || exit 1; done
	for f in $(PLATFORMS); do install -m 644 $$f $(SHARE)/offchip/platforms/ || exit 1; done
	install -m 644 docs/schema/*.json $(SHARE)/offchip/schema/
	for f in $(MAN); do install -m 644 $$f $(SHARE)/man/man1/ || exit 1; done
	for f in $$(sh .ci/plugin_headers.sh "$(CC)"); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/offchip/$$f || exit 1; done
	install -m 644 README.md LICENSE $(SHARE)/doc/offchip/
	for f in $$(find docs -type f ! -path 'docs/man/*' ! -path 'docs/schema/*'); do \
	    install -D -m 644 $$f $(SHARE)/doc/offchip/$$f || exit 1; done
	$(BUILD)/offchip completion > $(SHARE)/$(COMPLETION)
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/offchip $(DESTDIR)$(PREFIX)/lib/offchip $(DESTDIR)$(PREFIX)/include/offchip $(SHARE)/man/man1/offchip.1 \
	    $(SHARE)/man/man1/offchip-*.1 $(addprefix $(SHARE)/,offchip doc/offchip $(COMPLETION))

# A package for the Debian that this is (.ci/deb.sh).
.PHONY: deb
deb: all man
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(BUILD)/deb/root > $(BUILD)/deb/install.log
	@sh .ci/deb.sh $(BUILD) $(VERSION) $(BUILD)/deb/root

# A tree for machines without our packages, and its archive (.ci/bundle.sh). NVCC70: nvcc of a CUDA before 13, for Volta;
# VOLTA=no: without.
NVCC70 ?=
.PHONY: bundle bundle-check
# The programs of `make cuda` are packed where they are, or are made in the same call.
bundle: $(BUILD)/offchip $(SHARED) $(if $(filter cuda,$(MAKECMDGOALS))$(wildcard $(BUILD)/cuda),cuda)
	@sh .ci/bundle.sh $(BUILD) $(VERSION) "$(CC)" "$(NVCC70)" "$(VOLTA)"
# README's replay and a recording over the stand-ins, in a root with a libc of its own and in one without any.
bundle-check: bundle $(STANDIN)
	@sh .ci/bundle_check.sh $(BUILD) $(BUILD)/bundle/offchip-$(VERSION)

clean:
	rm -rf $(BUILD)

# Test and fuzz objects are kept between builds.
.SECONDARY:

-include $(patsubst %.c,$(BUILD)/obj/%.d,$(ALL_C))
