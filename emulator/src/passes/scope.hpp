// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Names inside a function body. Scopes nest; a name is looked for from the innermost outwards, up
// to the body of the function (inlined functions do not see their caller's names).

#pragma once

#include "bytecode/kernel.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::passes {

/// A part of a .param variable that is always accessed whole, and so can live in a register.
struct ParameterElement {
    std::uint32_t offset = 0;
    std::uint32_t size_bytes = 0;
    bytecode::Operand value;
};

/// Where a .param variable of a function or of a call lives.
struct ParameterStorage {
    bool is_in_registers = false;
    std::vector<ParameterElement> elements; // when in registers
    std::uint32_t local_offset = 0;         // when in local memory

    /// Returns the element at an offset, or nullptr.
    [[nodiscard]] const ParameterElement* find(std::int64_t offset, std::uint32_t size_bytes) const;
};

struct VectorRegister;

/// What a name means.
struct Symbol {
    enum class Kind : std::uint8_t {
        Register,
        Vector, // a register of several components: `vector`
        Label,
        Shared,          // `offset` in the static shared memory of the kernel
        DynamicShared,   // .extern .shared: behind all static shared memory
        Local,           // `offset` in the local memory of a thread
        KernelParameter, // `offset` in the packed parameters
        Parameter,       // of a function or a call: `storage`
        Targets,         // a list of branch targets
        Prototype,
    };

    Kind kind = Kind::Register;
    bytecode::Operand value; // Register
    ptx::Type type = ptx::Type::None;
    std::uint32_t label = 0;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::shared_ptr<const ParameterStorage> storage;
    std::shared_ptr<const VectorRegister> vector;
    const ptx::TargetList* targets = nullptr;
    const ptx::CallPrototype* prototype = nullptr;
};

/// The components of a `.v2` or `.v4` register, in order, and what they are called.
struct VectorRegister {
    std::vector<std::string> names;
    std::vector<Symbol> components;
};

/// A `%r<5>` declaration.
struct RegisterRange {
    std::string_view prefix;
    std::uint32_t count = 0;
    ptx::Type type = ptx::Type::None;
    std::uint32_t vector_width = 1;
};

/// The scopes that are open at one point of a body.
class Scopes {
public:
    /// Opens a scope; `is_function` hides everything outside.
    void push(bool is_function);
    void pop();

    /// Declares a name in the innermost scope. Returns false when it is taken there.
    bool declare(std::string_view name, Symbol symbol);
    void declare(const RegisterRange& range);

    /// Returns what a name means, or nullptr. A register of a range gets its symbol from
    /// `make_register(name, range)` the first time.
    template <typename MakeRegister>
    [[nodiscard]] const Symbol* find(std::string_view name, MakeRegister make_register) {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
            if (const auto found = scope->names.find(name); found != scope->names.end()) {
                return &found->second;
            }
            if (const RegisterRange* range = scope->range_of(name)) {
                return &scope->names.emplace(name, make_register(name, *range)).first->second;
            }
            if (scope->is_function) {
                break;
            }
        }
        return nullptr;
    }

private:
    struct Scope {
        bool is_function = false;
        std::unordered_map<std::string_view, Symbol> names;
        std::vector<RegisterRange> ranges;

        [[nodiscard]] const RegisterRange* range_of(std::string_view name) const;
    };

    std::vector<Scope> scopes_;
};

} // namespace cuprum::emulator::passes
