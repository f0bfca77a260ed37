// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From a parsed module to kernels that run: the variables a module needs memory for, and its
// kernels once they have addresses.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/memory_map.hpp"
#include "ptx/diagnostics.hpp"
#include "ptx/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::passes {

/// An address to be written into a variable's initial bytes once symbols have addresses.
struct Relocation {
    std::uint32_t offset = 0; // into the variable
    std::uint8_t size_bytes = 8;
    std::string symbol; // a variable, or a function (its index is stored)
    std::int64_t addend = 0;
};

/// A .global or .const variable of module scope, ready to be given memory.
struct GlobalVariable {
    std::string name;
    ptx::Space space = ptx::Space::Global;
    std::uint64_t size_bytes = 0;
    std::uint32_t alignment = 1;
    bool is_external = false; // declared here, defined elsewhere
    bool is_visible = false;  // cuModuleGetGlobal finds it
    bool is_managed = false;
    std::vector<std::byte> initial; // empty: zeros
    std::vector<Relocation> relocations;
};

/// Lists the variables of a module that need device memory. Complains about what it cannot lay out.
[[nodiscard]] std::vector<GlobalVariable> global_variables(const ptx::Module& module,
                                                           ptx::Diagnostics& diagnostics);

/// Returns what kernels of a module see as the address of one of its functions (an alias counts as
/// its target), 0 when there is no such function.
[[nodiscard]] std::uint64_t function_address(const ptx::Module& module, std::string_view name);

/// What compiling needs from outside the module.
struct CompileOptions {
    std::unordered_map<std::string, std::uint64_t> symbols; // device addresses of variables
    const MemoryMap* memory = nullptr;
    std::uint32_t device_sm = 80; // PTX for a newer device is refused
};

/// Compiles every kernel (.entry) of a module; complains by name and line about what cannot run.
///
/// Returns an empty list when there was any complaint: a module loads whole or not at all.
[[nodiscard]] std::vector<std::shared_ptr<const bytecode::Kernel>>
compile(const ptx::Module& module, const CompileOptions& options, ptx::Diagnostics& diagnostics);

} // namespace cuprum::emulator::passes
