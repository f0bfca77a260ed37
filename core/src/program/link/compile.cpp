// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/link/compile.hpp"

#include "program/link/options.hpp"

#include <array>

namespace cuprum::detail {

Linker linker_for(const ProgramState& state) {
    const std::array codes{ObjectCode::from_bytes(
        CodeType::Ptx, std::as_bytes(std::span(state.source)), state.options.name)};
    return Linker(codes, linker_options_of(state.options));
}

Compiled compile_ptx(const ProgramState& state, CodeType target) {
    const Linker linker = linker_for(state);
    const ObjectCode linked = linker.link(target);
    Compiled compiled;
    compiled.code.assign(linked.code().begin(), linked.code().end());
    compiled.log = linker.info_log();
    compiled.name = state.options.name;
    return compiled;
}

} // namespace cuprum::detail
