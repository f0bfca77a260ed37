// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// From a parsed module to executable kernels. A module is compiled once. Each context fills in the
// addresses of its variables.

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
#include <unordered_set>
#include <vector>

namespace cuprum::emulator::passes {

/// An address to write into a variable's initial bytes once symbols have addresses.
struct Relocation {
    std::uint64_t offset = 0; // into the variable
    std::uint8_t size_bytes = 8;
    std::string symbol; // a variable or a function
    std::int64_t addend = 0;
};

/// A .global or .const variable of module scope that needs memory.
struct GlobalVariable {
    std::string name;
    ptx::Space space = ptx::Space::Global;
    ptx::Type type = ptx::Type::None;
    std::uint64_t size_bytes = 0;
    std::uint32_t alignment = 1;
    bool is_external = false; // declared here, defined elsewhere
    bool is_visible = false;  // cuModuleGetGlobal finds it
    bool is_managed = false;
    std::vector<std::byte> initial; // the first bytes; those behind it are zero
    std::vector<Relocation> relocations;
};

/// Lists the variables of a module that need device memory; reports those that it cannot lay out.
///
/// `memory_bytes` is the memory of the device: a module whose variables need more is refused before
/// any of their initial bytes are stored.
[[nodiscard]] std::vector<GlobalVariable> global_variables(const ptx::Module& module,
                                                           std::uint64_t memory_bytes,
                                                           ptx::Diagnostics& diagnostics);

/// The addresses of a module's functions as its kernels see them. The module must outlive it.
class FunctionAddresses {
public:
    explicit FunctionAddresses(const ptx::Module& module);

    /// Returns the address of a function; 0 if there is no such function. An alias has the address
    /// of its target.
    [[nodiscard]] std::uint64_t of(std::string_view name) const;

private:
    std::unordered_map<std::string_view, std::uint64_t> addresses_;
};

/// What the compiler needs from outside the module.
struct CompileOptions {
    std::unordered_set<std::string> symbols; // variables that have memory in every context
    const MemoryMap* memory = nullptr;
    std::uint32_t device_sm = 80; // PTX for a newer device is refused
    // The largest bank that a kernel may have. Tests lower it; operands hold no larger offsets.
    std::uint32_t bank_bytes = bytecode::Operand::OFFSET_MASK + 1;
};

/// Compiles every kernel (.entry) of a module. Reports by name and line what cannot run.
///
/// Returns an empty list after any error: a module loads completely or not at all.
[[nodiscard]] std::vector<std::shared_ptr<const bytecode::Kernel>>
compile(const ptx::Module& module, const CompileOptions& options, ptx::Diagnostics& diagnostics);

/// Returns the constants of a kernel with the addresses of variables filled in. A kernel that names
/// no variable has one bank for all contexts. `addresses` contains CompileOptions::symbols.
[[nodiscard]] std::shared_ptr<std::byte>
place_symbols(const bytecode::Kernel& kernel,
              const std::unordered_map<std::string, std::uint64_t>& addresses);

} // namespace cuprum::emulator::passes
