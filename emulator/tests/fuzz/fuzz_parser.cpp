// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry for the image reader and the parser: the first byte chooses. Built with clang and
// -DCUPRUM_FUZZ=ON; run with a folder of PTX texts and fatbins as the corpus.

#include "image/image.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace cuprum::emulator;

void fuzz_parser(std::string text) {
    ptx::Diagnostics diagnostics;
    const std::optional<ptx::Module> module = ptx::parse(std::move(text), diagnostics);
    if (!module) {
        return;
    }
    // What was accepted must print as something that is accepted, and print the same again.
    const std::string printed = ptx::to_text(*module);
    const std::optional<ptx::Module> again = ptx::parse(printed, diagnostics);
    if (!again || ptx::to_text(*again) != printed) {
        std::abort();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint32_t COMPUTE_CAPABILITY = 90;
    if (size == 0) {
        return 0;
    }
    if (data[0] % 4 == 0) {
        const ImageResult result = read_image(data + 1, size - 1, COMPUTE_CAPABILITY);
        if (result.ptx.has_value() != (result.problem == ImageProblem::None)) {
            std::abort();
        }
    } else {
        fuzz_parser(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    }
    return 0;
}
