// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry point for the reader of images: fat binaries, their compressed entries, object
// files and text. tools/fuzz runs it.

#include "image/image.hpp"
#include "image/object_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace cuprum::emulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint32_t COMPUTE_CAPABILITY = 90;
    const ImageResult result = read_image(data, size, COMPUTE_CAPABILITY);
    if (result.ptx.has_value() != (result.problem == ImageProblem::None)) {
        std::abort();
    }
    for (const auto fatbin : find_fatbins({data, size})) {
        (void)read_image(fatbin.data(), fatbin.size(), COMPUTE_CAPABILITY);
    }
    return 0;
}
