# offchip: make | make demo | make check | make check-html | make check-examples | make check-slurm | make lint
#          | make asan | make tsan | make mutants | make fuzz | make bench | make bench-peers PEERS=DIR | make reproduce | make soak | make soak-sweep | make install | make deps | make deb | make deb-check | make bundle | make bundle-check | make check-gpu
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
SAY      = $(if $(filter 0,$(V)),@echo "  $(1)" $(2))
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= cc
VERSION := 0.3.0
# Which sources of that release: empty where there is no git.
COMMIT  := $(shell git describe --always --dirty --exclude '*' 2>/dev/null)

# What is built, tested and shown here depends on nobody's configuration (docs/man/offchip.1.scd).
export OFFCHIP_CONFIG :=
unexport OFFCHIP_PLATFORM OFFCHIP_FORMAT OFFCHIP_JOBS OFFCHIP_PROGRESS

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
INCLUDE := -I. -I$(BUILD)/gen
PKG     := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
LIBS    := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -ldl -lm
CFLAGS_ALL = $(CSTD) $(WARN) $(OPT) $(MARCH) -fopenmp -fPIC -fvisibility=hidden $(SAN) $(INCLUDE) $(PKG) $(OWN) $(CFLAGS)
# -rdynamic: loaded policies call the program's functions (models/own/own_names.h); all others are hidden.
LDFLAGS_ALL = -fopenmp -rdynamic $(SAN) $(LDFLAGS)
CHECK_LIBS = $(shell pkg-config --libs check)

# Sources that are not part of the library: built into objects of their own.
APART   := trace/store/vtab_extension.c $(wildcard trace/recorder/inject/*.c)
ALL_C   := $(shell find cmd trace replay models -name '*.c' | LC_ALL=C sort)
TEST_C  := $(filter %_test.c,$(ALL_C))
FUZZ_C  := $(filter %_fuzz.c,$(ALL_C))
BENCH_C := $(filter %_bench.c,$(ALL_C))
CODE_C  := $(filter-out $(TEST_C) $(FUZZ_C) $(BENCH_C) $(APART),$(ALL_C))
CMD_C   := $(filter-out cmd/version.c,$(filter $(wildcard cmd/*.c) cmd/policy/cmd_%,$(CODE_C)))
LIB_C   := $(filter-out $(CMD_C),$(CODE_C))
GEN_C   := $(BUILD)/gen/embedded.c
OBJ      = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
TESTS   := $(patsubst %_test.c,$(BUILD)/test/%,$(TEST_C))
FUZZERS := $(patsubst %_fuzz.c,$(BUILD)/fuzz/%,$(FUZZ_C))
BENCHES := $(patsubst %_bench.c,$(BUILD)/bench/%,$(BENCH_C))
PLATFORMS := $(wildcard models/platforms/*.ini)
MAN_SRC := $(wildcard docs/man/*.scd)
MAN     := $(patsubst docs/man/%.scd,$(BUILD)/man/%,$(MAN_SRC))

.DEFAULT_GOAL := all
.PHONY: all demo check check-html check-examples unit cli lint asan fuzz fuzzers bench reproduce install uninstall deps clean man format docs
# What the CUDA driver loads into a recorded program, and the stand-ins for the driver and CUPTI that tests record with.
INJECT    := $(BUILD)/liboffchip_inject.so
INJECT_C  := $(wildcard trace/recorder/inject/cupti_inject*.c trace/recorder/inject/inject_*.c) \
    trace/recorder/wire/cupti_metrics.c trace/base/err.c
ACCESSES  := $(BUILD)/liboffchip_accesses.so
ACCESSES_C := $(wildcard trace/recorder/inject/sanitizer_inject*.c trace/recorder/inject/inject_*.c)
STANDIN   := $(BUILD)/standin/libcuda.so.1 $(BUILD)/standin/libcupti.so $(BUILD)/standin/libsanitizer-public.so \
    $(BUILD)/standin/libprofiler.so $(BUILD)/standin/target $(BUILD)/standin/no_memory.so
SHARED    += $(INJECT) $(ACCESSES)
# They are for programs of older distributions too: old_libc.h, and libdl and libpthread named, where these still are files.
OLD_LIBS := -Wl,--no-as-needed -l:libdl.so.2 -l:libpthread.so.0 -Wl,--as-needed
ENTRY    := trace/recorder/inject/entry.map
$(call OBJ,$(sort $(INJECT_C) $(ACCESSES_C))): OWN += -include trace/recorder/inject/old_libc.h
$(INJECT): $(call OBJ,$(INJECT_C)) $(ENTRY)
	$(Q)$(CC) -shared -Wl,-z,nodelete -Wl,-soname,$(@F) -Wl,--version-script=$(ENTRY) $(SAN) $(LDFLAGS) $(filter %.o,$^) \
	    $(OLD_LIBS) -o $@
$(ACCESSES): $(call OBJ,$(ACCESSES_C)) $(ENTRY)
	$(Q)$(CC) -shared -Wl,-z,nodelete -Wl,-soname,$(@F) -Wl,--version-script=$(ENTRY) $(SAN) $(LDFLAGS) $(filter %.o,$^) \
	    $(OLD_LIBS) -o $@
$(BUILD)/standin/libcuda.so.1: fixtures/standin/libcuda.c fixtures/standin/standin.h trace/recorder/wire/cupti_abi.h \
    trace/recorder/wire/sanitizer_abi.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) -shared -Wl,-soname,$(@F) $< -ldl -o $@
$(BUILD)/standin/libcupti.so: fixtures/standin/libcupti.c fixtures/standin/libcupti_profiler.c \
    fixtures/standin/standin.h trace/recorder/wire/cupti_abi.h trace/recorder/wire/cupti_abi_profiler.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) -shared -Wl,-soname,$(@F) $(filter %.c,$^) -lpthread -o $@
$(BUILD)/standin/libprofiler.so: fixtures/standin/libprofiler.c $(BUILD)/standin/libcupti.so
	$(Q)$(CC) $(STANDIN_FLAGS) -shared $^ -o $@
$(BUILD)/standin/libsanitizer-public.so: fixtures/standin/libsanitizer.c fixtures/standin/standin.h \
    trace/recorder/wire/sanitizer_abi.h trace/recorder/wire/access_buffer.h trace/recorder/wire/access_ring.h \
    trace/recorder/wire/touch_buffer.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) -shared $< -lpthread -o $@
$(BUILD)/standin/target: fixtures/standin/target.c fixtures/standin/standin.h trace/recorder/wire/cupti_abi.h \
    trace/recorder/wire/record_pipe.h trace/recorder/wire/record_address.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) $< -ldl -lpthread -o $@
# An allocator in front of the C library's: no sanitiser's can be there too.
$(BUILD)/standin/no_memory.so: fixtures/standin/no_memory.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SAN),$(STANDIN_FLAGS)) -shared $< -o $@
STANDIN_FLAGS = $(CSTD) -O1 -g -Wall -Wextra $(WERROR) -I. -fPIC $(SAN) $(LDFLAGS)
$(addprefix $(BUILD)/test/trace/recorder/,recorder recorder_ends recorder_others recorder_box recorder_search recorder_ranges recorder_accesses recorder_counters wire/cupti_metrics): \
    | $(INJECT) $(ACCESSES) $(STANDIN)
cli check: $(INJECT) $(ACCESSES) $(STANDIN)
# Our declarations of CUPTI against the real ones, where the toolkit is installed.
CUDA_INCLUDE := $(firstword $(patsubst %/cupti.h,%,$(wildcard $(CUDA_HOME)/include/cupti.h \
    $(CUDA_HOME)/extras/CUPTI/include/cupti.h /usr/local/cuda/include/cupti.h \
    /usr/local/cuda/extras/CUPTI/include/cupti.h /usr/local/cuda-*/include/cupti.h)))
ifneq ($(CUDA_INCLUDE),)
check: $(BUILD)/standin/abi_check.o
$(BUILD)/standin/abi_check.o: fixtures/standin/abi_check.c trace/recorder/wire/cupti_abi.h trace/recorder/wire/cupti_abi_profiler.h
	@mkdir -p $(@D)
	@mkdir -p $(@D)/empty && : > $(@D)/empty/string # one header asks for C++'s, needlessly
	$(Q)$(CC) $(CSTD) -I. -isystem $(CUDA_INCLUDE) -isystem $(CUDA_INCLUDE)/../../../include \
	    -isystem $(@D)/empty -c $< -o $@
endif
SANITIZER_INCLUDE := $(firstword $(patsubst %/sanitizer.h,%,$(wildcard $(CUDA_HOME)/compute-sanitizer/include/sanitizer.h \
    /usr/local/cuda/compute-sanitizer/include/sanitizer.h /usr/local/cuda-*/compute-sanitizer/include/sanitizer.h \
    /usr/local/cuda/extras/Sanitizer/include/sanitizer.h)))
ifneq ($(SANITIZER_INCLUDE),)
check: $(BUILD)/standin/abi_check_sanitizer.o
$(BUILD)/standin/abi_check_sanitizer.o: fixtures/standin/abi_check_sanitizer.c trace/recorder/wire/sanitizer_abi.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) -I. -isystem $(SANITIZER_INCLUDE) -isystem $(SANITIZER_INCLUDE)/../../include -c $< -o $@
endif
# What runs on the GPU at every recorded access, for every GPU that nvcc knows; without nvcc `record --accesses` says so.
NVCC ?= $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc /usr/local/cuda/bin/nvcc) $(shell command -v nvcc 2>/dev/null))
ifneq ($(NVCC),)
PATCH := $(BUILD)/offchip_accesses.fatbin
SHARED += $(PATCH)
all check: $(PATCH)
$(PATCH): trace/recorder/inject/sanitizer_patch.cu trace/recorder/wire/access_buffer.h trace/recorder/wire/access_ring.h trace/recorder/wire/touch_buffer.h \
    trace/recorder/wire/sanitizer_abi.h
	@mkdir -p $(@D)
	$(call SAY,NVCC,$@)
	$(Q)$(NVCC) --fatbin --compile-as-tools-patch -arch=all -std=c++14 -I. $< -o $@ || \
	    echo "$(NVCC) cannot make $@: record --accesses will not be possible (NVCC names another)" >&2
endif

all: $(BUILD)/offchip $(INJECT) $(ACCESSES)

EMBEDDED := $(sort $(shell find cmd trace replay -name "*.sql" -o -name "*.html" -o -name "*.bash" -o -name "*.zsh" -o -name "*.fish"))
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
# The loops over columns and over edges drawn gain half their speed and more from vector code.
$(BUILD)/obj/trace/store/column.o $(BUILD)/obj/trace/store/chunk.o $(BUILD)/obj/trace/graph/graph_generate.o: OWN += -O3
# As the simulators of make bench-peers are built: a twentieth fewer instructions.
$(BUILD)/obj/models/dram/loop_mem.o: OWN += $(filter -O3,$(OPT:-O2=-O3))

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
EXTENSION_C := $(addprefix trace/,$(addprefix store/,vtab_extension.c vtab.c directory.c chunk.c column.c) \
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
# Gold, where there is one, takes two thirds of the time, and -O1 half of -O2's.
comma := ,
TEST_LIB ?= $(BUILD)/liboffchip.a
TEST_LD  := $(if $(shell command -v ld.gold),-fuse-ld=gold)
$(call OBJ,$(TEST_C)): OWN += $(filter -O1,$(OPT:-O2=-O1))
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
check: $(BUILD)/offchip $(EXTENSION) $(TESTS)
	@sh .ci/check.sh $(BUILD)/offchip $(TESTS)

# The HTML report in a real browser; screenshots in build/html. Skipped, and said so, where Chromium is missing.
check-html: $(BUILD)/offchip
	@python3 .ci/html.py $(BUILD)/offchip $(BUILD)/html

# Every example of help texts, man pages, README and docs is run.
check-examples: $(BUILD)/offchip $(EXTENSION) $(INJECT) $(STANDIN)
	@python3 .ci/examples.py $(BUILD)/offchip
	@python3 .ci/reproduction_test.py $(BUILD)/offchip

demo: $(BUILD)/offchip
	@sh .ci/demo.sh $(BUILD)/offchip $(BUILD)/demo

# What UBSan sees ends the program, and ASan says where: texts for each place made programs of 12 MB more, and every start
# slow. All tests of a program run in one process (trace/base/testing.h).
asan:
	READERS_EVERY=15 TESTS_EVERY=4 CK_FORK=no ASAN_OPTIONS="handle_sigill=1:$(ASAN_OPTIONS)" \
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

# --- fuzzing: clang's libFuzzer, FUZZ_S seconds each ---
FUZZ_S ?= 10
$(BUILD)/fuzz/%: $(BUILD)/obj/%_fuzz.o $(BUILD)/liboffchip.a | $(VERSION_O)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer $(TEST_LD) $(LDFLAGS_ALL) $^ $(VERSION_O) $(LIBS) -o $@
fuzzers: $(FUZZERS)
fuzz:
	$(MAKE) BUILD=$(BUILD)/clang-fuzz CC=clang OPT="-O1 -gline-tables-only" SAN="-fsanitize=address,undefined,fuzzer-no-link -fsanitize-trap=undefined" fuzzers
	@sh .ci/fuzz.sh $(BUILD)/clang-fuzz/fuzz $(FUZZ_S)

# --- benchmarks: never pass or fail ---
$(BUILD)/bench/%: $(BUILD)/obj/%_bench.o $(BUILD)/liboffchip.a | $(VERSION_O)
	@mkdir -p $(@D)
	$(call SAY,LINK,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) $^ $(VERSION_O) $(LIBS) -o $@
$(BUILD)/bench/measure: .ci/measure.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(WARN) -O1 $< -o $@
# Writes docs/benchmarks.md; QUICK=1 runs the smallest sizes only and writes no page.
bench: $(BUILD)/offchip $(BENCHES) $(BUILD)/bench/measure
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

# --- programs to record on a machine with a GPU (docs/recording.md); nothing else needs nvcc ---
# CUDA 13 has no sm_70 any more: CUDA_ARCH=70 with an older toolkit. C++14: a Jetson TX2's last toolkit, 10.2, has no 17.
CUDA_ARCH ?= 75 80 86 90
CUDA_C    := $(wildcard fixtures/cuda/*.cu)
.PHONY: cuda
ifeq ($(NVCC),)
cuda:
	@echo "make cuda needs nvcc, of the CUDA toolkit: not in PATH, not in /usr/local/cuda; NVCC=... names it" >&2; exit 1
else
cuda: $(patsubst fixtures/cuda/%.cu,$(BUILD)/cuda/%,$(CUDA_C))
$(BUILD)/cuda/%: fixtures/cuda/%.cu fixtures/cuda/gpu.h
	@mkdir -p $(@D)
	$(call SAY,NVCC,$<)
	$(Q)$(NVCC) -O3 -std=c++14 -Xcompiler=-Wall -Xcompiler=-Wextra \
	    $(foreach a,$(CUDA_ARCH),--generate-code=arch=compute_$(a)$(COMMA)code=sm_$(a)) $< -o $@
COMMA := ,
endif

# All that needs a GPU, in ten minutes, into CHECK_GPU and its archive.
CHECK_GPU ?= check-gpu
.PHONY: check-gpu
check-gpu: all cuda
	@OFFCHIP=$(BUILD)/offchip PROGRAMS=$(BUILD)/cuda sh fixtures/cuda/check.sh $(CHECK_GPU)

# Every experiment of the papers beside the published numbers; QUICK=1 leaves out the long ones.
# The pages of docs/reproduction, their index docs/reproduction.md, and docs/figures; PAPER=NAME only that page; ROW=PATTERN runs
# and prints the rows that match; GRAPHS=DIR fills the rows of public graphs; QUICK=1 leaves out the long runs and writes to
# build/reproduction; KEEP=DIR keeps what commands printed, so that a stopped run goes on.
# SAMPLE=N runs N short rows, drawn by SEED, anew and compares them with their pages.
SEED ?= $(or $(shell git rev-parse HEAD 2>/dev/null),0)
reproduce: $(BUILD)/offchip $(BUILD)/bench/replay/placement/placement_draws
	@python3 .ci/reproduce.py $(BUILD)/offchip $(if $(QUICK),$(BUILD)/reproduction --quick,docs/reproduction) $(if $(KEEP),--keep $(KEEP)) \
	    $(if $(PAPER),--paper $(PAPER)) $(if $(ROW),--row "$(ROW)") $(if $(GRAPHS),--graphs $(GRAPHS)) $(if $(SAMPLE),--sample $(SEED) $(SAMPLE))

# SOAK_N random kill -9 and all else that must not lose anything; the sweep of 3,240 points killed and sharded; Slurm.
SOAK_N ?= 500
.PHONY: soak soak-sweep check-slurm
soak soak-sweep: all $(STANDIN)
soak:
	@python3 .ci/soak.py $(BUILD)/offchip --n $(SOAK_N) $(if $(SOAK_SEED),--seed $(SOAK_SEED))
soak-sweep:
	@python3 .ci/soak.py $(BUILD)/offchip --only pairs $(if $(SOAK_SEED),--seed $(SOAK_SEED))
check-slurm: $(BUILD)/offchip
	@sh .ci/check_slurm.sh $(BUILD)/offchip

# MUTANTS_N faults put into the product one at a time, chosen by MUTANTS_SEED: which does no test see?
MUTANTS_N ?= 30
.PHONY: mutants mutants-run
mutants:
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/mutants OPT="-O1 -g1" COMMIT= \
	    CFLAGS="-w -fvisibility=default -fno-semantic-interposition" LINES=-fsanitize-coverage=trace-pc mutants-run
# Which lines a test runs is noted in the library (.ci/reached.c), not in what is loaded into other programs.
$(call OBJ,$(filter-out $(INJECT_C) $(ACCESSES_C),$(LIB_C))): OWN += $(LINES)
mutants-objects: $(call OBJ,$(LIB_C) $(CMD_C) $(TEST_C)) $(BUILD)/obj/gen/embedded.o $(VERSION_O) $(SHARED) $(STANDIN)
mutants-run: mutants-objects
	@python3 .ci/mutants.py $(BUILD) --n $(MUTANTS_N) $(if $(MUTANTS_SEED),--seed $(MUTANTS_SEED)) \
	    $(if $(MUTANTS_ONLY),--only $(MUTANTS_ONLY)) $(if $(MUTANTS_TESTS),--tests $(MUTANTS_TESTS)) --compile='$(CC) $(CFLAGS_ALL)' --link='$(CC) $(LDFLAGS_ALL)' \
	    --libs='$(LIBS)' --check-libs='$(CHECK_LIBS)' --library='$(LIB_C)' --program='$(CMD_C)' \
	    --inject='$(INJECT_C)' --accesses='$(ACCESSES_C)'

lint: DEVELOPER = 1
lint: $(BUILD)/offchip
	@sh .ci/lint.sh $(BUILD)/offchip "$(CSTD) -Wall -Wextra -Werror -fopenmp $(INCLUDE) $(PKG)"
format:
	clang-format -i $$(find cmd trace replay models -name '*.[ch]')
docs: $(BUILD)/offchip
	sh .ci/reference.sh $(BUILD)/offchip > docs/reference.md
deps:
	@sh .ci/deps.sh

# --- installation ---
$(BUILD)/man/%: docs/man/%.scd
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@
man: $(MAN)
# Completion, by shell; below share/, as all that follows.
COMPLETE_bash := bash-completion/completions/offchip
COMPLETE_zsh  := zsh/site-functions/_offchip
COMPLETE_fish := fish/vendor_completions.d/offchip.fish
COMPLETIONS   := $(COMPLETE_bash) $(COMPLETE_zsh) $(COMPLETE_fish)
SHARE          = $(DESTDIR)$(PREFIX)/share
install: $(BUILD)/offchip $(SHARED) man
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/offchip \
	    $(addprefix $(SHARE)/,offchip/platforms offchip/schema man/man1 doc/offchip/docs $(dir $(COMPLETIONS)))
	install -m 755 $(BUILD)/offchip $(DESTDIR)$(PREFIX)/bin/offchip
	for f in $(SHARED); do [ ! -f $$f ] || install -m 644 $$f $(DESTDIR)$(PREFIX)/lib/offchip/ || exit 1; done
	for f in $(PLATFORMS); do install -m 644 $$f $(SHARE)/offchip/platforms/ || exit 1; done
	install -m 644 docs/schema/*.json $(SHARE)/offchip/schema/
	for f in $(MAN); do install -m 644 $$f $(SHARE)/man/man1/ || exit 1; done
	for f in $$(sh .ci/own_headers.sh "$(CC)"); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/offchip/$$f || exit 1; done
	install -m 644 README.md LICENSE $(SHARE)/doc/offchip/
	for f in $$(find docs -type f ! -path 'docs/man/*' ! -path 'docs/schema/*'); do \
	    install -D -m 644 $$f $(SHARE)/doc/offchip/$$f || exit 1; done
	$(foreach s,bash zsh fish,$(BUILD)/offchip completion $s > $(SHARE)/$(COMPLETE_$s) &&) :
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/offchip $(DESTDIR)$(PREFIX)/lib/offchip $(DESTDIR)$(PREFIX)/include/offchip $(SHARE)/man/man1/offchip.1 \
	    $(SHARE)/man/man1/offchip-*.1 $(addprefix $(SHARE)/,offchip doc/offchip $(COMPLETIONS))

# A package for the Debian that this is (.ci/deb.sh); deb-check installs it into a root of its own and runs it there.
.PHONY: deb deb-check
deb: all man
	@rm -rf $(BUILD)/deb && mkdir -p $(BUILD)/deb
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(BUILD)/deb/root > $(BUILD)/deb/install.log
	@sh .ci/deb.sh $(BUILD) $(VERSION) $(BUILD)/deb/root
deb-check: deb
	@sh .ci/deb_check.sh $(BUILD) $(BUILD)/deb/offchip_$(VERSION)_$$(dpkg --print-architecture).deb

# A tree for machines without our packages, and its archive (.ci/bundle.sh). NVCC70: nvcc of a CUDA before 13, for Volta;
# VOLTA=no: without.
NVCC70 ?=
.PHONY: bundle bundle-check
bundle: $(BUILD)/offchip $(SHARED)
	@sh .ci/bundle.sh $(BUILD) $(VERSION) "$(CC)" "$(NVCC70)" "$(VOLTA)"
# README's replay and a recording over the stand-ins, in a root with a libc of its own and in one without any.
bundle-check: bundle $(STANDIN)
	@sh .ci/bundle_check.sh $(BUILD) $(BUILD)/bundle/offchip-$(VERSION)

clean:
	rm -rf $(BUILD)

# Test and fuzz objects are kept between builds.
.SECONDARY:

-include $(patsubst %.c,$(BUILD)/obj/%.d,$(ALL_C))
