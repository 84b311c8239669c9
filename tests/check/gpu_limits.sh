#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Proves: the production kernels compile for sm_80, sm_90 and sm_100 with the registers, spills and shared memory of gpu_limits.txt.
# After a change that is meant: tests/check/gpu_limits.sh --write
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "no nvcc here"; exit 77; }
nvcc --version | grep -q 'release 13.0' || { echo "the table was made by CUDA 13.0, here is another"; exit 77; }
made=$(mktemp -d) || exit 1
trap 'rm -rf "$made"' EXIT
image="-DIN=12 -DOUT=12 -DWORK=12 -DGROUP=1 -DBATCH=0 -DWHOLE=1"
reduce="-DMAP=0 -DSMALLEST=0 -DMAGNITUDE=0 -DNUMERIC=0 -DOMIT=0 -DKEPT=1 -DRANK=1 -DSEGMENTS=0 -DSLOTS=8 -DUNROLL=16 -DWARPS=8 -DTICKET=1 -DPACKED=0 -DWHOLE=1 -DLEAVES=1"
line() {
    label=$1 file=$2
    shift 2
    nvcc -cubin -std=c++17 -fmad=false -Isrc -Xptxas -v "$@" "src/ops/$file.cu" -arch="$arch" -o "$made/x" >"$made/log" 2>&1 ||
        echo "$arch $label does not compile: $(grep -m 1 error "$made/log")"
    awk -v what="$arch $label" '/Compiling entry/ {split($0, q, "\047"); name = q[2]} / bytes stack frame/ {stack = $1; spill = $5 + $9}
            /Used/ {shared = 0; for (i = 1; i < NF; i++) if ($(i + 2) ~ /^smem/) shared = $i; print what, name, $5 " registers", stack " stack", spill " spilled", shared " shared"}' "$made/log"
}
for arch in sm_80 sm_90 sm_100; do
    line "micro 1" transpose/gpu_micro -DSIZE=1 -DBATCH=0 -DP=256 -DQ=256 -DTHREADS=256
    line "micro 2" transpose/gpu_micro -DSIZE=2 -DBATCH=0 -DP=128 -DQ=128 -DTHREADS=256
    line "micro 4" transpose/gpu_micro -DSIZE=4 -DBATCH=0 -DP=64 -DQ=128 -DTHREADS=256
    line "micro 8" transpose/gpu_micro -DSIZE=8 -DBATCH=0 -DP=32 -DQ=64 -DTHREADS=256
    line "micro 16" transpose/gpu_micro -DSIZE=16 -DBATCH=0 -DP=16 -DQ=64 -DTHREADS=256
    line "shifted 1" transpose/gpu_shifted_small -DSIZE=1 -DBATCH=0 -DQ=224 -DTHREADS=256 -DAT_ONCE=4
    line "shifted 4" transpose/gpu_shifted -DSIZE=4 -DBATCH=0 -DP=64 -DQ=128 -DTHREADS=512 -DAT_ONCE=17
    line "sum f32 rows" reduce/gpu_tree_rows $reduce -DKIND=0 -DIN=12 -DOUT=12 -DACC=12 -DOPERATION=0 -DVECTOR=4
    line "argmax f32 rows" reduce/gpu_tree_rows $reduce -DKIND=4 -DIN=12 -DOUT=9 -DACC=9 -DOPERATION=8 -DVECTOR=4
    line "sum u8 rows" reduce/gpu_tree_rows $reduce -DKIND=0 -DIN=2 -DOUT=8 -DACC=8 -DOPERATION=0 -DVECTOR=8
    line "sum f32 columns" reduce/gpu_tree_columns $reduce -DROWS=4 -DKIND=0 -DIN=12 -DOUT=12 -DACC=12 -DOPERATION=0 -DVECTOR=4
    line "patch f32 3 x 3" correlate/gpu_patch $image -DKX=3 -DBEFORE=1 -DKY=3 -DV=4 -DR=2 -DWX=2 -DWY=4 -DBLOCKS=6 -DDIRECT=0
    line "patch f32 5 x 5" correlate/gpu_patch $image -DKX=5 -DBEFORE=2 -DKY=5 -DV=4 -DR=5 -DWX=2 -DWY=4 -DBLOCKS=4 -DDIRECT=0
    line "strip f32 7 x 7" correlate/gpu_strip2d $image -DKX=7 -DBEFORE=3 -DKY=7 -DV=8 -DSTAGES=8 -DTHREADS=128 -DBLOCKS=6
    line "strip f32 15 x 15" correlate/gpu_strip2d $image -DKX=15 -DBEFORE=7 -DKY=15 -DV=8 -DSTAGES=8 -DTHREADS=128 -DBLOCKS=3
    line "separable f32 15 + 15" correlate/gpu_separable2d $image -DKX=15 -DBEFORE=7 -DKY=15 -DROWS_FIRST=0 -DV=4 -DTURN=4 -DSTAGES=3 -DTHREADS=256 -DBLOCKS=2
    line "march f32 5 x 5 x 5" correlate/gpu_march3d $image -DKX=5 -DBEFORE=2 -DKY=5 -DKZ=5 -DV=4 -DR=3 -DALONG=32 -DDOWN=4 -DSTAGES=3 -DBLOCKS=4
    line "tile f32 33 taps" correlate/gpu_tile1d $image -DKX=33 -DBEFORE=16 -DEACH=16 -DTHREADS=64
    line "correlate f32 general" correlate/gpu_general -DIN=12 -DOUT=12 -DWORK=12 -DOUTER=0 -DMASKED=2 -DINDEX=32
    line "correlate u8 general" correlate/gpu_general -DIN=2 -DOUT=2 -DWORK=12 -DOUTER=1 -DMASKED=3 -DINDEX=64
    line "correlate f32 31 x 31 wide" correlate/gpu_wide -DIN=12 -DOUT=12 -DWORK=12 -DKY=31 -DKX=31 -DTY=32 -DTX=8 -DY=4 -DX=12 -DBAND=158 -DBATCH=0 -DOUTER=0
    line "correlate f32 1023 wide" correlate/gpu_wide -DIN=12 -DOUT=12 -DWORK=12 -DKY=1 -DKX=1023 -DTY=1 -DTX=128 -DY=1 -DX=20 -DBAND=1 -DBATCH=0 -DOUTER=0
    line "var f32 lanes" reduce/gpu_tree_lanes $reduce -DKIND=5 -DIN=12 -DOUT=12 -DACC=13 -DOPERATION=5 -DVECTOR=4
    line "lookup f32 by i32" lookup/gpu_vectors -DSTEP=4 -DINDEX=7 -DOUTSIDE=0 -DWIDE=0 -DSIZE=4 -DV=4 -DGROUPS=1 -DTHREADS=256 -DBLOCKS=8 -DLINES=0
    line "lookup f32 by u16" lookup/gpu_vectors -DSTEP=4 -DINDEX=4 -DOUTSIDE=0 -DWIDE=0 -DSIZE=4 -DV=4 -DGROUPS=2 -DTHREADS=256 -DBLOCKS=8 -DLINES=0
    line "lookup u8 by u8" lookup/gpu_shared_bytes -DINDEX=2 -DOUTSIDE=0 -DWIDE=0 -DTHREADS=256 -DCHECK=0
    line "lookup slices" lookup/gpu_slice_vectors -DINDEX=7 -DOUTSIDE=0 -DWIDE=0 -DSIZE=16 -DLINES=0 -DNARROW=1
    line "linear f32" lookup/gpu_prepared -DINDEX=12 -DOUTSIDE=0 -DWIDE=0 -DFROM=12 -DTO=12 -DCOMPUTE=12 -DMETHOD=2 -DSINGLE=1 -DSIZE=4 -DV=4 -DGROUPS=2 -DTHREADS=256 -DBLOCKS=8 -DLINES=0
    line "cubic f32" lookup/gpu_prepared -DINDEX=12 -DOUTSIDE=0 -DWIDE=0 -DFROM=12 -DTO=12 -DCOMPUTE=12 -DMETHOD=3 -DSINGLE=1 -DSIZE=4 -DV=4 -DGROUPS=2 -DTHREADS=256 -DBLOCKS=8 -DLINES=0
done >"$made/table"
[ "$1" = --write ] && cp "$made/table" tests/check/gpu_limits.txt
diff tests/check/gpu_limits.txt "$made/table" || { echo "the kernels' limits are not those of tests/check/gpu_limits.txt"; exit 1; }
echo "$(wc -l <"$made/table") kernels as recorded"
