# SPDX-License-Identifier: Apache-2.0
# Completion of tessera(1) for bash. tests/cli/agreement.py compares it with the command's own table of options.
_tessera() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} options=
    local first=1
    case $command in explain | tune) [[ ${#COMP_WORDS[@]} -gt 3 ]] && command=${COMP_WORDS[2]} && first=2 ;; esac
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "correlate convolve reduce transpose lookup list explain devices ladder bench tune profile help --help --version" -- "$cur"))
        return
    fi
    case $prev in
    --boundary | -b)
        COMPREPLY=($(compgen -W "zero constant nearest reflect mirror wrap" -- "$cur"))
        return ;;
    --extent)
        COMPREPLY=($(compgen -W "same valid full" -- "$cur"))
        return ;;
    --accuracy)
        COMPREPLY=($(compgen -W "direct fast fft" -- "$cur"))
        return ;;
    --engine)
        COMPREPLY=($(compgen -W "auto cpu cuda virtual" -- "$cur"))
        return ;;
    --isa)
        COMPREPLY=($(compgen -W "auto baseline avx2 avx512 neon" -- "$cur"))
        return ;;
    --nan)
        COMPREPLY=($(compgen -W "propagate omit" -- "$cur"))
        return ;;
    --outside)
        COMPREPLY=($(compgen -W "error clip wrap fill" -- "$cur"))
        return ;;
    --interpolate | -i)
        COMPREPLY=($(compgen -W "none nearest linear cubic" -- "$cur"))
        return ;;
    --compute | --type | -t)
        COMPREPLY=($(compgen -W "bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 c64 c128" -- "$cur"))
        return ;;
    --mask | -m)
        COMPREPLY=($(compgen -W "gaussian: box: sobel:x sobel:y prewitt:x prewitt:y scharr:x scharr:y laplace sharpen" -- "$cur"))
        return ;;
    --pages)
        COMPREPLY=($(compgen -W "huge ordinary" -- "$cur"))
        return ;;
    --strategy | -s)
        COMPREPLY=($(compgen -W "$(tessera list 2>/dev/null | grep -o '^  [a-z]*/[a-z0-9_]*')" -- "$cur"))
        return ;;
    --fmad)
        COMPREPLY=($(compgen -W "true false" -- "$cur"))
        return ;;
    --card)
        COMPREPLY=($(compgen -W "H200 A100 RTX4090 T4" -- "$cur"))
        return ;;
    --include | -I)
        COMPREPLY=($(compgen -d -- "$cur"))
        return ;;
    --output | -o | --offsets)
        COMPREPLY=($(compgen -f -- "$cur"))
        return ;;
    esac
    case $command in
    correlate) options="--output --mask --boundary --constant --extent --origin --accuracy --compute --axes --type --rate --max-pixels --engine --strategy --threads --isa --json --quiet --help" ;;
    convolve) options="--output --mask --boundary --constant --extent --origin --accuracy --compute --axes --type --rate --max-pixels --engine --strategy --threads --isa --json --quiet --help" ;;
    reduce) options="--output --axis --keepdims --ddof --nan --exact --offsets --type --rate --max-pixels --engine --strategy --threads --isa --json --quiet --help" ;;
    transpose) options="--output --axes --type --rate --max-pixels --engine --strategy --threads --isa --json --quiet --help" ;;
    lookup) options="--output --axis --outside --fill --interpolate --type --rate --max-pixels --engine --strategy --threads --isa --json --quiet --help" ;;
    list) options="--json --help" ;;
    explain) options="--help" ;;
    devices) options="--threads --isa --json --help" ;;
    ladder) options="--engine --threads --isa --seconds --html --json --quiet --help" ;;
    bench) options="--threads --isa --seconds --all --only --rows --rounds --pages --json --quiet --help" ;;
    tune) options="--engine --threads --isa --seconds --all --only --json --quiet --help" ;;
    profile) options="--output --expect --define --include --fmad --fast-math --check --no-check --check-global --step-limit --card --cubin --seed --html --threads --isa --json --help" ;;
    help) options="--json --help" ;;
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$cur"))
        return
    fi
    case $command,$((COMP_CWORD - first)) in
    reduce,1) COMPREPLY=($(compgen -W "sum prod min max mean var std argmin argmax any all count_nonzero norm1 norm2 norm_inf" -- "$cur")) ;;
    bench,1) COMPREPLY=($(compgen -W "correlate reduce transpose lookup limits small" -- "$cur")) ;;
    list,1) COMPREPLY=($(compgen -W "correlate reduce transpose lookup workloads" -- "$cur")) ;;
    ladder,1 | tune,1) COMPREPLY=($(compgen -W "correlate reduce transpose lookup" -- "$cur")) ;;
    explain,1) COMPREPLY=($(compgen -W "correlate convolve reduce transpose lookup" -- "$cur")) ;;
    help,1) COMPREPLY=($(compgen -W "correlate convolve reduce transpose lookup list explain devices ladder bench tune profile help" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -f -- "$cur")) ;;
    esac
}
complete -o filenames -F _tessera tessera
