// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry point for everything that loading a module does with its text: parser, layout of
// variables, passes, decoders. tools/fuzz runs it.
//
// Besides libFuzzer's changes of bytes, texts are also changed line by line and word by word, which
// reaches much more code.

#include "passes/compile.hpp"
#include "ptx/parser.hpp"
#include "support/mutation.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace cuprum::emulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::uint64_t WINDOW_BYTES = std::uint64_t{1} << 24;
    static const MemoryMap memory = [] {
        MemoryMap map;
        map.shared_base = std::uint64_t{1} << 32;
        map.local_base = map.shared_base + WINDOW_BYTES;
        map.memory_base = map.local_base + WINDOW_BYTES;
        map.shared_bytes = map.local_bytes = map.memory_bytes = WINDOW_BYTES;
        map.window_base = map.shared_base;
        map.window_bytes = 3 * WINDOW_BYTES;
        return map;
    }();
    ptx::Diagnostics diagnostics;
    const std::optional<ptx::Module> module =
        ptx::parse(std::string(reinterpret_cast<const char*>(data), size), diagnostics);
    if (!module) {
        return 0;
    }
    passes::CompileOptions options;
    options.memory = &memory;
    options.device_sm = 120;
    for (const passes::GlobalVariable& variable :
         passes::global_variables(*module, memory.memory_bytes, diagnostics)) {
        options.symbols.insert(variable.name);
    }
    if (!diagnostics.is_empty()) {
        return 0;
    }
    const auto kernels = passes::compile(*module, options, diagnostics);
    if (!kernels.empty() && !diagnostics.is_empty()) {
        std::abort();
    }
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
    if (seed % 4 == 0 || size == 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string changed = test::Mutator(seed)(text, text);
    const std::size_t length = std::min(changed.size(), max_size);
    std::memcpy(data, changed.data(), length);
    return length;
}
