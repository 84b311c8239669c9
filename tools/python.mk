# The Python module. `make python` makes $(BUILD)/python, a folder for PYTHONPATH: the package's Python files (links), the extension, the library that
# extension and command share, and the command where it can be built. `make python-stage STAGE=folder` copies the same, stripped: what wheels are made of.
PYTHON ?= $(firstword $(foreach p,python3 /usr/bin/python3,$(if $(shell $p -c 'import sys, sysconfig, os; sys.exit(sys.version_info < (3, 11) or not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null && echo yes),$p)))
PY := $(BUILD)/python/tessera
PY_SOURCES := $(wildcard python/tessera/*.py python/tessera/*.pyi python/tessera/py.typed)
PY_FILES := $(PY_SOURCES:python/tessera/%=$(PY)/%)
# One extension serves all versions from 3.11 on; free-threaded interpreters have no limited API yet and get one of their own.
PY_SETTINGS = $(shell $(PYTHON) -c 'import sysconfig; g = sysconfig.get_config_var; print(sysconfig.get_path("include"), g("EXT_SUFFIX") if g("Py_GIL_DISABLED") else ".abi3.so", "-DTESSERA_PYTHON_FULL_API" if g("Py_GIL_DISABLED") else "")')
ifneq (,$(findstring python,$(MAKECMDGOALS)))
PY_SET := $(PY_SETTINGS)
PY_INCLUDE := $(word 1,$(PY_SET))
PY_EXT := $(PY)/_tessera$(word 2,$(PY_SET))
PY_API := $(word 3,$(PY_SET))
endif
PY_C := $(wildcard python/src/*.c)
PY_O := $(PY_C:%.c=$(BUILD)/%.o)
# The shared library goes by a name of its own: an installed libtessera.so of another version in the same process must not take its place.
PY_LIB := $(PY)/_libtessera.so
PY_COMMAND := $(if $(shell pkg-config --exists $(IO_PACKAGES) 2>/dev/null && echo yes),$(PY)/_command)
STRIP ?= strip

.PHONY: python python-stage
python: $(PY_EXT) $(PY_FILES) $(PY_COMMAND)

$(PY_O): private CPPFLAGS += -Ipython/src -isystem $(PY_INCLUDE) $(PY_API)
# A wheel has no room for the general rows' PTX: there NVRTC comes from PyPI.
$(BUILD)/src/gpu/shipped_ladder.o: src/gpu/shipped.c $(BUILD)/flags
	$(COMPILE) $(LIBRARY_FLAGS) -DTESS_SHIPPED_GENERAL=0 -MMD -MP -c $< -o $@
$(PY_LIB): $(filter-out $(BUILD)/src/gpu/shipped.o,$(LIB_O)) $(BUILD)/src/gpu/shipped_ladder.o
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,_libtessera.so -Wl,-Bsymbolic -o $@ $^ $(LDFLAGS) $(LDLIBS_LIB)
$(PY_EXT): $(PY_O) $(PY_LIB)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(LDFLAGS) -pthread
$(PY)/_command: $(CLI_O) $(IO_O) $(PY_LIB)
	$(CC) $(CFLAGS_ALL) -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(LDFLAGS) $(IO_LIBS) $(LDLIBS_LIB)
$(PY_FILES): $(PY)/%: python/tessera/%
	@mkdir -p $(@D)
	@ln -sfr $< $@

python-stage: python
	@mkdir -p $(STAGE)
	cp -L $(PY_FILES) $(PY_EXT) $(PY_LIB) $(PY_COMMAND) $(STAGE)
	$(STRIP) --strip-unneeded $(addprefix $(STAGE)/,$(notdir $(PY_EXT) $(PY_LIB) $(PY_COMMAND)))
