// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Variables of module scope: sizes, initial bytes, and addresses that are filled in later.

#include "interp/image.hpp"
#include "passes/compile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <unordered_set>

namespace cuprum::emulator::passes {

using ptx::Initializer;
using ptx::Type;

namespace {

constexpr std::uint64_t LOWEST_BYTE = 0xff;
constexpr std::uint8_t POINTER_BYTES = 8;

/// The writer of one variable's initial bytes.
///
/// NOTE: the size of the variable is known to be within the device's memory, and every dimension is
/// at least 1. So the size of a row cannot overflow, and no offset exceeds the size.
class InitialBytes {
public:
    InitialBytes(const ptx::Variable& variable, GlobalVariable& out, ptx::Diagnostics& diagnostics)
        : variable_(variable), out_(out), diagnostics_(diagnostics),
          element_bytes_(ptx::size_of(variable.type)) {}

    /// Writes the initialiser of the whole variable.
    void write(const Initializer& initializer) {
        if (variable_.type == Type::SamplerRef) {
            write_sampler(initializer);
        } else {
            write(initializer, {0, out_.size_bytes}, 0);
        }
    }

private:
    /// The bytes that an initialiser may fill.
    struct Range {
        std::uint64_t begin = 0;
        std::uint64_t end = 0; // not below `begin`

        [[nodiscard]] bool has_room_for(std::uint64_t bytes) const noexcept {
            return bytes <= end - begin;
        }
    };

    void write(const Initializer& initializer, Range range, std::size_t dimension);
    void write_value(const Initializer& initializer, std::uint64_t offset);
    void write_symbol(const Initializer& initializer, std::uint64_t offset);
    void write_sampler(const Initializer& initializer);
    void write_setting(const Initializer& setting, Sampler& sampler);
    void reject_extra_value(const Initializer& initializer);
    [[nodiscard]] std::uint64_t stride_bytes(std::size_t dimension) const;

    const ptx::Variable& variable_;
    GlobalVariable& out_;
    ptx::Diagnostics& diagnostics_;
    std::uint64_t element_bytes_;
};

} // namespace

std::vector<GlobalVariable> global_variables(const ptx::Module& module, std::uint64_t memory_bytes,
                                             ptx::Diagnostics& diagnostics) {
    std::vector<GlobalVariable> result;
    std::uint64_t free_bytes = memory_bytes;
    std::unordered_set<std::string_view> defined;
    for (const ptx::Variable& variable : module.variables) {
        if (variable.space != ptx::Space::Global && variable.space != ptx::Space::Constant) {
            continue;
        }
        GlobalVariable out;
        out.name = variable.name;
        out.space = variable.space;
        out.type = variable.type;
        out.size_bytes = variable.size_bytes();
        out.alignment =
            static_cast<std::uint32_t>(std::max<std::size_t>(1, variable.effective_alignment()));
        out.is_managed = variable.is_managed;
        out.is_external = variable.linkage == ptx::Linkage::Extern;
        if (!out.is_external && !defined.insert(variable.name).second) {
            diagnostics.report(ptx::Problem::Syntax, variable.location,
                               "variable '" + out.name + "' is defined twice");
            continue;
        }
        out.is_visible = variable.linkage != ptx::Linkage::Internal && !out.is_external;
        // Checked before any initial byte is stored: the text alone decides how large a size it
        // states.
        if (out.size_bytes > free_bytes) {
            diagnostics.report(ptx::Problem::Memory, variable.location,
                               "variable '" + out.name + "' needs " +
                                   std::to_string(out.size_bytes) + " bytes, and " +
                                   std::to_string(free_bytes) + " of the device's " +
                                   std::to_string(memory_bytes) + " are left");
            continue;
        }
        free_bytes -= out.size_bytes;
        if (variable.initializer) {
            InitialBytes(variable, out, diagnostics).write(*variable.initializer);
        }
        result.push_back(std::move(out));
    }
    return result;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void InitialBytes::write(const Initializer& initializer, Range range, std::size_t dimension) {
    if (initializer.kind != Initializer::Kind::List) {
        if (!range.has_room_for(element_bytes_)) {
            reject_extra_value(initializer);
            return;
        }
        write_value(initializer, range.begin);
        return;
    }
    const std::uint64_t stride = stride_bytes(dimension);
    for (const Initializer& item : initializer.items) {
        // A flat list may fill an array with several dimensions.
        const bool is_nested = item.kind == Initializer::Kind::List;
        const std::uint64_t bytes = is_nested ? stride : element_bytes_;
        if (!range.has_room_for(bytes)) {
            reject_extra_value(item);
            return;
        }
        write(item, {range.begin, range.begin + bytes}, dimension + 1);
        range.begin += bytes;
    }
}

void InitialBytes::reject_extra_value(const Initializer& initializer) {
    diagnostics_.report(ptx::Problem::Syntax, initializer.location,
                        "variable '" + out_.name + "' has more initial values than elements");
}

std::uint64_t InitialBytes::stride_bytes(std::size_t dimension) const {
    std::uint64_t bytes = element_bytes_ * variable_.vector_width;
    for (std::size_t d = dimension + 1; d < variable_.dimensions.size(); ++d) {
        bytes *= variable_.dimensions[d];
    }
    return bytes;
}

void InitialBytes::write_value(const Initializer& initializer, std::uint64_t offset) {
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
    case Initializer::Kind::Setting:
        diagnostics_.report(ptx::Problem::Unsupported, initializer.location,
                            "settings of variable '" + out_.name +
                                "' are not supported: only those of .samplerref are; set those of "
                                "a texture with cuTexRefSet*");
        return;
    case Initializer::Kind::List:
        return;
    }
    if (out_.initial.size() < offset + element_bytes_) {
        out_.initial.resize(offset + element_bytes_);
    }
    std::memcpy(out_.initial.data() + offset, &bits,
                std::min<std::size_t>(element_bytes_, sizeof bits));
}

void InitialBytes::write_sampler(const Initializer& initializer) {
    Sampler sampler;
    sampler.is_normalized = true;
    for (const Initializer& setting : initializer.items) {
        write_setting(setting, sampler);
    }
    if (initializer.kind != Initializer::Kind::List || !variable_.dimensions.empty()) {
        diagnostics_.report(ptx::Problem::Unsupported, initializer.location,
                            "sampler '" + out_.name + "' must have a list of settings");
    }
    const std::uint64_t bits = packed_sampler(sampler);
    out_.initial.resize(sizeof bits);
    std::memcpy(out_.initial.data(), &bits, sizeof bits);
}

void InitialBytes::write_setting(const Initializer& setting, Sampler& sampler) {
    const std::string_view name = setting.symbol;
    const std::string_view value = setting.word;
    bool is_known = true;
    if (setting.kind != Initializer::Kind::Setting) {
        is_known = false;
    } else if (name == "filter_mode") {
        is_known = value == "nearest" || value == "linear";
        sampler.filter = value == "linear" ? ImageFilter::Linear : ImageFilter::Point;
    } else if (name == "force_unnormalized_coords" && value.empty()) {
        sampler.is_normalized = setting.bits == 0;
    } else if (name == "addr_mode_0" || name == "addr_mode_1" || name == "addr_mode_2") {
        AddressMode& mode = sampler.modes[static_cast<std::size_t>(name.back() - '0')];
        is_known = value == "wrap" || value == "mirror" || value == "clamp_ogl" ||
                   value == "clamp_to_edge" || value == "clamp_to_border";
        mode = value == "wrap"              ? AddressMode::Wrap
               : value == "mirror"          ? AddressMode::Mirror
               : value == "clamp_to_border" ? AddressMode::Border
                                            : AddressMode::Clamp;
        if (value == "clamp_ogl") {
            diagnostics_.report(ptx::Problem::Unsupported, setting.location,
                                "the address mode clamp_ogl of sampler '" + out_.name +
                                    "' is not supported: use clamp_to_edge");
        }
    } else {
        is_known = false;
    }
    if (!is_known) {
        diagnostics_.report(ptx::Problem::Syntax, setting.location,
                            "'" + std::string(name) + " = " + std::string(value) +
                                "' is not a setting of a sampler");
    }
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
    if (size < sizeof(std::uint32_t) || size > out_.size_bytes - offset) {
        diagnostics_.report(ptx::Problem::Syntax, initializer.location,
                            "the address of '" + std::string(initializer.symbol) +
                                "' does not fit in variable '" + out_.name + "'");
        return;
    }
    out_.relocations.push_back({.offset = offset,
                                .size_bytes = static_cast<std::uint8_t>(size),
                                .symbol = std::string(initializer.symbol),
                                .addend = static_cast<std::int64_t>(initializer.bits)});
}

} // namespace

} // namespace cuprum::emulator::passes
