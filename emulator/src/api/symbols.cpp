// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Every exported name. Functions that are not implemented return an error that says so.
//
// NOTE: do not include cuda.h here, because each name is declared without its parameters. The
// definitions are weak, so a real definition elsewhere in the library replaces them. This works for
// object files, but not for members of a static archive. The target of an alias is not static,
// because clang would mangle its name.

#include "api/symbols.hpp"

#include "objects/process/log.hpp"

#include <string>
#include <string_view>

namespace {

int refuse(const char* name) noexcept {
    constexpr int not_supported = 801; // CUDA_ERROR_NOT_SUPPORTED
    using namespace cuprum::emulator;
    log(LogLevel::Error, std::string(name) + " is not supported by the emulated device");
    return not_supported;
}

} // namespace

extern "C" {
#define CUPRUM_SYMBOL(symbol, name, version, flavour)                                              \
    int unsupported_##symbol() {                                                                   \
        return refuse(#symbol);                                                                    \
    }                                                                                              \
    __attribute__((weak, visibility("default"), alias("unsupported_" #symbol))) int symbol();
#include "api/newer_symbols.def"
#include "api/symbols.def"
#undef CUPRUM_SYMBOL
}

namespace cuprum::emulator {

std::span<const Symbol> symbols() {
    static const Symbol all[] = {
#define CUPRUM_SYMBOL(symbol, name, version, flavour)                                              \
    {#symbol,                                                                                      \
     #name,                                                                                        \
     version,                                                                                      \
     Flavour::flavour,                                                                             \
     reinterpret_cast<void*>(&symbol),                                                             \
     reinterpret_cast<void*>(&unsupported_##symbol)},
#include "api/newer_symbols.def"
#include "api/symbols.def"
#undef CUPRUM_SYMBOL
    };
    return all;
}

bool is_implemented(const Symbol& symbol) {
    if (symbol.flavour != Flavour::PerThread) {
        return symbol.address != symbol.stub;
    }
    constexpr std::size_t suffix_length = 5; // _ptsz, _ptds
    const std::string_view plain =
        std::string_view(symbol.symbol)
            .substr(0, std::string_view(symbol.symbol).size() - suffix_length);
    for (const Symbol& each : symbols()) {
        if (plain == each.symbol) {
            return each.address != each.stub;
        }
    }
    return false;
}

} // namespace cuprum::emulator
