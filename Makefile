# Tessera's build. `make` builds build/tessera, build/libtessera.so and .a; `make help` lists the rest.
#
# Sources are found by place and name, so that adding a file is enough:
#   src/{core,gpu,vgpu,profile,ops,ops/*}/*.c            the library; cpu_*.c, vgpu/exec_*.c and core/convert.c once per instruction set
#   src/gpu/*.cuh, src/ops/*/*.{cu,cuh}          kernels: kept as text in the library, compiled at run time
#   src/io/*.c, cli/*.c                          the command
#   tests/test_*.c, src/ops/*/test_*.c           one test program each (tools/test.mk)
# Other builds live beside the plain one: make CC=clang BUILD=build-clang, make SANITIZE=address,undefined BUILD=build-asan.
BUILD ?= build
VERSION := $(shell awk '/define TESSERA_VERSION_(MAJOR|MINOR|PATCH)/ {v = v s $$3; s = "."} END {print v}' include/tessera.h)
MAJOR := $(firstword $(subst ., ,$(VERSION)))

# -g1 is what profilers and sanitizers name lines by; variables for a debugger (OPT="-O3 -g") are 40 % of gcc's time.
OPT ?= $(if $(SANITIZE),-O1,-O3) -g1
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
# No contraction anywhere: an fma is written out or it is not one (docs/numerics.md). Vectorising is safe: no option here reorders floats.
BITS := -ffp-contract=off -fno-fast-math -fexcess-precision=standard
ifneq (,$(findstring clang,$(CC)))
BITS := -ffp-contract=off -fno-fast-math
endif
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Isrc
CHECKED := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# Functions with hundreds of accesses, which unrolled kernels are, get calls in place of code for each: gcc takes half the time for them.
ifeq (,$(findstring clang,$(CC)))
CHECKED += $(if $(findstring address,$(SANITIZE)),--param asan-instrumentation-with-call-threshold=200)
endif
CFLAGS_ALL = -std=c17 $(OPT) $(WARN) $(BITS) -fno-math-errno -fno-trapping-math -pthread $(CHECKED) $(CFLAGS)
# Builds with a sanitizer show every name, so that their test programs can take the library as a shared one: 167 copies of it were 6 GB.
LIBRARY_FLAGS = -fPIC $(if $(SANITIZE),,-fvisibility=hidden)
COMPILE = $(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(if $(WERROR),-Werror)
LDLIBS_LIB := -lm -pthread -ldl

ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
# gcc clears and copies structures of 100 bytes and more by one string instruction, which takes 12 ns to start where a call of memset takes 2: a small call,
# of 200 to 700 ns, does a dozen of them.
ifeq ($(ARCH)$(findstring clang,$(CC)),x86_64)
BITS += -mmemset-strategy=libcall:-1:noalign -mmemcpy-strategy=libcall:-1:noalign
endif
ifeq ($(ARCH),x86_64)
SLOTS := baseline avx2 avx512
# Processors without AVX2 get code that is small (gcc 12 then sees uninitialised lanes where there are none).
FLAGS_baseline := $(if $(findstring -O3,$(OPT)),-O2 $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized))
FLAGS_avx2 := -mavx2 -mfma -mbmi2 -mf16c
FLAGS_avx512 := $(FLAGS_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mavx512vnni -mprefer-vector-width=512
else ifeq ($(ARCH),aarch64)
SLOTS := baseline neon
else
SLOTS := baseline
endif
# Kernels are looked into without the checks of undefined behaviour that AddressSanitizer makes up for; those are most of gcc's work on
# unrolled ones (63 s for one file, 17 without).
ifneq (,$(findstring undefined,$(SANITIZE)))
SLOT_CHECKS := -fno-sanitize=pointer-overflow,object-size
# Where a pointer is null or lies at the wrong place is the same in all of a text's builds: the first one looks (7 to 18 % of gcc's time for the largest others).
$(foreach s,$(filter-out baseline,$(SLOTS)),$(eval FLAGS_$(s) += -fno-sanitize=alignment,null))
endif
# The virtual GPU is the machine that tests of GPU rows run on: SANITIZE_VGPU= leaves it as users have it there, two to three times as fast.
SANITIZE_VGPU ?= $(SANITIZE)
ifneq ($(SANITIZE),$(SANITIZE_VGPU))
$(BUILD)/src/vgpu/%.o: private CHECKED :=
$(BUILD)/src/vgpu/%.o: private OPT := -O3 -g1
endif
# Keys of kernels are hashes of their text, some tens of KiB each: a tenth of such tests' time under a sanitizer.
ifneq (,$(findstring address,$(SANITIZE)))
$(BUILD)/src/gpu/sha256.o: private OPT := -O3 -g1
$(BUILD)/src/gpu/sha256.o: private CHECKED :=
endif
# Fuzzers look into what is read from outside, not into kernels: these are built once (make SLOTS=baseline does so anywhere), without looking for undefined
# behaviour, which the tests do, and unoptimised, which takes clang a tenth of the time; arrays are small there.
ifneq (,$(findstring fuzzer,$(SANITIZE)))
SLOTS := baseline
FLAGS_baseline += -fno-sanitize=undefined -O0
$(BUILD)/src/vgpu/%.baseline.o: private FLAGS_baseline := # the virtual GPU's own tests run in this build
endif
# Nor do threads share anything that depends on the instruction set.
ifneq (,$(findstring thread,$(SANITIZE)))
SLOTS := baseline
FLAGS_baseline += -O0
endif
CPPFLAGS += $(SLOTS:%=-DTESS_BUILDS_%)

PER_ISA := src/core/convert.c $(wildcard src/core/cpu_*.c src/ops/*/cpu_*.c src/vgpu/exec_*.c)
LIB_C := $(filter-out $(PER_ISA) $(wildcard src/ops/*/test_*.c src/ops/*/bench_*.c),$(wildcard src/core/*.c src/gpu/*.c src/vgpu/*.c src/profile/*.c src/ops/*.c src/ops/*/*.c))
KERNELS := $(wildcard src/gpu/*.cu src/gpu/*.cuh src/ops/*/*.cu src/ops/*/*.cuh)
LIB_O := $(LIB_C:%.c=$(BUILD)/%.o) $(foreach s,$(SLOTS),$(PER_ISA:%.c=$(BUILD)/%.$(s).o)) $(KERNELS:%=$(BUILD)/%.o)
IO_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard src/io/*.c))
CLI_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/*.c))

IO_PACKAGES := libpng sndfile libtiff-4 jansson
IO_CFLAGS = $(shell pkg-config --cflags $(IO_PACKAGES))
IO_LIBS = $(shell pkg-config --libs $(IO_PACKAGES))

.PHONY: all
all: $(BUILD)/libtessera.a $(BUILD)/libtessera.so $(if $(CLI_O),$(BUILD)/tessera)

$(BUILD)/libtessera.a: $(LIB_O)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libtessera.so.$(VERSION): $(LIB_O)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libtessera.so.$(MAJOR) $(if $(SANITIZE),,-Wl$(comma)--no-undefined) -o $@ $^ $(LDFLAGS) $(LDLIBS_LIB)

$(BUILD)/libtessera.so: $(BUILD)/libtessera.so.$(VERSION)
	ln -sf libtessera.so.$(VERSION) $(BUILD)/libtessera.so.$(MAJOR)
	ln -sf libtessera.so.$(VERSION) $@

$(BUILD)/tessera: $(CLI_O) $(IO_O) $(BUILD)/libtessera.a
	$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS) $(IO_LIBS) $(LDLIBS_LIB)

comma := ,
$(CLI_O) $(IO_O): private CPPFLAGS += $(IO_CFLAGS)

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) $(LIBRARY_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/src/profile/card.o: src/profile/cards.txt
$(BUILD)/src/gpu/shipped.o $(BUILD)/src/gpu/shipped_ladder.o: src/gpu/shipped.ptx src/gpu/shipped_general.ptx
$(BUILD)/cli/ladder_measured.o: bench/results/2026-11-20-h200-ladder-64mi.txt

define per_isa
$(BUILD)/%.$(1).o: %.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(COMPILE) $$(LIBRARY_FLAGS) $$(FLAGS_$(1)) $$(SLOT_CHECKS) -DTESS_ISA_SUFFIX=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach s,$(SLOTS),$(eval $(call per_isa,$(s))))
# What a compiler says of the code for an instruction set, without making any.
define read_isa
.PHONY: $(1)-read
$(1)-read: $(PER_ISA:%.c=$(BUILD)/%.$(1).read)
$(BUILD)/%.$(1).read: %.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(COMPILE) $$(FLAGS_$(1)) -DTESS_ISA_SUFFIX=$(1) -fsyntax-only -MMD -MP -MF $$@.d -MT $$@ $$< && touch $$@
endef
$(foreach s,avx2 avx512,$(eval $(call read_isa,$(s))))

# Definitions, which the tests wait for: under a sanitizer's -O1 they would take most of the time.
ifneq (,$(SANITIZE))
$(BUILD)/src/ops/%reference.o $(BUILD)/src/ops/reduce/node.o: private CHECKED += -O2
endif

# A kernel's text as tess_kernel_FOLDER_FILE_cu, ended by a 0.
$(BUILD)/%.cu.o $(BUILD)/%.cuh.o: SYMBOL = tess_kernel_$(subst .,_,$(subst /,_,$(patsubst src/%,%,$(patsubst src/ops/%,src/%,$<))))
define kernel_text
	@mkdir -p $(@D)
	@printf '%s\n' '.section .rodata' '.global $(SYMBOL)' '.hidden $(SYMBOL)' '.type $(SYMBOL), %object' '$(SYMBOL): .incbin "$<"' '.byte 0' '.size $(SYMBOL), . - $(SYMBOL)' '.section .note.GNU-stack, "", %progbits' > $(@:.o=.s)
	$(CC) -c $(@:.o=.s) -o $@
endef
$(BUILD)/%.cu.o: %.cu
	$(kernel_text)
$(BUILD)/%.cuh.o: %.cuh
	$(kernel_text)

# Objects depend on the words they were compiled with, so that a build folder never holds two kinds (WERROR changes no object).
FLAGS_NOW = $(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LIBRARY_FLAGS) $(FLAGS_baseline) $(FLAGS_avx2) $(FLAGS_avx512) $(SLOT_CHECKS) $(SANITIZE_VGPU)
.PHONY: always
$(BUILD)/flags: always
	@mkdir -p $(@D)
	@echo '$(FLAGS_NOW)' | cmp -s - $@ || echo '$(FLAGS_NOW)' > $@

.PHONY: clean
clean:
	rm -rf build build-*

include tools/test.mk tools/install.mk tools/python.mk tools/bench.mk
-include $(shell find $(BUILD) -path $(BUILD)/peers -prune -o -type f -name '*.d' -print 2>/dev/null)
