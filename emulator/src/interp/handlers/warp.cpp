// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Operations between the lanes of a warp.
//
// The running lanes have met: `mask` holds all lanes of each member mask that have not exited,
// except those that a guard excludes. Lanes with different member masks may arrive together. Each
// set of lanes with the same member mask is a separate team.
//
// If a lane is not in its own mask, the result is undefined. The lane takes part like the others,
// as on a GPU (tried on an H200). CUPRUM_EMULATOR_CHECK=races reports it (check::membership).

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Calls `body(team)` once per set of lanes with the same member mask.
template <typename Body>
[[gnu::always_inline]] inline void for_each_team(const WarpContext& warp, Operand member_mask,
                                                 std::uint32_t mask, Body body) {
    const auto* const members = lanes_of<std::uint32_t>(warp, member_mask);
    std::uint32_t left = mask;
    while (left != 0) {
        const std::uint32_t named = members[__builtin_ctz(left)];
        std::uint32_t team = 0;
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            team |= static_cast<std::uint32_t>(members[lane] == named) << lane;
        }
        team &= left;
        left &= ~team;
        body(team);
    }
}

void write_word(const WarpContext& warp, Operand operand, std::uint32_t value, std::uint32_t mask) {
    std::byte* const to = locate(warp, operand);
    for (unsigned chunk = 0; chunk < CHUNKS<std::uint32_t>; ++chunk) {
        store_masked<std::uint32_t>(to, chunk, broadcast<std::uint32_t>(value), mask);
    }
}

template <WarpOp OP>
const Instruction* vote(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const std::uint32_t votes =
        predicate_of(warp, at->src[0]) ^ (0u - static_cast<std::uint32_t>(at->tag & 1));
    std::uint32_t holds = 0;
    // Read everything before writing: the ballot may overwrite the member mask.
    std::uint32_t ballots[WARP_SIZE];
    std::uint32_t teams[WARP_SIZE];
    unsigned count = 0;
    for_each_team(warp, at->src[1], mask, [&](std::uint32_t team) {
        const std::uint32_t yes = votes & team;
        bool result = false;
        if constexpr (OP == WarpOp::VoteAll) {
            result = yes == team;
        } else if constexpr (OP == WarpOp::VoteAny) {
            result = yes != 0;
        } else if constexpr (OP == WarpOp::VoteUni) {
            result = yes == team || yes == 0;
        }
        holds |= result ? team : 0;
        ballots[count] = yes;
        teams[count++] = team;
    });
    if constexpr (OP == WarpOp::VoteBallot) {
        for (unsigned i = 0; i < count; ++i) {
            write_word(warp, at->dst[0], ballots[i], teams[i]);
        }
    } else {
        write_predicate(warp, at->dst[0], holds, mask);
    }
    return at + 1;
}

template <WarpOp OP>
const Instruction* shuffle(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using S = std::int32_t;
    const auto* const b = lanes_of<S>(warp, at->src[1]);
    const auto* const c = lanes_of<S>(warp, at->src[2]);
    alignas(VECTOR_BYTES) S from[WARP_SIZE];
    alignas(VECTOR_BYTES) S in_range[WARP_SIZE];
    for (S lane = 0; lane < static_cast<S>(WARP_SIZE); ++lane) {
        const S value = b[lane] & 31;
        const S clamp = c[lane] & 31;
        const S segment = c[lane] >> 8 & 31;
        const S last = (lane & segment) | (clamp & ~segment);
        S source = 0;
        bool is_in_range = false;
        if constexpr (OP == WarpOp::ShuffleUp) {
            source = lane - value;
            is_in_range = source >= last;
        } else {
            if constexpr (OP == WarpOp::ShuffleDown) {
                source = lane + value;
            } else if constexpr (OP == WarpOp::ShuffleButterfly) {
                source = lane ^ value;
            } else {
                source = (lane & segment) | (value & ~segment);
            }
            is_in_range = source <= last;
        }
        from[lane] = (is_in_range ? source : lane) & 31;
        in_range[lane] = is_in_range ? -1 : 0;
    }
    alignas(VECTOR_BYTES) std::uint32_t result[WARP_SIZE];
#if defined(__AVX512F__)
    const std::byte* const a = locate(warp, at->src[0]);
    const auto low = reinterpret_cast<__m512i>(load<std::uint32_t>(a, 0));
    const auto high = reinterpret_cast<__m512i>(load<std::uint32_t>(a, 1));
    for (unsigned chunk = 0; chunk < 2; ++chunk) {
        const __m512i index = _mm512_load_si512(from + chunk * 16);
        _mm512_store_si512(result + chunk * 16, _mm512_permutex2var_epi32(low, index, high));
    }
#else
    const auto* const a = lanes_of<std::uint32_t>(warp, at->src[0]);
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        result[lane] = a[from[lane]];
    }
#endif
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), result, mask);
    if (at->dst_count == 2) {
        std::uint32_t bits = 0;
        const auto* const lanes = reinterpret_cast<const std::byte*>(in_range);
        for (unsigned chunk = 0; chunk < CHUNKS<S>; ++chunk) {
            bits |= sign_bits<S>(load<S>(lanes, chunk)) << (chunk * LANES<S>);
        }
        write_predicate(warp, at->dst[1], bits, mask);
    }
    return at + 1;
}

template <typename T, bool ALL>
const Instruction* match(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const value = lanes_of<T>(warp, at->src[0]);
    alignas(VECTOR_BYTES) std::uint32_t result[WARP_SIZE] = {};
    std::uint32_t holds = 0;
    for_each_team(warp, at->src[1], mask, [&](std::uint32_t team) {
        std::uint32_t left = team;
        while (left != 0) {
            const auto first = static_cast<unsigned>(__builtin_ctz(left));
            std::uint32_t equal = 0;
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                equal |= static_cast<std::uint32_t>(value[lane] == value[first]) << lane;
            }
            equal &= team; // contains `first`, so the loop ends
            left &= ~equal;
            const bool is_all = equal == team;
            holds |= is_all ? team : 0;
            for_each_lane(equal,
                          [&](unsigned lane) { result[lane] = ALL ? (is_all ? team : 0) : equal; });
        }
    });
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), result, mask);
    if (ALL && at->dst_count == 2) {
        write_predicate(warp, at->dst[1], holds, mask);
    }
    return at + 1;
}

template <WarpOp OP>
[[gnu::always_inline]] inline std::uint32_t reduce_pair(std::uint32_t a, std::uint32_t b) {
    const auto x = static_cast<std::int32_t>(a);
    const auto y = static_cast<std::int32_t>(b);
    switch (OP) {
    case WarpOp::ReduxAdd:
        return a + b;
    case WarpOp::ReduxMinUnsigned:
        return a < b ? a : b;
    case WarpOp::ReduxMaxUnsigned:
        return a > b ? a : b;
    case WarpOp::ReduxMinSigned:
        return x < y ? a : b;
    case WarpOp::ReduxMaxSigned:
        return x > y ? a : b;
    case WarpOp::ReduxAnd:
        return a & b;
    case WarpOp::ReduxOr:
        return a | b;
    default:
        return a ^ b;
    }
}

template <WarpOp OP>
const Instruction* redux(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto* const value = lanes_of<std::uint32_t>(warp, at->src[0]);
    alignas(VECTOR_BYTES) std::uint32_t results[WARP_SIZE] = {};
    for_each_team(warp, at->src[1], mask, [&](std::uint32_t team) {
        const auto first = static_cast<unsigned>(__builtin_ctz(team));
        std::uint32_t result = value[first];
        for_each_lane(team & (team - 1),
                      [&](unsigned lane) { result = reduce_pair<OP>(result, value[lane]); });
        for_each_lane(team, [&](unsigned lane) { results[lane] = result; });
    });
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), results, mask);
    return at + 1;
}

template <bool MAX>
const Instruction* redux_float(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const bool is_abs = (at->tag & 1) != 0;
    const bool keeps_nan = (at->tag & 2) != 0;
    const auto* const value = lanes_of<std::uint32_t>(warp, at->src[0]);
    alignas(VECTOR_BYTES) std::uint32_t results[WARP_SIZE] = {};
    for_each_team(warp, at->src[1], mask, [&](std::uint32_t team) {
        bool has_nan = false;
        bool has_number = false;
        std::int32_t best = 0;
        for_each_lane(team, [&](unsigned lane) {
            const std::uint32_t bits = is_abs ? value[lane] & 0x7fffffffu : value[lane];
            if ((bits & 0x7fffffffu) > 0x7f800000u) {
                has_nan = true;
                return;
            }
            // With folded signs, the bits have the order of the numbers, with -0 below +0.
            const auto folded =
                static_cast<std::int32_t>((bits >> 31) != 0 ? bits ^ 0x7fffffffu : bits);
            best = !has_number || (MAX ? folded > best : folded < best) ? folded : best;
            has_number = true;
        });
        auto result = static_cast<std::uint32_t>(best);
        result = (result >> 31) != 0 ? result ^ 0x7fffffffu : result;
        if (!has_number || (keeps_nan && has_nan)) {
            result = CANONICAL_NAN;
        }
        for_each_lane(team, [&](unsigned lane) { results[lane] = result; });
    });
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), results, mask);
    return at + 1;
}

const Instruction* elect(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    alignas(VECTOR_BYTES) std::uint32_t results[WARP_SIZE] = {};
    std::uint32_t elected = 0;
    for_each_team(warp, at->src[0], mask, [&](std::uint32_t team) {
        elected |= team & (0u - team);
        const auto leader = static_cast<std::uint32_t>(__builtin_ctz(team));
        for_each_lane(team, [&](unsigned lane) { results[lane] = leader; });
    });
    store_lanes<std::uint32_t>(locate(warp, at->dst[0]), results, mask);
    write_predicate(warp, at->dst[1], elected, mask);
    return at + 1;
}

const Instruction* fence(WarpContext&, const Instruction* at, std::uint32_t) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return at + 1;
}

} // namespace

Handler select_warp(const WarpForm& form) {
    const bool is_wide = form.width == Width::B64;
    switch (form.op) {
    case WarpOp::VoteAll:
        return vote<WarpOp::VoteAll>;
    case WarpOp::VoteAny:
        return vote<WarpOp::VoteAny>;
    case WarpOp::VoteUni:
        return vote<WarpOp::VoteUni>;
    case WarpOp::VoteBallot:
        return vote<WarpOp::VoteBallot>;
    case WarpOp::ShuffleUp:
        return shuffle<WarpOp::ShuffleUp>;
    case WarpOp::ShuffleDown:
        return shuffle<WarpOp::ShuffleDown>;
    case WarpOp::ShuffleButterfly:
        return shuffle<WarpOp::ShuffleButterfly>;
    case WarpOp::ShuffleIndex:
        return shuffle<WarpOp::ShuffleIndex>;
    case WarpOp::MatchAny:
        return is_wide ? match<std::uint64_t, false> : match<std::uint32_t, false>;
    case WarpOp::MatchAll:
        return is_wide ? match<std::uint64_t, true> : match<std::uint32_t, true>;
    case WarpOp::ReduxAdd:
        return redux<WarpOp::ReduxAdd>;
    case WarpOp::ReduxMinUnsigned:
        return redux<WarpOp::ReduxMinUnsigned>;
    case WarpOp::ReduxMaxUnsigned:
        return redux<WarpOp::ReduxMaxUnsigned>;
    case WarpOp::ReduxMinSigned:
        return redux<WarpOp::ReduxMinSigned>;
    case WarpOp::ReduxMaxSigned:
        return redux<WarpOp::ReduxMaxSigned>;
    case WarpOp::ReduxAnd:
        return redux<WarpOp::ReduxAnd>;
    case WarpOp::ReduxOr:
        return redux<WarpOp::ReduxOr>;
    case WarpOp::ReduxXor:
        return redux<WarpOp::ReduxXor>;
    case WarpOp::ReduxMinFloat:
        return redux_float<false>;
    case WarpOp::ReduxMaxFloat:
        return redux_float<true>;
    case WarpOp::Elect:
        return elect;
    case WarpOp::Fence:
        return fence;
    }
    return nullptr;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
