// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Variables of module scope: sizes, initial bytes, and addresses that are filled in later.

#include "passes/compile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cuprum::emulator::passes {

using ptx::Initializer;
using ptx::Type;

namespace {

constexpr std::uint64_t MAX_VARIABLE_BYTES = std::uint64_t{1} << 40;
constexpr std::uint64_t LOWEST_BYTE = 0xff;
constexpr std::uint8_t POINTER_BYTES = 8;

/// The writer of one variable's initial bytes.
class InitialBytes {
public:
    InitialBytes(const ptx::Variable& variable, GlobalVariable& out, ptx::Diagnostics& diagnostics)
        : variable_(variable), out_(out), diagnostics_(diagnostics),
          element_bytes_(ptx::size_of(variable.type)) {}

    /// Writes `initializer` at `offset`. A list fills `dimension` and those inside it.
    void write(const Initializer& initializer, std::uint64_t offset, std::size_t dimension);

private:
    void write_value(const Initializer& initializer, std::uint64_t offset);
    void write_symbol(const Initializer& initializer, std::uint64_t offset);
    [[nodiscard]] std::uint64_t stride_bytes(std::size_t dimension) const;

    const ptx::Variable& variable_;
    GlobalVariable& out_;
    ptx::Diagnostics& diagnostics_;
    std::uint64_t element_bytes_;
};

} // namespace

std::vector<GlobalVariable> global_variables(const ptx::Module& module,
                                             ptx::Diagnostics& diagnostics) {
    std::vector<GlobalVariable> result;
    for (const ptx::Variable& variable : module.variables) {
        if (variable.space != ptx::Space::Global && variable.space != ptx::Space::Constant) {
            continue;
        }
        GlobalVariable out;
        out.name = variable.name;
        out.space = variable.space;
        out.size_bytes = variable.size_bytes();
        out.alignment =
            static_cast<std::uint32_t>(std::max<std::size_t>(1, variable.effective_alignment()));
        out.is_managed = variable.is_managed;
        out.is_external = variable.linkage == ptx::Linkage::Extern;
        out.is_visible = variable.linkage != ptx::Linkage::Internal && !out.is_external;
        if (out.size_bytes > MAX_VARIABLE_BYTES) {
            diagnostics.report(ptx::Problem::Syntax, variable.location,
                               "variable '" + out.name + "' of " + std::to_string(out.size_bytes) +
                                   " bytes is too large");
            continue;
        }
        if (variable.initializer) {
            if (out.size_bytes == 0) {
                const std::size_t count = variable.initializer->items.size();
                out.size_bytes = count * ptx::size_of(variable.type) * variable.vector_width;
            }
            out.initial.resize(out.size_bytes);
            InitialBytes(variable, out, diagnostics).write(*variable.initializer, 0, 0);
        }
        result.push_back(std::move(out));
    }
    return result;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void InitialBytes::write(const Initializer& initializer, std::uint64_t offset,
                         std::size_t dimension) {
    if (initializer.kind != Initializer::Kind::List) {
        write_value(initializer, offset);
        return;
    }
    const std::uint64_t stride = stride_bytes(dimension);
    for (const Initializer& item : initializer.items) {
        // A flat list may fill an array with several dimensions.
        const bool is_nested = item.kind == Initializer::Kind::List;
        write(item, offset, dimension + 1);
        offset += is_nested ? stride : element_bytes_;
    }
}

std::uint64_t InitialBytes::stride_bytes(std::size_t dimension) const {
    std::uint64_t bytes = element_bytes_ * variable_.vector_width;
    for (std::size_t d = dimension + 1; d < variable_.dimensions.size(); ++d) {
        bytes *= variable_.dimensions[d];
    }
    return bytes;
}

void InitialBytes::write_value(const Initializer& initializer, std::uint64_t offset) {
    if (offset + element_bytes_ > out_.initial.size()) {
        diagnostics_.report(ptx::Problem::Syntax, initializer.location,
                            "variable '" + out_.name + "' has more initial values than elements");
        return;
    }
    std::uint64_t bits = initializer.bits;
    switch (initializer.kind) {
    case Initializer::Kind::Symbol:
        write_symbol(initializer, offset);
        return;
    case Initializer::Kind::Float32:
        if (variable_.type == Type::F64) {
            bits = std::bit_cast<std::uint64_t>(
                static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
        }
        break;
    case Initializer::Kind::Float64:
        if (variable_.type == Type::F32) {
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
        }
        break;
    case Initializer::Kind::Integer:
        if (variable_.type == Type::F32) {
            bits =
                std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(bits)));
        } else if (variable_.type == Type::F64) {
            bits =
                std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(bits)));
        }
        break;
    case Initializer::Kind::List:
        return;
    }
    std::memcpy(out_.initial.data() + offset, &bits,
                std::min<std::size_t>(element_bytes_, sizeof bits));
}

void InitialBytes::write_symbol(const Initializer& initializer, std::uint64_t offset) {
    std::uint64_t size = element_bytes_;
    if (initializer.mask != 0) {
        // A pointer in a byte array is given as eight bytes of one address, lowest first. The first
        // byte creates the relocation for all of them.
        if (initializer.mask != LOWEST_BYTE) {
            return;
        }
        size = POINTER_BYTES;
    }
    if (size < sizeof(std::uint32_t) || offset + size > out_.initial.size()) {
        diagnostics_.report(ptx::Problem::Syntax, initializer.location,
                            "the address of '" + std::string(initializer.symbol) +
                                "' does not fit in variable '" + out_.name + "'");
        return;
    }
    out_.relocations.push_back({.offset = static_cast<std::uint32_t>(offset),
                                .size_bytes = static_cast<std::uint8_t>(size),
                                .symbol = std::string(initializer.symbol),
                                .addend = static_cast<std::int64_t>(initializer.bits)});
}

} // namespace

} // namespace cuprum::emulator::passes
