#!/bin/sh
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# A stand-in for nvcc. It calls NVIDIA's nvcc, the next one in PATH. For `nvcc --cubin` it asks for a
# fatbin with PTX, which both devices load, and gives it the name of the cubin. To a fatbin of machine
# code it adds the PTX.

own=$(dirname "$(readlink -f "$0")")
real=
rest=$PATH:
while [ -n "$rest" ] && [ -z "$real" ]; do
    folder=${rest%%:*}
    rest=${rest#*:}
    case $folder in
    /*) ;;
    *) continue ;; # depends on where the program runs
    esac
    if [ -f "$folder/nvcc" ] && [ -x "$folder/nvcc" ] &&
        [ "$(dirname "$(readlink -f "$folder/nvcc")")" != "$own" ]; then
        real=$folder/nvcc
    fi
done
if [ -z "$real" ]; then
    echo "nvcc: NVIDIA's nvcc is not in PATH: install a CUDA toolkit" >&2
    exit 127
fi

# Joins options and their values, so that the loops below see one form: "-arch" "sm_90" is
# "-arch=sm_90".
joined=
count=$#
while [ "$count" -gt 0 ]; do
    count=$((count - 1))
    argument=$joined$1
    shift
    joined=
    case $argument in
    -arch | --gpu-architecture | -code | --gpu-code | -gencode | --generate-code)
        [ "$count" -gt 0 ] && joined=$argument= && continue
        ;;
    esac
    set -- "$@" "$argument"
done

is_cubin=
is_fatbin=
has_output=
output=
architecture=
code=
pairs=0
for argument; do
    case $argument in
    -cubin | --cubin) is_cubin=1 ;;
    -fatbin | --fatbin) is_fatbin=1 ;;
    -arch=* | --gpu-architecture=*) architecture=${argument#*=} ;;
    -code=* | --gpu-code=*) code=${argument#*=} ;;
    -gencode=* | --generate-code=*) pairs=$((pairs + 1)) ;;
    -o | --output-file | --output-file=*) has_output=1 ;;
    *.cu | *.ptx | *.c | *.cc | *.cpp | *.cxx)
        output=$(basename "$argument")
        output=${output%.*}.cubin
        ;;
    esac
done
# nvcc itself refuses a cubin for several devices.
if [ -z "$is_cubin$is_fatbin" ] || { [ -n "$is_cubin" ] && [ "$pairs" -gt 1 ]; }; then
    exec "$real" "$@"
fi

# Prints what a virtual architecture is compiled to: PTX instead of the wanted codes, or, in a fatbin,
# beside them.
with_ptx() {
    codes=${2#[[\"]}
    codes=${codes%[]\"]}
    case $is_cubin$codes in
    1*) echo "$1" ;;
    *compute_*) echo "[$codes]" ;;
    *) echo "[$codes,$1]" ;;
    esac
}

count=$#
while [ "$count" -gt 0 ]; do
    count=$((count - 1))
    argument=$1
    shift
    case $argument in
    # Not compressed: others read in the PTX which types the kernels take.
    -cubin | --cubin) set -- "$@" --fatbin --no-compress ;;
    -gencode=arch=compute_*,code=* | --generate-code=arch=compute_*,code=*)
        virtual=${argument#*arch=}
        virtual=${virtual%%,*}
        set -- "$@" -gencode "arch=$virtual,code=$(with_ptx "$virtual" "${argument#*,code=}")"
        ;;
    -arch=sm_* | --gpu-architecture=sm_*)
        virtual=compute_${architecture#sm_}
        if [ -n "$is_cubin" ]; then
            set -- "$@" -gencode "arch=$virtual,code=$virtual"
        else
            set -- "$@" "$argument" # a fatbin has the PTX
        fi
        ;;
    -arch=compute_* | --gpu-architecture=compute_*)
        if [ -n "$code" ]; then
            set -- "$@" -gencode "arch=$architecture,code=$(with_ptx "$architecture" "$code")"
        else
            set -- "$@" "$argument"
        fi
        ;;
    -code=* | --gpu-code=*)
        case $architecture in
        compute_*) ;; # said above
        *) set -- "$@" "$argument" ;;
        esac
        ;;
    *) set -- "$@" "$argument" ;;
    esac
done
if [ -n "$is_cubin" ] && [ -z "$has_output" ] && [ -n "$output" ]; then
    set -- "$@" -o "$output"
fi
exec "$real" "$@"
