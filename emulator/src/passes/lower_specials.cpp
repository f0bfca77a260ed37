// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Special registers. Most are values of the launch, the block or the warp and cost nothing to read.
// Clocks are read by an instruction.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Special;
using bytecode::WARP_SIZE;
using bytecode::Width;

namespace {

struct NamedSpecial {
    std::string_view name;
    Special special;
};

constexpr std::array SPECIALS{
    NamedSpecial{"%tid.x", Special::TidX},
    NamedSpecial{"%tid.y", Special::TidY},
    NamedSpecial{"%tid.z", Special::TidZ},
    NamedSpecial{"%ntid.x", Special::NtidX},
    NamedSpecial{"%ntid.y", Special::NtidY},
    NamedSpecial{"%ntid.z", Special::NtidZ},
    NamedSpecial{"%ctaid.x", Special::CtaidX},
    NamedSpecial{"%ctaid.y", Special::CtaidY},
    NamedSpecial{"%ctaid.z", Special::CtaidZ},
    NamedSpecial{"%nctaid.x", Special::NctaidX},
    NamedSpecial{"%nctaid.y", Special::NctaidY},
    NamedSpecial{"%nctaid.z", Special::NctaidZ},
    NamedSpecial{"%warpid", Special::WarpId},
    NamedSpecial{"%nwarpid", Special::NWarpId},
    NamedSpecial{"%smid", Special::SmId},
    NamedSpecial{"%nsmid", Special::NSmId},
    NamedSpecial{"%gridid", Special::GridId},
    NamedSpecial{"%dynamic_smem_size", Special::DynamicSharedSize},
    NamedSpecial{"%total_smem_size", Special::TotalSharedSize},
    NamedSpecial{"%aggr_smem_size", Special::TotalSharedSize},
    NamedSpecial{"%clusterid.x", Special::ClusterIdX},
    NamedSpecial{"%clusterid.y", Special::ClusterIdY},
    NamedSpecial{"%clusterid.z", Special::ClusterIdZ},
    NamedSpecial{"%nclusterid.x", Special::NclusterIdX},
    NamedSpecial{"%nclusterid.y", Special::NclusterIdY},
    NamedSpecial{"%nclusterid.z", Special::NclusterIdZ},
    NamedSpecial{"%cluster_ctaid.x", Special::ClusterCtaidX},
    NamedSpecial{"%cluster_ctaid.y", Special::ClusterCtaidY},
    NamedSpecial{"%cluster_ctaid.z", Special::ClusterCtaidZ},
    NamedSpecial{"%cluster_nctaid.x", Special::ClusterNctaidX},
    NamedSpecial{"%cluster_nctaid.y", Special::ClusterNctaidY},
    NamedSpecial{"%cluster_nctaid.z", Special::ClusterNctaidZ},
    NamedSpecial{"%cluster_ctarank", Special::ClusterCtarank},
    NamedSpecial{"%cluster_nctarank", Special::ClusterNctarank},
    NamedSpecial{"%envreg1", Special::EnvReg1},
    NamedSpecial{"%envreg2", Special::EnvReg2},
};

/// Returns the value of a register in each lane if it depends only on the lane.
std::optional<std::array<std::uint32_t, WARP_SIZE>> lane_values(std::string_view name) {
    std::uint32_t (*value)(std::uint32_t lane) = nullptr;
    if (name == "%laneid") {
        value = [](std::uint32_t lane) { return lane; };
    } else if (name == "%lanemask_eq") {
        value = [](std::uint32_t lane) { return 1u << lane; };
    } else if (name == "%lanemask_lt") {
        value = [](std::uint32_t lane) { return (1u << lane) - 1; };
    } else if (name == "%lanemask_le") {
        value = [](std::uint32_t lane) { return (2u << lane) - 1; };
    } else if (name == "%lanemask_ge") {
        value = [](std::uint32_t lane) { return ~((1u << lane) - 1); };
    } else if (name == "%lanemask_gt") {
        value = [](std::uint32_t lane) { return ~((2u << lane) - 1); };
    } else {
        return std::nullopt;
    }
    std::array<std::uint32_t, WARP_SIZE> lanes{};
    for (std::uint32_t lane = 0; lane < WARP_SIZE; ++lane) {
        lanes[lane] = value(lane);
    }
    return lanes;
}

struct Clock {
    std::string_view name;
    FixedOp narrow;
    FixedOp wide;
    std::int64_t shift;
};

constexpr std::array CLOCKS{
    Clock{"%clock", FixedOp::ReadClock32, FixedOp::ReadClock64, 0},
    Clock{"%clock_hi", FixedOp::ReadClock32, FixedOp::ReadClock64, 32},
    Clock{"%clock64", FixedOp::ReadClock32, FixedOp::ReadClock64, 0},
    Clock{"%globaltimer", FixedOp::ReadTimer32, FixedOp::ReadTimer64, 0},
    Clock{"%globaltimer_lo", FixedOp::ReadTimer32, FixedOp::ReadTimer64, 0},
    Clock{"%globaltimer_hi", FixedOp::ReadTimer32, FixedOp::ReadTimer64, 32},
};

/// Returns whether a register reads as zero here: profiling counters, driver-private values.
bool reads_as_zero(std::string_view name) {
    return name.starts_with("%pm") || name.starts_with("%envreg") ||
           name == "%current_graph_exec" || name == "%is_explicit_cluster";
}

/// Returns the name of a vector component, such as `%tid.r`, with another letter.
std::string renamed_component(std::string_view name, char letter) {
    std::string other(name);
    other.back() = letter;
    return other;
}

/// Returns the index in "rgba" of a component's letter; npos if it is not one of them.
std::size_t colour_of(std::string_view name) {
    const bool is_component = name.size() > 2 && name[name.size() - 2] == '.';
    return is_component ? std::string_view("rgba").find(name.back()) : std::string_view::npos;
}

/// Returns whether a register is the fourth component of a vector. It reads as zero.
bool is_fourth_component(std::string_view name) {
    return name.ends_with(".w") &&
           std::any_of(SPECIALS.begin(), SPECIALS.end(), [&](const NamedSpecial& entry) {
               return entry.name == renamed_component(name, 'x');
           });
}

constexpr std::string_view RESERVED_SHARED_PREFIX = "%reserved_smem_offset_";
/// How much of a block's shared memory a device reserves, and the size of the first part.
constexpr std::uint32_t RESERVED_SHARED_BYTES = 1024;
constexpr std::uint32_t FIRST_RESERVED_BYTES = 512;

} // namespace

Operand FunctionLowering::special_register(std::string_view name, Width width) {
    for (const NamedSpecial& entry : SPECIALS) {
        if (entry.name == name) {
            return special_value(entry.special, width);
        }
    }
    if (const auto lanes = lane_values(name)) {
        if (width != Width::B32) {
            invalid("special register '" + std::string(name) + "' is 32 bits wide");
            return {};
        }
        return lane_constant(*lanes);
    }
    for (const Clock& clock : CLOCKS) {
        if (clock.name == name) {
            bytecode::Instruction read;
            read.form = width == Width::B64 ? clock.wide : clock.narrow;
            read.dst_count = 1;
            read.dst[0] = temporary(width == Width::B64 ? Width::B64 : Width::B32);
            read.immediate = clock.shift;
            const bool was_copy = is_copy_;
            is_copy_ = false;
            emit(read);
            is_copy_ = was_copy;
            return read.dst[0];
        }
    }
    if (name.starts_with(RESERVED_SHARED_PREFIX)) {
        return reserved_shared(name.substr(RESERVED_SHARED_PREFIX.size()), width);
    }
    if (const std::size_t colour = colour_of(name); colour != std::string_view::npos) {
        return special_register(renamed_component(name, "xyzw"[colour]), width);
    }
    return reads_as_zero(name) || is_fourth_component(name) ? constant(0, width) : Operand{};
}

/// Returns the offset in shared memory of a part of the system-reserved area.
Operand FunctionLowering::reserved_shared(std::string_view part, Width width) {
    bytecode::Kernel& kernel = build_.kernel;
    if (kernel.reserved_shared_bytes == 0) {
        kernel.reserved_shared_offset = place_hidden_shared(RESERVED_SHARED_BYTES);
        kernel.reserved_shared_bytes = RESERVED_SHARED_BYTES;
    }
    const std::uint64_t begin = kernel.reserved_shared_offset;
    if (part == "begin" || part == "0") {
        return constant(begin, width);
    }
    if (part == "1") {
        return constant(begin + FIRST_RESERVED_BYTES, width);
    }
    if (part == "end") {
        return constant(begin + RESERVED_SHARED_BYTES, width);
    }
    return part == "cap" ? constant(RESERVED_SHARED_BYTES, width) : Operand{};
}

Operand FunctionLowering::special(Special special) {
    return special_value(special, special == Special::GridId ? Width::B64 : Width::B32);
}

Operand FunctionLowering::special_value(Special special, Width width) {
    if (special == Special::EnvReg1 || special == Special::EnvReg2) {
        build_.kernel.uses_grid_sync = true;
    }
    if (width != Width::B32 && width != Width::B64) {
        invalid("a special register is 32 or 64 bits wide");
        return {};
    }
    if (special < Special::TidX) {
        return banks_.special(special, width);
    }
    if (width != Width::B32) {
        invalid("a thread or warp index is 32 bits wide");
        return {};
    }
    return warp_special(special, width);
}

/// Returns the register of a per-warp value. Creates it at its first use.
Operand FunctionLowering::warp_special(Special special, Width width) {
    const auto [entry, is_new] = warp_specials_.try_emplace(special);
    if (is_new) {
        entry->second = temporary(width);
        build_.registers.back().is_warp_special = true;
        // Until slots are assigned, the offset is a register number.
        build_.kernel.warp_specials.push_back(
            {.special = special, .offset = entry->second.offset(), .width = width});
    }
    return entry->second;
}

} // namespace cuprum::emulator::passes
