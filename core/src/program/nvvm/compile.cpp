// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/nvvm/compile.hpp"

#include "program/nvvm/libdevice.hpp"
#include "program/nvvm/options.hpp"

namespace cuprum::detail {

std::unique_ptr<nvvm::Compilation> start_nvvm(const ProgramState& state, CodeType target) {
    auto compilation = std::make_unique<nvvm::Compilation>(nvvm::flags_of(state.options, target));
    compilation->add(state.source, state.options.name);
    for (const auto& [name, code] : state.options.extra_sources) {
        compilation->add(code, name);
    }
    if (state.options.use_libdevice.value_or(false)) {
        compilation->add_library(nvvm::libdevice(), "libdevice.10.bc");
    }
    return compilation;
}

Compiled compile_nvvm(const ProgramState& state, CodeType target) {
    const auto compilation = start_nvvm(state, target);
    Compiled compiled;
    compiled.log = compilation->run();
    compiled.code = compilation->result();
    compiled.name = state.options.name;
    return compiled;
}

} // namespace cuprum::detail
