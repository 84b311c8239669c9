# make install, make uninstall. The installed tree may be moved: pkg-config file and CMake package find the rest from where they lie.
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= lib
MANDIR ?= share/man
INSTALL ?= install

ROOT = $(DESTDIR)$(PREFIX)
# "../.." from a folder of the prefix back to it
up = $(shell realpath -m --relative-to=/p/$(1) /p)
FILL = sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@MAJOR@|$(MAJOR)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' -e 's|@UP@|$(call up,$(1))|g'

.PHONY: install uninstall
install: all
	$(INSTALL) -d $(ROOT)/include $(ROOT)/$(LIBDIR)/pkgconfig $(ROOT)/$(LIBDIR)/cmake/tessera
	$(INSTALL) -m 644 include/tessera.h $(ROOT)/include/
	$(INSTALL) -m 644 $(BUILD)/libtessera.a $(ROOT)/$(LIBDIR)/
	$(INSTALL) -m 755 $(BUILD)/libtessera.so.$(VERSION) $(ROOT)/$(LIBDIR)/
	ln -sf libtessera.so.$(VERSION) $(ROOT)/$(LIBDIR)/libtessera.so.$(MAJOR)
	ln -sf libtessera.so.$(MAJOR) $(ROOT)/$(LIBDIR)/libtessera.so
	$(call FILL,$(LIBDIR)/pkgconfig) tools/package/tessera.pc.in > $(ROOT)/$(LIBDIR)/pkgconfig/tessera.pc
	$(call FILL,$(LIBDIR)/cmake/tessera) tools/package/tesseraConfig.cmake.in > $(ROOT)/$(LIBDIR)/cmake/tessera/tesseraConfig.cmake
	$(call FILL,) tools/package/tesseraConfigVersion.cmake.in > $(ROOT)/$(LIBDIR)/cmake/tessera/tesseraConfigVersion.cmake
ifneq (,$(CLI_O))
	$(INSTALL) -d $(ROOT)/bin
	$(INSTALL) -m 755 $(BUILD)/tessera $(ROOT)/bin/
endif
ifneq (,$(wildcard docs/tessera.1))
	$(INSTALL) -d $(ROOT)/$(MANDIR)/man1
	$(INSTALL) -m 644 docs/tessera.1 $(ROOT)/$(MANDIR)/man1/
endif
ifneq (,$(wildcard cli/completion/tessera.bash))
	$(INSTALL) -D -m 644 cli/completion/tessera.bash $(ROOT)/share/bash-completion/completions/tessera
endif
ifneq (,$(wildcard cli/completion/_tessera))
	$(INSTALL) -D -m 644 cli/completion/_tessera $(ROOT)/share/zsh/site-functions/_tessera
endif
ifneq (,$(wildcard cli/completion/tessera.fish))
	$(INSTALL) -D -m 644 cli/completion/tessera.fish $(ROOT)/share/fish/vendor_completions.d/tessera.fish
endif

uninstall:
	rm -f $(ROOT)/bin/tessera $(ROOT)/include/tessera.h $(ROOT)/$(LIBDIR)/libtessera.a $(ROOT)/$(LIBDIR)/libtessera.so \
	    $(ROOT)/$(LIBDIR)/libtessera.so.$(MAJOR) $(ROOT)/$(LIBDIR)/libtessera.so.$(VERSION) $(ROOT)/$(LIBDIR)/pkgconfig/tessera.pc \
	    $(ROOT)/$(MANDIR)/man1/tessera.1 $(ROOT)/share/bash-completion/completions/tessera \
	    $(ROOT)/share/zsh/site-functions/_tessera $(ROOT)/share/fish/vendor_completions.d/tessera.fish
	rm -rf $(ROOT)/$(LIBDIR)/cmake/tessera
