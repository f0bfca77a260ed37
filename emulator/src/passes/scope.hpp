// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Names inside a function body. Scopes nest. A name is searched from the innermost scope outwards,
// up to the body of the function: inlined functions do not see their caller's names.

#pragma once

#include "bytecode/kernel.hpp"
#include "ptx/tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::emulator::passes {

/// A part of a .param variable that is always accessed as a whole, so it can be a register.
struct ParameterElement {
    std::uint32_t offset = 0;
    std::uint32_t size_bytes = 0;
    bytecode::Operand value;
};

/// The storage of a .param variable of a function or of a call.
struct ParameterStorage {
    bool is_in_registers = false;
    std::vector<ParameterElement> elements; // if in registers; sorted by offset
    std::uint32_t local_offset = 0;         // if in local memory

    /// Returns the element at an offset, or nullptr.
    [[nodiscard]] const ParameterElement* find(std::int64_t offset, std::uint32_t size_bytes) const;
};

struct VectorRegister;

/// The meaning of a name.
struct Symbol {
    enum class Kind : std::uint8_t {
        Register,
        Vector, // `vector`, a register of several components
        Label,
        Shared,          // `offset` in the static shared memory of the kernel
        DynamicShared,   // .extern .shared []: after all static shared memory
        Local,           // `offset` in the local memory of a thread
        KernelParameter, // `offset` in the packed parameters
        Parameter,       // `storage` of a function's or a call's parameter
        Targets,         // a list of branch targets
        Prototype,
    };

    Kind kind = Kind::Register;
    bytecode::Operand value; // Register
    ptx::Type type = ptx::Type::None;
    std::uint32_t label = 0;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    bool is_array = false;
    std::shared_ptr<const ParameterStorage> storage;
    std::shared_ptr<const VectorRegister> vector;
    const ptx::TargetList* targets = nullptr;
    const ptx::CallPrototype* prototype = nullptr;
};

/// The components of a `.v2` or `.v4` register, in order, and their names.
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

/// The open scopes at one point of a body.
class Scopes {
public:
    /// Opens a scope. `is_function` hides all outer scopes.
    void push(bool is_function);
    void pop();

    /// Declares a name in the innermost scope. Returns false if the name already exists there.
    bool declare(std::string_view name, Symbol symbol);
    void declare(const RegisterRange& range);

    /// Returns the meaning of a name, or nullptr. A register of a range gets its symbol from
    /// `make_register(name, range)` at its first use.
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
        // By prefix, with the position among all ranges of the scope; each larger than the one
        // before.
        std::unordered_map<std::string_view, std::vector<std::pair<RegisterRange, std::size_t>>>
            ranges;
        std::size_t range_count = 0;

        [[nodiscard]] const RegisterRange* range_of(std::string_view name) const;
    };

    std::vector<Scope> scopes_;
};

} // namespace cuprum::emulator::passes
