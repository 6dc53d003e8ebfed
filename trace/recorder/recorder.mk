# What record needs beside the program: the injected libraries, stand-ins for driver and CUPTI, what nvcc makes. Included by Makefile.

# What the CUDA driver loads into a recorded program, and the stand-ins for the driver and CUPTI that tests record with.
INJECT    := $(BUILD)/liboffchip_inject.so
INJECT_C  := $(wildcard trace/recorder/inject/cupti_inject*.c trace/recorder/inject/inject_*.c) \
    trace/recorder/wire/cupti_metrics.c trace/base/err.c
ACCESSES  := $(BUILD)/liboffchip_accesses.so
ACCESSES_C := $(wildcard trace/recorder/inject/sanitizer_inject*.c trace/recorder/inject/inject_*.c)
STANDIN   := $(BUILD)/standin/libcuda.so.1 $(BUILD)/standin/libcupti.so $(BUILD)/standin/libsanitizer-public.so \
    $(BUILD)/standin/libprofiler.so $(BUILD)/standin/target $(BUILD)/standin/no_memory.so \
    $(BUILD)/standin/uvm_tools.so
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
    fixtures/standin/standin.h trace/recorder/wire/cupti_abi.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) -shared -Wl,-soname,$(@F) $(filter %.c,$^) -lpthread -o $@
$(BUILD)/standin/libprofiler.so: fixtures/standin/libprofiler.c $(BUILD)/standin/libcupti.so
	$(Q)$(CC) $(STANDIN_FLAGS) -shared $^ -o $@
$(BUILD)/standin/libsanitizer-public.so: fixtures/standin/libsanitizer.c fixtures/standin/standin.h \
    trace/recorder/wire/sanitizer_abi.h trace/recorder/wire/access_ring.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) -shared $< -lpthread -o $@
$(BUILD)/standin/target: fixtures/standin/target.c fixtures/standin/standin.h trace/recorder/wire/cupti_abi.h \
    trace/recorder/wire/record_pipe.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(STANDIN_FLAGS) $< -ldl -lpthread -o $@
# In front of the C library's: no sanitiser's can be there too.
$(BUILD)/standin/%.so: fixtures/standin/%.c trace/recorder/wire/uvm_tools_abi.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out $(SAN),$(STANDIN_FLAGS)) -shared $< -o $@
STANDIN_FLAGS = $(CSTD) -O1 -g -Wall -Wextra $(WERROR) -I. -fPIC $(SAN) $(LDFLAGS)
$(addprefix $(BUILD)/test/trace/recorder/,recorder recorder_ends recorder_other_users recorder_machine recorder_machine_libraries recorder_trace_events recorder_accesses recorder_counters wire/cupti_metrics): \
    | $(INJECT) $(ACCESSES) $(STANDIN)
cli check: $(INJECT) $(ACCESSES) $(STANDIN)
# Our declarations of CUPTI against the real ones, where the toolkit is installed.
CUDA_INCLUDE := $(firstword $(patsubst %/cupti.h,%,$(wildcard $(CUDA_HOME)/include/cupti.h \
    $(CUDA_HOME)/extras/CUPTI/include/cupti.h /usr/local/cuda/include/cupti.h \
    /usr/local/cuda/extras/CUPTI/include/cupti.h /usr/local/cuda-*/include/cupti.h)))
ifneq ($(CUDA_INCLUDE),)
check: $(BUILD)/standin/abi_check.o
$(BUILD)/standin/abi_check.o: fixtures/standin/abi_check.c trace/recorder/wire/cupti_abi.h
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
$(PATCH): trace/recorder/inject/sanitizer_patch.cu trace/recorder/wire/access_ring.h \
    trace/recorder/wire/sanitizer_abi.h
	@mkdir -p $(@D)
	$(call SAY,NVCC,$@)
	$(Q)$(NVCC) --fatbin --compile-as-tools-patch -arch=all -std=c++14 -I. $< -o $@ || \
	    echo "$(NVCC) cannot make $@: record --accesses will not be possible (NVCC names another)" >&2
endif

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
	    $(foreach a,$(CUDA_ARCH),--generate-code=arch=compute_$(a)$(comma)code=sm_$(a)) $< -o $@
endif

# All that needs a GPU, in 90 seconds, into CHECK_GPU and its archive.
CHECK_GPU ?= check-gpu
.PHONY: check-gpu
check-gpu: all cuda
	@OFFCHIP=$(BUILD)/offchip PROGRAMS=$(BUILD)/cuda sh fixtures/cuda/check.sh $(CHECK_GPU)
