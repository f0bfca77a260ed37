#!/bin/sh
# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# A stand-in for nvcc. It calls NVIDIA's nvcc, the next one in PATH. For `nvcc --cubin` it asks for a
# fatbin with PTX, which both devices load, and gives it the name of the cubin.

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

is_cubin=
has_output=
output=
for argument; do
    case $argument in
    -cubin | --cubin) is_cubin=1 ;;
    -code | -code=* | --gpu-code | --gpu-code=* | -gencode | -gencode=* | --generate-code*)
        exec "$real" "$@" # the program chooses the code itself
        ;;
    -o | --output-file | --output-file=*) has_output=1 ;;
    *.cu | *.ptx | *.c | *.cc | *.cpp | *.cxx)
        output=$(basename "$argument")
        output=${output%.*}.cubin
        ;;
    esac
done
if [ -z "$is_cubin" ]; then
    exec "$real" "$@"
fi

is_architecture=
count=$#
while [ "$count" -gt 0 ]; do
    count=$((count - 1))
    argument=$1
    shift
    if [ -n "$is_architecture" ]; then
        is_architecture=
        argument=-arch=$argument
    fi
    case $argument in
    -cubin | --cubin) set -- "$@" --fatbin ;;
    -arch | --gpu-architecture) is_architecture=1 ;;
    -arch=sm_* | --gpu-architecture=sm_*)
        number=${argument#*=sm_}
        set -- "$@" -gencode "arch=compute_$number,code=compute_$number"
        ;;
    *) set -- "$@" "$argument" ;;
    esac
done
if [ -z "$has_output" ] && [ -n "$output" ]; then
    set -- "$@" -o "$output"
fi
exec "$real" "$@"
