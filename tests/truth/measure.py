#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts on a card what test_truth.c counts on the virtual GPU, with Nsight Compute, at two levels of ptxas.

usage: tests/truth/measure.py PROGRAM FOLDER [--known TABLE] [WORD...]

PROGRAM: build/truth/card. WORD: O0, O3, a file of launches, an operation; default all, which takes four and a half minutes.
--known: a launch that has a line in TABLE (tests/truth/h200.txt) keeps it and is not measured again. The names of rows have the hash of their code,
those of launches.txt have not: leave a file's lines out of TABLE when its kernels have changed.

Leaves FOLDER/h200.txt, which is committed as tests/truth/h200.txt: lines of tabs, named by the first: the level, the launch, the hash of what it wrote, the counters
by the names of the virtual GPU. The log of every run lies beside it. Run in the folder of the sources, on a card that does nothing else."""
import csv
import os
import subprocess
import sys
import time

L1, SASS = "l1tex__t_%s_pipe_lsu_mem_%s_op_%s.sum", "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_%s.sum"
# Not smsp__inst_executed_op_*_pred_on_any: of predicated instructions that no lane performs it counts some, another number every run.
PIPE, ISSUED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_%s.sum", "smsp__sass_inst_executed_op_%s.sum"
FLOPS = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"

# Ours, the card's. docs/counters.md says which of the card's counters may be believed.
COUNTERS = [
    ("global_ld_requests", L1 % ("requests", "global", "ld")), ("global_ld_sectors", L1 % ("sectors", "global", "ld")),
    ("global_ld_tags", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_ld.sum"), ("global_ld_bytes", "smsp__sass_data_bytes_mem_global_op_ld.sum"),
    ("global_st_requests", L1 % ("requests", "global", "st")), ("global_st_sectors", L1 % ("sectors", "global", "st")),
    ("global_st_tags", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_st.sum"), ("global_st_bytes", "smsp__sass_data_bytes_mem_global_op_st.sum"),
    ("global_atom_requests", L1 % ("requests", "global", "atom")), ("global_atom_sectors", L1 % ("sectors", "global", "atom")),
    ("global_atom_passes", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_atom.sum"),
    ("global_red_requests", L1 % ("requests", "global", "red")), ("global_red_sectors", L1 % ("sectors", "global", "red")),
    ("global_red_passes", "l1tex__t_set_accesses_pipe_lsu_mem_global_op_red.sum"),
    ("shared_ld_requests", ISSUED % "shared_ld"), ("shared_ld_wavefronts", PIPE % "ld"),
    ("shared_ld_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"), ("shared_ld_bytes", "smsp__sass_data_bytes_mem_shared_op_ld.sum"),
    ("shared_st_requests", ISSUED % "shared_st"), ("shared_st_wavefronts", SASS % "st"), ("shared_st_bytes", "smsp__sass_data_bytes_mem_shared_op_st.sum"),
    ("shared_atom_requests", ISSUED % "shared_atom"), ("shared_atom_wavefronts", SASS % "atom"),
    ("local_ld_requests", L1 % ("requests", "local", "ld")), ("local_ld_sectors", L1 % ("sectors", "local", "ld")),
    ("local_st_requests", L1 % ("requests", "local", "st")), ("local_st_sectors", L1 % ("sectors", "local", "st")),
    ("constant_loads", "smsp__inst_executed_op_ldc_pred_on_any.sum"), ("constant_requests", "idc__requests.sum"),
    ("branches_uniform", "smsp__sass_branch_targets_threads_uniform.sum"), ("branches_divergent", "smsp__sass_branch_targets_threads_divergent.sum"),
    ("warp_instructions", "smsp__inst_executed.sum"), ("thread_instructions", "smsp__thread_inst_executed.sum"),
    ("thread_instructions_on", "smsp__thread_inst_executed_pred_on.sum"),
    # No counters of ours: what these say about the others.
    ("card_ldgsts_requests", "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum"), ("card_ldgsts_wavefronts", SASS % "ldgsts"),
    ("card_ldsm", "smsp__inst_executed_op_ldsm.sum"), ("card_ldsm_wavefronts", SASS % "ldsm"), ("card_sass_ld_wavefronts", SASS % "ld"),
    ("card_generic_ld", "smsp__inst_executed_op_generic_ld.sum"), ("card_generic_st", "smsp__inst_executed_op_generic_st.sum"),
    ("card_generic_atom", "smsp__inst_executed_op_generic_atom_pred_on_any.sum"),
    ("card_f32", "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum"), ("card_ffma", FLOPS % "ffma"),
    ("card_f64", "smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum"), ("card_dfma", FLOPS % "dfma"),
    ("card_hadd", FLOPS % "hadd"), ("card_hmul", FLOPS % "hmul"), ("card_hfma", FLOPS % "hfma"),
]


def number(text):
    """ncu separates thousands by commas, and leaves what it could not count empty."""
    text = text.replace(",", "").strip()
    try:
        return str(int(float(text)))
    except ValueError:
        return "-"


def measure(program, folder, what, level, only, known):
    log, raw = ("%s/%s.O%s%s" % (folder, only, level, end) for end in (".log", ".csv"))
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-kernel-base", "function", "--log-file", raw,
               "--profile-from-start", "off", "--metrics", ",".join(m for _, m in COUNTERS), program, what, level, only]
    if known:
        command.append(known)
    start = time.monotonic()
    with open(log, "w") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, "TESSERA_CACHE": "none"}).returncode
    launches = [line.rstrip("\n").split("\t") for line in open(log) if "\t" in line]
    old = dict(line_of(line) for line in open(known)) if known else {}
    new = [name for name in launches if len(name) == 2]
    table = [row for row in csv.reader(line for line in open(raw) if line.startswith('"'))] if os.path.exists(raw) else []
    head, rows = (table[0], table[2:]) if table else ([], [])  # the second line has the units
    print("%s at level %s: %d launches, %d of them new, %d rows, %.0f s%s" %
          (only, level, len(launches), len(new), len(rows), time.monotonic() - start,
           "" if code == 0 and len(rows) == len(new) else "; SOMETHING IS WRONG, see " + log), flush=True)
    place = [head.index(m) if m in head else -1 for _, m in COUNTERS]
    counted = {name[0]: [number(row[p]) if p >= 0 else "-" for p in place] for name, row in zip(new, rows)}
    for name in launches:
        if len(name) == 3:
            _, written, counters = old["O" + level, name[0]]
            if written != name[1]:
                print("%s at level %s wrote %s, but %s when it was measured" % (name[0], level, name[1], written), flush=True)
            counted[name[0]] = counters + ["-"] * (len(COUNTERS) - len(counters))
    return ["\t".join(["O" + level] + name[:2] + counted[name[0]]) for name in launches if name[0] in counted]


def line_of(line):
    level, launch, written, *counters = line.rstrip("\n").split("\t")
    return (level, launch), (level, written, counters)


def main():
    program, folder = sys.argv[1:3]
    words = sys.argv[3:]
    known = None
    if "--known" in words:
        known = words.pop(words.index("--known") + 1)
        words.remove("--known")
    parts = [("launches", stem) for stem in dict.fromkeys(line.split()[0] for line in open("tests/truth/launches.txt") if line[0] not in "#\n")]
    parts += [("rows", operation) for operation in ("reduce", "transpose", "correlate", "lookup")]
    levels = [w for w in words if w in ("O0", "O3")] or ["O0", "O3"]
    wanted = [w for w in words if w not in levels]
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/h200.txt", "w") as out:
        out.write("\t".join(["level", "launch", "hash"] + [name for name, _ in COUNTERS]) + "\n")
        for level in levels:
            for what, only in parts:
                if not wanted or only in wanted:
                    out.writelines(line + "\n" for line in measure(program, folder, what, level[1:], only, known))
                    out.flush()


main()
