// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvvm.hpp"

#include <array>

namespace cuprum::nvvm {

namespace {

constexpr int MIN_VERSION = 12000; // libNVVM reports a version of its own, not CUDA's
constexpr std::array FILE_NAMES{"libnvvm.so.4", "libnvvm.so"}; // packages of CUDA 12: the second

} // namespace

} // namespace cuprum::nvvm

namespace cuprum::libraries {

template <>
constinit const LibraryDescription Loader<nvvm::Table>::DESCRIPTION{
    .request = {.name = "libNVVM",
                .file_names = nvvm::FILE_NAMES,
                .variable = "CUPRUM_NVVM",
                .advice = "install it with `pip install nvidia-nvvm` (CUDA 12: "
                          "nvidia-cuda-nvcc-cu12), install the CUDA toolkit (12 or 13), or set "
                          "CUPRUM_NVVM to the path of libnvvm.so",
                .folder = "nvvm/lib64"},
    .min_version = nvvm::MIN_VERSION};

template class Loader<nvvm::Table>;

} // namespace cuprum::libraries
