// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies, packing, selections, address-space tests and clocks.

#include "interp/control.hpp"
#include "interp/handlers/common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

struct Identity {
    template <typename T>
    static Vector<T> apply(Vector<T> a) {
        return a;
    }
};

/// A 16-byte lane, moved as a whole.
struct Wide {
    std::uint64_t low;
    std::uint64_t high;
};

const Instruction* copy_wide(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const from = lanes_of<std::uint64_t>(warp, at->src[0]);
    auto* const to = lanes_of<std::uint64_t>(warp, at->dst[0]);
    for_each_lane(mask, [&](unsigned lane) {
        const Wide value{from[2 * lane], from[2 * lane + 1]};
        to[2 * lane] = value.low;
        to[2 * lane + 1] = value.high;
    });
    return at + 1;
}

const Instruction* copy_predicate(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    write_predicate(warp, at->dst[0], predicate_of(warp, at->src[0]), mask);
    return at + 1;
}

/// Joins parts of PART bytes into values of WHOLE bytes, lowest part first.
template <unsigned PART, unsigned WHOLE>
const Instruction* pack(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr unsigned COUNT = WHOLE / PART;
    constexpr unsigned LANE = WHOLE <= 4 ? 4 : WHOLE;
    constexpr unsigned PART_LANE = PART <= 4 ? 4 : PART;
    alignas(VECTOR_BYTES) std::byte result[LANE * WARP_SIZE] = {};
    for (unsigned part = 0; part < COUNT; ++part) {
        const std::byte* const from = locate(warp, at->src[part]);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            __builtin_memcpy(result + lane * LANE + part * PART, from + lane * PART_LANE, PART);
        }
    }
    std::byte* const to = locate(warp, at->dst[0]);
    for_each_lane(mask, [&](unsigned lane) {
        __builtin_memcpy(to + lane * LANE, result + lane * LANE, LANE);
    });
    return at + 1;
}

template <unsigned PART, unsigned WHOLE>
const Instruction* unpack(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr unsigned COUNT = WHOLE / PART;
    constexpr unsigned LANE = WHOLE <= 4 ? 4 : WHOLE;
    constexpr unsigned PART_LANE = PART <= 4 ? 4 : PART;
    // A destination part may overlap the whole, so copy the whole first.
    alignas(VECTOR_BYTES) std::byte whole[LANE * WARP_SIZE];
    __builtin_memcpy(whole, locate(warp, at->src[0]), sizeof whole);
    for (unsigned part = 0; part < COUNT; ++part) {
        std::byte* const to = locate(warp, at->dst[part]);
        for_each_lane(mask, [&](unsigned lane) {
            std::byte value[PART_LANE] = {};
            __builtin_memcpy(value, whole + lane * LANE + part * PART, PART);
            __builtin_memcpy(to + lane * PART_LANE, value, PART_LANE);
        });
    }
    return at + 1;
}

template <typename T>
const Instruction* select(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::byte* const to = locate(warp, at->dst[0]);
    const std::byte* const a = locate(warp, at->src[0]);
    const std::byte* const b = locate(warp, at->src[1]);
    const std::uint32_t chosen =
        predicate_of(warp, at->src[2]) ^ (0u - static_cast<std::uint32_t>(at->tag & 1));
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        const Vector<T> value = expand<T>(chosen, chunk) ? load<T>(a, chunk) : load<T>(b, chunk);
        if (mask == FULL_MASK) [[likely]] {
            store<T>(to, chunk, value);
        } else {
            store_masked<T>(to, chunk, value, mask);
        }
    }
    return at + 1;
}

const Instruction* select_wide(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t chosen =
        predicate_of(warp, at->src[2]) ^ (0u - static_cast<std::uint32_t>(at->tag & 1));
    const auto* const a = lanes_of<std::uint64_t>(warp, at->src[0]);
    const auto* const b = lanes_of<std::uint64_t>(warp, at->src[1]);
    auto* const to = lanes_of<std::uint64_t>(warp, at->dst[0]);
    for_each_lane(mask, [&](unsigned lane) {
        const auto* const from = (chosen >> lane & 1) != 0 ? a : b;
        const Wide value{from[2 * lane], from[2 * lane + 1]};
        to[2 * lane] = value.low;
        to[2 * lane + 1] = value.high;
    });
    return at + 1;
}

template <typename T, bool FLOAT>
struct SelectBySign {
    static T apply(T a, T b, std::uint32_t c) {
        if constexpr (FLOAT) {
            // -0 and numbers not below 0 choose a, with and without .ftz. All others and NaN choose
            // b.
            const std::uint32_t magnitude = c & 0x7fffffffu;
            const bool is_negative = (c >> 31) != 0 && magnitude != 0;
            return magnitude > 0x7f800000u || is_negative ? b : a;
        } else {
            return static_cast<std::int32_t>(c) >= 0 ? a : b;
        }
    }
};

template <typename T>
struct SelectByFlushedSign {
    static T apply(T a, T b, std::uint32_t c) {
        return SelectBySign<T, true>::apply(a, b, (c & 0x7f800000u) == 0 ? 0 : c);
    }
};

template <typename T>
const Instruction* select_by_float(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return (at->tag & 1) != 0
               ? map_lanes<SelectByFlushedSign<T>, T, T, T, std::uint32_t>(warp, at, mask)
               : map_lanes<SelectBySign<T, true>, T, T, T, std::uint32_t>(warp, at, mask);
}

template <MoveOp OP>
const Instruction* is_space(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const MemoryMap& map = *warp.block->memory;
    const auto* const address = lanes_of<std::uint64_t>(warp, at->src[0]);
    const auto parameters = reinterpret_cast<std::uint64_t>(warp.block->parameters);
    std::uint32_t result = 0;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        const std::uint64_t value = address[lane];
        const bool is_shared = value - map.shared_base < map.shared_bytes;
        const bool is_local = value - map.local_base < map.local_bytes;
        const bool is_param = value - parameters < warp.block->parameter_bytes;
        bool holds = false;
        if constexpr (OP == MoveOp::IsShared) {
            holds = is_shared;
        } else if constexpr (OP == MoveOp::IsLocal) {
            holds = is_local;
        } else if constexpr (OP == MoveOp::IsParam) {
            holds = is_param;
        } else if constexpr (OP == MoveOp::IsGlobal) {
            holds = !is_shared && !is_local && !is_param;
        }
        result |= static_cast<std::uint32_t>(holds) << lane;
    }
    write_predicate(warp, at->dst[0], result, mask);
    return at + 1;
}

const Instruction* parameter_base(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const offset = lanes_of<std::uint64_t>(warp, at->src[0]);
    auto* const to = lanes_of<std::uint64_t>(warp, at->dst[0]);
    for_each_lane(mask, [&](unsigned lane) {
        to[lane] = offset[lane] + reinterpret_cast<std::uint64_t>(warp.block->parameters);
    });
    return at + 1;
}

template <typename T>
const Instruction* fill(WarpContext& warp, const Instruction* at, std::uint32_t mask, T value) {
    std::byte* const to = locate(warp, at->dst[0]);
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        store_masked<T>(to, chunk, broadcast<T>(value), mask);
    }
    return at + 1;
}

template <typename T>
const Instruction* read_clock(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill<T>(warp, at, mask, static_cast<T>(control::clock_count(warp)));
}

const Instruction* read_clock_high(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill<std::uint32_t>(warp, at, mask,
                               static_cast<std::uint32_t>(control::clock_count(warp) >> 32));
}

template <typename T>
const Instruction* read_timer(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill<T>(warp, at, mask, static_cast<T>(control::timer_count(warp)));
}

const Instruction* read_timer_high(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill<std::uint32_t>(warp, at, mask,
                               static_cast<std::uint32_t>(control::timer_count(warp) >> 32));
}

const Instruction* active_mask(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return fill<std::uint32_t>(warp, at, mask, mask);
}

const Instruction* nothing(WarpContext&, const Instruction* at, std::uint32_t) {
    return at + 1;
}

Handler select_pack(const MoveForm& form) {
    switch (form.bytes * 100 + form.part_bytes) {
    case 201:
        return pack<1, 2>;
    case 401:
        return pack<1, 4>;
    case 402:
        return pack<2, 4>;
    case 802:
        return pack<2, 8>;
    case 804:
        return pack<4, 8>;
    case 1604:
        return pack<4, 16>;
    case 1608:
        return pack<8, 16>;
    default:
        return nullptr;
    }
}

Handler select_unpack(const MoveForm& form) {
    switch (form.bytes * 100 + form.part_bytes) {
    case 201:
        return unpack<1, 2>;
    case 401:
        return unpack<1, 4>;
    case 402:
        return unpack<2, 4>;
    case 802:
        return unpack<2, 8>;
    case 804:
        return unpack<4, 8>;
    case 1604:
        return unpack<4, 16>;
    case 1608:
        return unpack<8, 16>;
    default:
        return nullptr;
    }
}

} // namespace

Handler select_move(const MoveForm& form) {
    const bool is_wide = form.width == Width::B64;
    switch (form.op) {
    case MoveOp::Copy:
        switch (form.width) {
        case Width::Predicate:
            return copy_predicate;
        case Width::B32:
            return map_vectors<Identity, std::uint32_t, 1>;
        case Width::B64:
            return map_vectors<Identity, std::uint64_t, 1>;
        case Width::B128:
            return copy_wide;
        }
        return nullptr;
    case MoveOp::Pack:
        return select_pack(form);
    case MoveOp::Unpack:
        return select_unpack(form);
    case MoveOp::Select:
        if (form.width == Width::B128) {
            return select_wide;
        }
        return is_wide ? select<std::uint64_t> : select<std::uint32_t>;
    case MoveOp::SelectBySign:
        return is_wide ? map_lanes<SelectBySign<std::uint64_t, false>, std::uint64_t, std::uint64_t,
                                   std::uint64_t, std::uint32_t>
                       : map_lanes<SelectBySign<std::uint32_t, false>, std::uint32_t, std::uint32_t,
                                   std::uint32_t, std::uint32_t>;
    case MoveOp::SelectByFloatSign:
        return is_wide ? select_by_float<std::uint64_t> : select_by_float<std::uint32_t>;
    case MoveOp::IsShared:
        return is_space<MoveOp::IsShared>;
    case MoveOp::IsLocal:
        return is_space<MoveOp::IsLocal>;
    case MoveOp::IsGlobal:
        return is_space<MoveOp::IsGlobal>;
    case MoveOp::IsConstant:
        return nullptr;
    case MoveOp::IsParam:
        return is_space<MoveOp::IsParam>;
    case MoveOp::ParameterBase:
        return parameter_base;
    case MoveOp::Clock:
        return is_wide ? read_clock<std::uint64_t> : read_clock<std::uint32_t>;
    case MoveOp::ClockHigh:
        return read_clock_high;
    case MoveOp::GlobalTimer:
        return is_wide ? read_timer<std::uint64_t> : read_timer<std::uint32_t>;
    case MoveOp::GlobalTimerHigh:
        return read_timer_high;
    case MoveOp::ActiveMask:
        return active_mask;
    case MoveOp::Nothing:
        return nothing;
    }
    return nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
