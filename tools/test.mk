# Test programs, fuzzers and the suite. tests/run.py is the runner; it asks for the builds it needs by the targets below.

# One program for each test file. Tests see the library's inside, so they link the archive, without what a debugger wants (TEST_LDFLAGS= keeps
# it), or the shared library where a sanitizer's build shows its inside; test_io_* link the files' side too, test_cli_* the whole command but its main.c.
TEST_SHARED := $(if $(findstring fuzzer,$(SANITIZE)),,$(SANITIZE))
TEST_LIB := $(BUILD)/libtessera.$(if $(TEST_SHARED),so,a)
TEST_LDFLAGS = $(if $(SANITIZE),,-Wl$(comma)--strip-debug)
TEST_RPATH = $(if $(TEST_SHARED),-Wl$(comma)-rpath$(comma)'$$ORIGIN/..')
TEST_C := $(wildcard tests/test_*.c src/ops/*/test_*.c)
TESTS := $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(TEST_C)))
TEST_CORE := $(filter-out $(BUILD)/tests/test_io_% $(BUILD)/tests/test_cli_%,$(TESTS))
CLI_TESTED_O := $(filter-out $(BUILD)/cli/main.o,$(CLI_O))
# A test's own code at -O1, which halves the time of compiling them.
LINK_TEST = @mkdir -p $(@D)$(newline)$(COMPILE) -O1 -Itests -MMD -MP -MF $@.d $(filter %.c,$^) -o $@ $(filter %.o %.a %.so,$^) $(TEST_RPATH) $(TEST_LDFLAGS) $(LDFLAGS) -lcmocka
define newline


endef

vpath test_%.c tests $(wildcard src/ops/*)
$(BUILD)/tests/%: %.c $(TEST_LIB)
	$(LINK_TEST) $(LDLIBS_LIB)
$(BUILD)/tests/test_io_%: test_io_%.c $(IO_O) $(TEST_LIB)
	$(LINK_TEST) $(IO_LIBS) $(LDLIBS_LIB)
$(BUILD)/tests/test_cli_%: private CPPFLAGS += -Icli
$(BUILD)/tests/test_cli_%: test_cli_%.c $(CLI_TESTED_O) $(IO_O) $(TEST_LIB)
	$(LINK_TEST) $(IO_LIBS) $(LDLIBS_LIB)

# Pretended NVIDIA libraries (tests/fake): one good driver and compiler, and some with a defect each.
FAKE_cuda :=
FAKE_cuda_old := -DFAKE_VERSION=11080 -DcuCtxGetId=taken_away
FAKE_cuda_missing := -DcuLaunchKernel=taken_away
FAKE_cuda_empty := -DFAKE_DEVICES=0
FAKE_cuda_broken := -DFAKE_INIT=999
FAKE_cuda_stub := -DFAKE_INIT=34
FAKE_cuda_taken := -DFAKE_RETAIN=46
FAKE_cuda_12 := -DFAKE_VERSION=12080
FAKE_nvrtc :=
FAKE_nvrtc_old := -DFAKE_MAJOR=11 -DFAKE_MINOR=8
FAKE_nvrtc_missing := -DnvrtcGetCUBIN=taken_away
FAKE_nvrtc_12 := -DFAKE_MAJOR=12 -DFAKE_MINOR=8
FAKES := $(addprefix $(BUILD)/tests/fake/,$(addsuffix .so,cuda cuda_old cuda_missing cuda_empty cuda_broken cuda_stub cuda_taken cuda_12 nvrtc nvrtc_old nvrtc_missing nvrtc_12))
FAKE_COMPILE = @mkdir -p $(@D)$(newline)$(CC) $(CPPFLAGS) -std=c17 -O1 -g $(WARN) $(if $(WERROR),-Werror) -fPIC -shared $(FAKE_$(basename $(@F))) -o $@ $(filter %.c,$^)
$(filter $(BUILD)/tests/fake/cuda%,$(FAKES)): tests/fake/cuda.c tests/fake/cuda_rest.c tests/fake/cuda.h src/gpu/driver.h src/gpu/driver.def
	$(FAKE_COMPILE)
$(filter $(BUILD)/tests/fake/nvrtc%,$(FAKES)): tests/fake/nvrtc.c tests/fake/cuda.h src/gpu/driver.h src/gpu/driver.def
	$(FAKE_COMPILE)
$(BUILD)/tests/test_gpu_%: test_gpu_%.c $(TEST_LIB) | $(FAKES)
	$(LINK_TEST) $(LDLIBS_LIB)

.PHONY: tests tests-core tests-read
tests: $(TESTS)
# What a compiler says of the tests' code, without making programs of it.
tests-read: $(TESTS:%=%.read)
$(BUILD)/tests/%.read: private CPPFLAGS += -Icli -Itests
$(BUILD)/tests/%.read: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(COMPILE) -fsyntax-only -MMD -MP -MF $@.d -MT $@ $< && touch $@
tests-core: $(TEST_CORE)

# What the virtual GPU counts, counted on a card (tests/truth/measure.py).
$(BUILD)/truth/card: tests/truth/card.c tests/truth/truth.h $(BUILD)/libtessera.a
	@mkdir -p $(@D)
	$(COMPILE) -Itests/truth -MMD -MP -MF $@.d $< -o $@ $(filter %.a,$^) $(LDFLAGS) $(LDLIBS_LIB)

# Fuzz targets: with clang's libFuzzer when SANITIZE has fuzzer in it, else with a driver that only replays a corpus.
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_DRIVER := $(if $(findstring fuzzer,$(SANITIZE)),-fsanitize=fuzzer,tests/fuzz/replay.c)
$(BUILD)/fuzz/%: private CPPFLAGS += -Icli -Itests
$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/replay.c $(CLI_TESTED_O) $(IO_O) $(BUILD)/libtessera.a
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MF $@.d $< $(FUZZ_DRIVER) -o $@ $(filter %.o %.a,$^) $(LDFLAGS) $(IO_LIBS) $(LDLIBS_LIB)
.PHONY: fuzzers
fuzzers: $(FUZZERS)

.PHONY: deps test test-quick
deps:
	@tools/deps.sh

test: deps
	@python3 tests/run.py

# On a machine with a card: rows and operations against the CPU, arrays beyond 2^32 elements, the driver's own checks (test-gpu-rows); then the same under
# compute-sanitizer. They want gcc, the CUDA toolkit and cmocka, whose header and library are found in CPATH, LIBRARY_PATH and LD_LIBRARY_PATH where they are not installed.
# With make -j16 on 16 processors each of the two takes some minutes; in pieces: make test-gpu-rows GPU_TESTS=test_gpu_large, make test-gpu-sanitize SANITIZERS=racecheck.
.PHONY: test-gpu test-gpu-rows test-gpu-sanitize bench-gpu
test-gpu:
	@$(MAKE) -s test-gpu-rows
	@$(MAKE) -s test-gpu-sanitize
GPU_TESTS := test_gpu_card test_gpu_empty test_gpu_pipeline test_gpu_pipeline_correlate test_gpu_tune $(sort $(notdir $(basename $(wildcard src/ops/*/test_*_gpu.c)))) test_gpu_large
test-gpu-rows: $(GPU_TESTS:%=$(BUILD)/tests/%)
	@sh tools/test_gpu.sh $(BUILD) $(GPU_TESTS)

# test_gpu_large moves tens of gigabytes, which the tools would look at byte by byte.
SANITIZED := $(filter-out test_gpu_large,$(GPU_TESTS))
SANITIZERS := memcheck racecheck initcheck synccheck
test-gpu-sanitize: $(SANITIZED:%=$(BUILD)/tests/%)
	@sh tools/test_gpu.sh --sanitize "$(SANITIZERS)" $(BUILD) $(SANITIZED)

bench-gpu: $(BUILD)/bench/gpu $(BUILD)/bench/host_arrays
	@python3 bench/gpu_peers.py $(BUILD)/bench/gpu
	@$(BUILD)/bench/host_arrays 1024

# PTX of the ladder's rungs and of the general rows for machines without NVRTC, after a change of one of their kernels.
.PHONY: shipped
shipped: $(BUILD)/tests/test_cli_shipped
	@$< --write
	@$(MAKE) -s all

test-quick:
	@python3 tests/run.py --quick

.PHONY: coverage
coverage:
	@sh tools/coverage.sh

# Only the build's packages are needed; its two files are fetched once into build/demo/data.
.PHONY: demo
demo:
	@tools/deps.sh build
	@$(MAKE) -s all
	@python3 tools/demo.py

.PHONY: help
help:
	@echo 'make              build/tessera, build/libtessera.so, build/libtessera.a'
	@echo 'make deps         install what is missing (Debian 12; offline and at once when all is there)'
	@echo 'make python       the Python module: PYTHONPATH=build/python'
	@echo 'make demo         the main job on a photograph, a recording and a large array'
	@echo 'make test         the whole suite; make test-quick: gcc build, C tests and oracles only'
	@echo 'make coverage     how much of the library the C tests reach (gcovr)'
	@echo 'make test-gpu     on a machine with an NVIDIA card: GPU rows against the CPU, then under compute-sanitizer; make bench-gpu: limits, works, peers, arrays in host memory'
	@echo 'make shipped      writes the shipped PTX anew (NVRTC needed), after a change of one of its kernels'
	@echo 'make tests        build the C test programs into build/tests'
	@echo 'make bench        limits, every strategy on every workload, other libraries where installed; make bench-peers installs them'
	@echo 'make install      into PREFIX (default /usr/local), DESTDIR before it; LIBDIR=lib; make uninstall'
	@echo 'make format       lay out the sources with clang-format'
	@echo 'make clean        remove build and build-*'
	@echo
	@echo 'Variables: CC=clang, BUILD=folder, OPT="-O2 -g", WERROR=1, SANITIZE=address,undefined, CFLAGS, LDFLAGS, TEST_LDFLAGS'

SOURCES = $(wildcard include/*.h src/*/*.[ch] src/*/*/*.[ch] cli/*.[ch] tests/*.[ch] tests/*/*.[ch] examples/*.c python/src/*.[ch])
.PHONY: format
format:
	clang-format -i $(SOURCES)

# bench/*.c measure one thing each with the public interface; no test runs them.
$(BUILD)/bench/gpu: $(wildcard bench/gpu*.c) $(BUILD)/libtessera.a
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MF $@.d $(filter %.c,$^) -o $@ $(BUILD)/libtessera.a $(LDFLAGS) $(LDLIBS_LIB)
$(BUILD)/bench/%: bench/%.c $(BUILD)/libtessera.a
	@mkdir -p $(@D)
	$(COMPILE) -MMD -MP -MF $@.d $< -o $@ $(BUILD)/libtessera.a $(LDFLAGS) $(LDLIBS_LIB)
