// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program through the linker (PTX) or libNVVM (NVVM IR).

#include "program/program_state.hpp"

#include <cuprum/linker.hpp>

#include <array>

namespace cuprum {

LinkerOptions ProgramOptions::to_linker() const {
    LinkerOptions linked;
    linked.name = name;
    linked.arch = arch;
    linked.max_register_count = max_register_count;
    if (time.has_value()) {
        linked.time = true; // into the log
    }
    linked.link_time_optimization = link_time_optimization;
    if (device_code_optimize.has_value()) {
        linked.optimization_level = *device_code_optimize ? 3 : 0;
    }
    linked.debug = debug;
    linked.lineinfo = lineinfo;
    linked.ftz = ftz;
    linked.prec_div = prec_div;
    linked.prec_sqrt = prec_sqrt;
    linked.fma = fma;
    linked.ptxas_options = ptxas_options;
    linked.split_compile = split_compile;
    linked.no_cache = no_cache;
    return linked;
}

} // namespace cuprum

namespace cuprum::detail {

Compiled compile_ptx(const ProgramState& state, CodeType target) {
    const auto* const begin = reinterpret_cast<const std::byte*>(state.source.data());
    const std::array codes{ObjectCode::from_bytes(
        CodeType::Ptx, {begin, begin + state.source.size()}, state.options.name)};
    const Linker linker(codes, state.options.to_linker());
    const ObjectCode linked = linker.link(target);
    Compiled compiled;
    compiled.code.assign(linked.code().begin(), linked.code().end());
    compiled.log = linker.info_log();
    compiled.name = state.options.name;
    return compiled;
}

std::unique_ptr<nvvm::Compilation> start_nvvm(const ProgramState& state, CodeType target) {
    auto compilation = std::make_unique<nvvm::Compilation>(state.options.to_nvvm(target));
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
