# Benchmarks. `make bench`: the limits, every row on every built-in workload, with one thread and with all, the chosen rows on ordinary pages too, the virtual GPU's speed, then other libraries where they are installed;
# `make bench-floors` tells which works reach their floors (bench/floors.txt): some fifteen minutes of a machine that does nothing else;
# `make bench-peers` installs them first (below $(BUILD)/peers); PEERS_FLAGS=--quick is a try of some three minutes. Results lie in $(BUILD)/bench; those worth keeping are committed below bench/results.
PEERS_PYTHON := $(BUILD)/peers/bin/python
DEBIAN := $(BUILD)/peers/debian
PEERS_RUN = LD_LIBRARY_PATH=$(DEBIAN)/usr/lib:$(DEBIAN)/usr/lib/$(ARCH)-linux-gnu:$(DEBIAN)/lib/$(ARCH)-linux-gnu $(PEERS_PYTHON)
BENCH := $(BUILD)/bench
BENCH_FLAGS ?= --all --rows

.PHONY: bench bench-floors bench-peers bench-compare
bench: all
	@mkdir -p $(BENCH)
	$(BUILD)/tessera bench small
	$(BUILD)/tessera bench $(BENCH_FLAGS) -j 1 | tee $(BENCH)/one-thread.txt
	$(BUILD)/tessera bench $(BENCH_FLAGS) | tee $(BENCH)/all-threads.txt
	$(BUILD)/tessera bench --all -j 1 --pages ordinary | tee $(BENCH)/one-thread-ordinary-pages.txt
	$(BUILD)/tessera bench --all --pages ordinary | tee $(BENCH)/all-threads-ordinary-pages.txt
	@$(MAKE) -s $(BUILD)/bench/vgpu
	$(BUILD)/bench/vgpu | tee $(BENCH)/virtual-gpu.txt
	@if [ -x $(PEERS_PYTHON) ]; then $(MAKE) -s bench-compare; else echo 'no other libraries here; make bench-peers installs them'; fi

bench-floors: all
	@bench/floors.py

bench-peers: all
	@tools/peers.sh $(BUILD)
	@$(MAKE) -s bench-compare

bench-compare: all
	@mkdir -p $(BENCH)
	$(PEERS_RUN) bench/peers.py $(PEERS_FLAGS) --output $(BENCH)/peers.json
	@$(PEERS_PYTHON) bench/peers.py --table $(BENCH)/peers.json > $(BENCH)/peers.txt
	@$(PEERS_PYTHON) bench/chart.py $(BENCH)/peers.json --threads 1 > $(BENCH)/peers.svg
	@$(PEERS_PYTHON) bench/chart.py $(BENCH)/peers.json > $(BENCH)/peers-all-threads.svg
	@echo 'results: $(BENCH)/peers.json, peers.txt, peers.svg, peers-all-threads.svg'
