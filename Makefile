# Tessera's build. `make` builds build/tessera, build/libtessera.so and .a; `make help` lists the rest.
#
# Sources are found by place and name, so that adding a file is enough:
#   src/core/*.c, src/ops/*.c, src/ops/*/*.c     the library; cpu_*.c and core/convert.c once per instruction set
#   src/io/*.c, cli/*.c                          the command
#   tests/test_*.c, src/ops/*/test_*.c           one test program each
BUILD ?= build
VERSION := 0.1.0
MAJOR := 0
PREFIX ?= /usr/local
DESTDIR ?=

OPT ?= -O3 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla $(if $(WERROR),-Werror)
# No contraction anywhere: an fma is written out or it is not one (docs/numerics.md). Vectorising is safe: no option here reorders floats.
BITS := -ffp-contract=off -fno-fast-math -fexcess-precision=standard
ifneq (,$(findstring clang,$(CC)))
BITS := -ffp-contract=off -fno-fast-math
endif
CPPFLAGS += -D_GNU_SOURCE -Iinclude -Isrc
CFLAGS_ALL = -std=c17 $(OPT) $(WARN) $(BITS) -fno-math-errno -fno-trapping-math -pthread $(CFLAGS)
LIBRARY_FLAGS = -fPIC -fvisibility=hidden
LDLIBS_LIB := -lm -pthread

ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
ifeq ($(ARCH),x86_64)
SLOTS := baseline avx2 avx512
FLAGS_baseline :=
FLAGS_avx2 := -mavx2 -mfma -mbmi2
FLAGS_avx512 := $(FLAGS_avx2) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vbmi -mprefer-vector-width=512
else ifeq ($(ARCH),aarch64)
SLOTS := baseline neon
else
SLOTS := baseline
endif

PER_ISA := src/core/convert.c $(wildcard src/core/cpu_*.c src/ops/*/cpu_*.c)
LIB_C := $(filter-out $(PER_ISA) $(wildcard src/ops/*/test_*.c src/ops/*/bench_*.c),$(wildcard src/core/*.c src/ops/*.c src/ops/*/*.c))
LIB_O := $(LIB_C:%.c=$(BUILD)/%.o) $(foreach s,$(SLOTS),$(PER_ISA:%.c=$(BUILD)/%.$(s).o))
CLI_C := $(wildcard cli/*.c src/io/*.c)
CLI_O := $(CLI_C:%.c=$(BUILD)/%.o)
TEST_C := $(wildcard tests/test_*.c src/ops/*/test_*.c)
TESTS := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TEST_C)))

IO_PACKAGES := libpng sndfile libtiff-4 jansson
IO_CFLAGS = $(shell pkg-config --cflags $(IO_PACKAGES))
IO_LIBS = $(shell pkg-config --libs $(IO_PACKAGES))

.PHONY: all
all: $(BUILD)/libtessera.a $(BUILD)/libtessera.so $(BUILD)/tessera

$(BUILD)/libtessera.a: $(LIB_O)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libtessera.so.$(VERSION): $(LIB_O)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libtessera.so.$(MAJOR) -Wl,--no-undefined -o $@ $^ $(LDFLAGS) $(LDLIBS_LIB)

$(BUILD)/libtessera.so: $(BUILD)/libtessera.so.$(VERSION)
	ln -sf libtessera.so.$(VERSION) $(BUILD)/libtessera.so.$(MAJOR)
	ln -sf libtessera.so.$(VERSION) $@

$(BUILD)/tessera: $(CLI_O) $(BUILD)/libtessera.a
	$(CC) $(CFLAGS_ALL) -o $@ $^ $(LDFLAGS) $(IO_LIBS) $(LDLIBS_LIB)

$(BUILD)/cli/%.o $(BUILD)/src/io/%.o: CPPFLAGS += $(IO_CFLAGS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) $(LIBRARY_FLAGS) -MMD -MP -c $< -o $@

define per_isa
$(BUILD)/%.$(1).o: %.c
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(CFLAGS_ALL) $$(LIBRARY_FLAGS) $$(FLAGS_$(1)) -DTESS_ISA_SUFFIX=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach s,$(SLOTS),$(eval $(call per_isa,$(s))))

# Tests see the library's inside, so they link the archive.
vpath test_%.c tests $(wildcard src/ops/*)
$(BUILD)/tests/%: %.c $(BUILD)/libtessera.a
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests $(CFLAGS_ALL) -MMD -MP -MF $@.d $< -o $@ $(BUILD)/libtessera.a $(LDFLAGS) -lcmocka $(LDLIBS_LIB)

.PHONY: tests
tests: $(TESTS)

.PHONY: clean
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
