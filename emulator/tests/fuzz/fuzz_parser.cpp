// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry point for the parser and the printer. tools/fuzz runs it.

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

using namespace cuprum::emulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ptx::Diagnostics diagnostics;
    const std::optional<ptx::Module> module =
        ptx::parse(std::string(reinterpret_cast<const char*>(data), size), diagnostics);
    if (!module) {
        return 0;
    }
    // An accepted text must print as a text that is accepted and prints the same again.
    const std::string printed = ptx::to_text(*module);
    const std::optional<ptx::Module> again = ptx::parse(printed, diagnostics);
    if (!again || ptx::to_text(*again) != printed) {
        std::abort();
    }
    return 0;
}
