// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions on linear registers that run once for all warps of a block, or of a team of blocks
// (interp/lockstep.hpp).
//
// A head of the block has the step from warp to warp in place WARP_STEP, and the step from block to
// block in place BLOCK_STEP. So they take part in every addition and multiplication by themselves.
// A value is uniform only if these steps are zero too.

#include "interp/lockstep.hpp"

#include "bytecode/fused_forms.hpp"
#include "interp/handlers/float_common.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/linear_arithmetic.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

namespace {

using U = std::uint32_t;
using UL = std::uint64_t;
using SL = std::int64_t;
using bytecode::LockstepHandler;

constexpr unsigned ALL_STEPS = STEP_BITS | 1u << WARP_STEP | 1u << BLOCK_STEP;

/// Returns a head of single places. (Head's own constructor leaves out the last two with AVX2.)
[[gnu::always_inline]] constexpr inline Head places(UL base, UL steps, UL warp_step,
                                                    UL block_step) {
#if defined(__AVX512F__)
    return Head{base, steps, steps, steps, steps, steps, warp_step, block_step};
#else
    return Head{Head::Half{base, steps, steps, steps},
                Head::Half{steps, steps, warp_step, block_step}};
#endif
}

/// Returns whether a head is valid.
[[gnu::always_inline]] inline bool is_known(Head value) {
#if defined(__AVX512F__)
    const __mmask8 invalid = _mm512_cmpeq_epi64_mask(
        reinterpret_cast<__m512i>(value), _mm512_set1_epi64(static_cast<SL>(INVALID_HEAD)));
    return (invalid & 1u << BLOCK_STEP) == 0;
#else
    return value[BLOCK_STEP] != INVALID_HEAD;
#endif
}

/// Returns whether a head is valid that was loaded from `words`.
[[gnu::always_inline]] inline bool is_known(Head value,
                                            const Aliased<std::uint64_t>::Value* words) {
#if defined(__AVX512F__)
    (void)words; // see is_head_valid()
    return is_known(value);
#else
    (void)value;
    return words[BLOCK_STEP] != INVALID_HEAD;
#endif
}

/// Returns whether an operand differs between the blocks of a team, in bank Block.
[[gnu::always_inline]] inline bool is_of_blocks(const Lockstep& block, Operand operand) {
    return operand.bits >> Operand::OFFSET_BITS == static_cast<U>(bytecode::Bank::Block) &&
           block.block_count > 1;
}

/// Reads a source: a linear register or a value that all threads of a block share. Returns false if
/// the source is not linear.
template <typename T>
[[gnu::always_inline]] inline bool read(const Lockstep& block, Operand operand, Head& value) {
    if (is_linear_operand(operand)) {
        const auto* const head = head_of(block.whole, operand);
        value = load_head(head);
        return is_known(value, head);
    }
    const auto* const words = lanes_of<T>(block.whole, operand);
    value = Head{words[0]};
    if (is_of_blocks(block, operand)) {
        value += places(0, 0, 0, words[1]);
    }
    return true;
}

/// Writes a register of the block.
template <typename T>
[[gnu::always_inline]] inline void write_head(Lockstep& block, Operand operand, Head value) {
    if constexpr (sizeof(T) == 4) {
        constexpr UL all = 0xffffffff;
        value = value & places(all, all, all, all);
    }
    store_head(head_of(block.whole, operand), value);
    const U place = (operand.bits - HEAD_BYTES) / HEAD_BYTES;
    // This reads the vector's data pointer without calling its members.
    UL* const words = *reinterpret_cast<UL* const*>(&block.written);
    words[place / 64] |= UL{1} << place % 64;
}

/// Gives every warp its own head of a source, unless the source was never written.
template <typename T>
[[gnu::always_inline]] inline void hand_out(const Lockstep& block, Operand operand) {
    constexpr UL all = sizeof(T) == 4 ? 0xffffffff : ~UL{0};
    if (!is_linear_operand(operand)) {
        return;
    }
    const auto* const head = head_of(block.whole, operand);
    Head first = load_head(head);
    if (!is_known(first, head)) [[unlikely]] {
        return;
    }
    const Head warp_step{first[WARP_STEP]};
    const Head block_step{first[BLOCK_STEP]};
    std::byte* to = block.frames + operand.bits - HEAD_BYTES;
    for (U b = 0; b < block.block_count; ++b) {
        Head value = first;
        for (U w = 0; w < block.block_warps; ++w) {
            store_head(to, value & places(all, all, 0, 0));
            value += warp_step;
            to += block.warp_stride_bytes;
        }
        first += block_step;
    }
}

[[gnu::always_inline]] inline bool is_valid(const Lockstep& block, Operand operand) {
    const auto* const head = head_of(block.whole, operand);
    return is_known(load_head(head), head);
}

// ---- arithmetic --------------------------------------------------------------------------------

/// The threads of all warps of a block, or of a team of blocks.
struct WholeBlock {
    static constexpr unsigned STEPS = ALL_STEPS;

    [[gnu::always_inline]] static Head places(UL base, UL step) {
        constexpr UL most = 32; // warps, and blocks: so many steps reach as far as one of a lane
        return whole::places(base, step, step / most, step / most);
    }
};

using Ops = HeadArithmetic<WholeBlock>;

/// dst[0] of D = Op(src[0] of A, src[1] of B, src[2] of C), all linear.
template <typename Op, typename D, typename A, typename B = void, typename C = void>
const Instruction* compute(Lockstep& block, const Instruction* at) {
    Head a;
    Head b{};
    Head c{};
    bool is_linear = at->guard.is_none() && read<A>(block, at->src[0], a);
    if constexpr (!__is_same(B, void)) {
        is_linear = is_linear && read<B>(block, at->src[1], b);
    }
    if constexpr (!__is_same(C, void)) {
        is_linear = is_linear && read<C>(block, at->src[2], c);
    }
    Head result;
    if (!is_linear || !Op::apply(a, b, c, result)) [[unlikely]] {
        return block.leave();
    }
    if constexpr (sizeof(D) == 8) {
        if (!is_known(result)) [[unlikely]] {
            return block.leave();
        }
    }
    write_head<D>(block, at->dst[0], result);
    return at + 1;
}

template <typename T>
const Instruction* spread(Lockstep& block, const Instruction* at) {
    const Operand source = at->src[0];
    if (!is_linear_operand(source)) {
        return at + 1;
    }
    if (!is_valid(block, source)) [[unlikely]] {
        return block.leave();
    }
    hand_out<T>(block, source);
    for (U w = 0; w < block.warp_count; ++w) {
        spread_lanes<T>(block.frames + w * block.warp_stride_bytes + source.bits);
    }
    return at + 1;
}

// ---- comparisons -------------------------------------------------------------------------------

/// The results of a comparison in a block.
enum class Everywhere : std::uint8_t { Unknown, No, Yes };

template <Compare OP, typename T>
[[gnu::always_inline]] inline bool compare_numbers(T a, T b) {
    switch (OP) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    default:
        return a >= b;
    }
}

/// Compares two 32-bit values that differ between lanes or warps. One may still be less everywhere.
template <Compare OP, typename T>
[[gnu::always_inline]] inline Everywhere compare_ranges(const Lockstep& block, Head a, Head b) {
    constexpr bool is_signed = T(-1) < T(0);
    if (!Ops::widen<is_signed>(a, a) || !Ops::widen<is_signed>(b, b)) {
        return Everywhere::Unknown;
    }
    const Head difference = a - b;
    const auto all = static_cast<SL>(sum_of_steps(difference));
    // Steps are rarely negative.
    const auto below = has_negative_steps(difference)
                           ? static_cast<SL>(sum_of_steps(negative_part(difference)))
                           : SL{0};
    const SL by_warps = static_cast<SL>(difference[WARP_STEP]) * (SL{block.block_warps} - 1);
    const SL by_blocks = static_cast<SL>(difference[BLOCK_STEP]) * (SL{block.block_count} - 1);
    const auto base = static_cast<SL>(difference[0]);
    const SL least = base + below + (by_warps < 0 ? by_warps : 0) + (by_blocks < 0 ? by_blocks : 0);
    const SL most =
        base + all - below + (by_warps > 0 ? by_warps : 0) + (by_blocks > 0 ? by_blocks : 0);
    if (most < 0) {
        return compare_numbers<OP, int>(0, 1) ? Everywhere::Yes : Everywhere::No;
    }
    if (least > 0) {
        return compare_numbers<OP, int>(1, 0) ? Everywhere::Yes : Everywhere::No;
    }
    constexpr bool is_split_at_zero = OP == Compare::Lt || OP == Compare::Ge;
    if (is_split_at_zero && least >= 0) {
        return OP == Compare::Ge ? Everywhere::Yes : Everywhere::No;
    }
    return Everywhere::Unknown;
}

/// Compares in each warp.
template <typename T>
[[gnu::noinline]] const Instruction* compare_each(Lockstep& block, const Instruction* at) {
    hand_out<UnsignedLike<T>>(block, at->src[0]);
    hand_out<UnsignedLike<T>>(block, at->src[1]);
    return lockstep::run_in_each(block, at, at + 1);
}

template <Compare OP, typename T>
const Instruction* compare(Lockstep& block, const Instruction* at) {
    Head a;
    Head b;
    if (!at->guard.is_none() || !read<UnsignedLike<T>>(block, at->src[0], a) ||
        !read<UnsignedLike<T>>(block, at->src[1], b)) [[unlikely]] {
        return block.leave();
    }
    auto result = Everywhere::Unknown;
    if (Ops::is_same(a | b)) {
        const bool holds = compare_numbers<OP, T>(static_cast<T>(a[0]), static_cast<T>(b[0]));
        result = holds ? Everywhere::Yes : Everywhere::No;
    } else if constexpr (sizeof(T) == 4) {
        result = compare_ranges<OP, T>(block, a, b);
    }
    if (result == Everywhere::Unknown || at->tag != 0 || at->dst_count != 1) {
        return compare_each<T>(block, at);
    }
    std::byte* to = block.frames + at->dst[0].bits;
    for (U w = 0; w < block.warp_count; ++w) {
        *reinterpret_cast<Aliased<U>::Value*>(to) = result == Everywhere::Yes ? FULL_MASK : 0;
        to += block.warp_stride_bytes;
    }
    return at + 1;
}

// ---- memory ------------------------------------------------------------------------------------

/// Where the warps of a block access memory. The lanes of each half of a warp are adjacent, or all
/// at one address.
struct Span {
    std::byte* first = nullptr; // of the current warp
    SL stride = 0;              // from warp to warp
    SL block_jump = 0;          // from the end of a block to the next block
    SL half = 0;                // from the first half of a warp to the second
    bool is_uniform = false;    // each half is at one address

    /// Returns where a half of the current warp is.
    [[gnu::always_inline]] std::byte* part(unsigned number) const {
        return first + (number == 0 ? 0 : half);
    }
};

/// Calls `body()` for every warp, and moves the spans from warp to warp.
template <typename Body, typename... Spans>
[[gnu::always_inline]] inline void for_each_warp(const Lockstep& block, Body body,
                                                 Spans&... spans) {
    for (U b = 0; b < block.block_count; ++b) {
        for (U w = 0; w < block.block_warps; ++w) {
            body();
            ((spans.first += spans.stride), ...);
        }
        ((spans.first += spans.block_jump), ...);
    }
}

/// Returns the host address of a range of device or shared memory, as resolve_mapped() does. The
/// range may span several granules.
template <Space SPACE, bool IS_WRITE>
[[gnu::always_inline]] inline std::byte* resolve_block(const Lockstep& block, UL address,
                                                       unsigned bytes) {
    std::byte* const place = resolve_mapped<SPACE, IS_WRITE>(block.whole, address, bytes);
    if (place != nullptr || SPACE == Space::Shared) [[likely]] {
        return place;
    }
    const MemoryMap& map = *block.whole.block->memory;
    const UL begin = address - map.memory_base;
    const UL end = begin + bytes - 1;
    if (begin >= map.memory_bytes || end >= map.memory_bytes) {
        return nullptr;
    }
    const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
    std::uint8_t common = IS_WRITE ? WRITE_BIT : READ_BIT;
    for (UL granule = begin >> map.granule_shift; granule <= end >> map.granule_shift; ++granule) {
        common &= __atomic_load_n(granules + granule, __ATOMIC_RELAXED);
    }
    return common != 0 ? reinterpret_cast<std::byte*>(address) : nullptr;
}

/// Finds where all warps access memory, one element of BYTES per lane. Returns false if the lanes
/// of half a warp are neither adjacent nor at one address, or if the memory may not exist.
template <Space SPACE, unsigned BYTES, bool IS_WRITE>
[[gnu::always_inline]] inline bool find_span(const Lockstep& block, const Instruction* at,
                                             Span& span) {
    const auto* const head = head_of(block.whole, at->src[0]);
    const Head value = load_head(head);
    const bool is_narrow = (at->tag & NARROW_ADDRESS) != 0;
    const UL start = start_of(head, at);
    const auto number = [&](unsigned place) __attribute__((always_inline)) {
        return is_narrow ? static_cast<std::int32_t>(value[place]) : static_cast<SL>(value[place]);
    };
    span.stride = number(WARP_STEP);
    span.half = number(HALF_STEP);
    const SL block_step = number(BLOCK_STEP);
    span.is_uniform = (nonzero_places(value) & LOW_STEP_BITS) == 0;
    const UL all = start | static_cast<UL>(span.stride) | static_cast<UL>(span.half) |
                   static_cast<UL>(block_step);
    if (!is_known(value, head) || (all & (BYTES - 1)) != 0) [[unlikely]] {
        return false;
    }
    if (!span.is_uniform && (nonzero_places(value ^ sequence<BYTES>()) & LOW_STEP_BITS) != 0) {
        return false;
    }
    constexpr SL most = SL{1} << 20; // of a step; the range is then below 2^27 bytes
    if (span.stride > most || span.stride < -most || span.half > most || span.half < -most ||
        block_step > most || block_step < -most) [[unlikely]] {
        return false;
    }
    const SL reach = span.stride * (SL{block.block_warps} - 1);
    const SL block_reach = block_step * (SL{block.block_count} - 1);
    span.block_jump = block_step - span.stride * SL{block.block_warps};
    const SL below = (reach < 0 ? reach : 0) + (block_reach < 0 ? block_reach : 0) +
                     (span.half < 0 ? span.half : 0);
    const SL above = (reach > 0 ? reach : 0) + (block_reach > 0 ? block_reach : 0) +
                     (span.half > 0 ? span.half : 0);
    const UL low = start + static_cast<UL>(below);
    const UL bytes = static_cast<UL>(above - below) + BYTES * (span.is_uniform ? 1 : HALF);
    constexpr UL limit = UL{1} << 31; // narrow addresses must not wrap
    if (is_narrow && low + bytes > limit) [[unlikely]] {
        return false;
    }
    std::byte* const place =
        resolve_block<SPACE, IS_WRITE>(block, low, static_cast<unsigned>(bytes));
    if (place == nullptr) [[unlikely]] {
        return false;
    }
    span.first = place - below;
    return true;
}

/// Accesses memory in each warp.
[[gnu::noinline]] const Instruction* access_each(Lockstep& block, const Instruction* at) {
    if (!is_valid(block, at->src[0])) {
        return block.leave();
    }
    if ((at->tag & NARROW_ADDRESS) != 0) {
        hand_out<U>(block, at->src[0]);
    } else {
        hand_out<UL>(block, at->src[0]);
    }
    return lockstep::run_in_each(block, at, at + 1);
}

/// Fetches what the next round of a loop will load, if it goes in steps that the processor does not
/// foresee: blocks often step by the size of the grid. An address that does not exist is no harm.
[[gnu::always_inline]] inline void fetch_ahead(Lockstep& block, const Instruction* at,
                                               const Span& span, unsigned warp_bytes) {
    constexpr SL foreseen = 2048;
    constexpr SL most = 4096; // bytes of a block
    constexpr SL line = 64;
    auto* const starts = reinterpret_cast<UL*>(&block.starts);
    const auto start = reinterpret_cast<UL>(span.first);
    UL& last = starts[static_cast<UL>(at - block.whole.code) % 8];
    const auto step = static_cast<SL>(start - last);
    last = start;
    const SL bytes = span.stride * SL{block.warp_count};
    if (span.stride == SL{warp_bytes} && span.half * 2 == SL{warp_bytes} && bytes <= most &&
        (step > foreseen || step < -foreseen)) {
        for (SL offset = 0; offset < bytes; offset += line) {
            __builtin_prefetch(
                reinterpret_cast<const std::byte*>(start + static_cast<UL>(step + offset)));
        }
    }
}

/// Returns how much further the next team will load what this instruction loads now, judged by the
/// last team; 0 for a single block. The processor foresees it only up to the end of a page.
[[gnu::always_inline]] inline SL next_team(Lockstep& block, const Instruction* at,
                                           const Span& span) {
    if (block.block_count == 1) {
        return 0;
    }
    auto* const starts = reinterpret_cast<UL*>(&block.starts);
    const auto start = reinterpret_cast<UL>(span.first);
    UL& last = starts[static_cast<UL>(at - block.whole.code) % 8];
    const auto step = static_cast<SL>(start - last);
    last = start;
    return step;
}

/// Fetches what the next team will load where this one loads the current warp of a span.
[[gnu::always_inline]] inline void fetch_next(const Span& span, SL step) {
    if (step != 0) {
        for (unsigned half = 0; half < 2; ++half) {
            __builtin_prefetch(reinterpret_cast<const std::byte*>(
                reinterpret_cast<UL>(span.part(half)) + static_cast<UL>(step)));
        }
    }
}

template <Space SPACE, typename Element, typename Register>
const Instruction* load_block(Lockstep& block, const Instruction* at) {
    Span span;
    if (!at->guard.is_none()) [[unlikely]] {
        return block.leave();
    }
    if (!find_span<SPACE, sizeof(Element), false>(block, at, span)) [[unlikely]] {
        return access_each(block, at);
    }
    SL next = 0;
    if constexpr (SPACE != Space::Shared) {
        next = next_team(block, at, span);
        if (block.block_count == 1) {
            fetch_ahead(block, at, span, sizeof(Element) * WARP_SIZE);
        }
    }
    constexpr unsigned chunks = CHUNKS<Register> / 2; // of half a warp
    std::byte* to = block.frames + at->dst[0].bits;
    const auto load_warp = [&]() __attribute__((always_inline)) {
        fetch_next(span, next);
        for (unsigned half = 0; half < 2; ++half) {
            const std::byte* const from = span.part(half);
            if (span.is_uniform) {
                const Vector<Register> value = broadcast_element<Element, Register>(from);
                for (unsigned i = 0; i < chunks; ++i) {
                    store<Register>(to, half * chunks + i, value);
                }
            } else {
                for (unsigned i = 0; i < chunks; ++i) {
                    store<Register>(to, half * chunks + i,
                                    load_elements<Element, Register>(from, i));
                }
            }
        }
        to += block.warp_stride_bytes;
    };
    for_each_warp(block, load_warp, span);
    return at + 1;
}

template <Space SPACE, typename Element, typename Register>
const Instruction* store_block(Lockstep& block, const Instruction* at) {
    Span span;
    if (!at->guard.is_none()) [[unlikely]] {
        return block.leave();
    }
    if (!find_span<SPACE, sizeof(Element), true>(block, at, span) || span.is_uniform ||
        is_of_blocks(block, at->src[1])) [[unlikely]] {
        return access_each(block, at);
    }
    const std::byte* from = block.at(0, at->src[1]);
    const std::size_t step = is_linear_operand(at->src[1]) ? block.warp_stride_bytes : 0;
    constexpr unsigned chunks = CHUNKS<Register> / 2; // of half a warp
    const auto store_warp = [&]() __attribute__((always_inline)) {
        for (unsigned half = 0; half < 2; ++half) {
            for (unsigned i = 0; i < chunks; ++i) {
                store_elements<Element, Register>(span.part(half), i,
                                                  load<Register>(from, half * chunks + i));
            }
        }
        from += step;
    };
    for_each_warp(block, store_warp, span);
    return at + 1;
}

// ---- loads and multiply-adds -------------------------------------------------------------------

constexpr unsigned HALF_CHUNKS = CHUNKS<float> / 2; // of half a warp

[[gnu::always_inline]] inline Vector<float> fetch_lanes(const std::byte* from, bool is_uniform,
                                                        unsigned chunk) {
    return is_uniform ? broadcast<float>(*reinterpret_cast<const Aliased<float>::Value*>(from))
                      : load<float>(from, chunk);
}

/// The registers whose heads the warps have received for a sequence.
struct Received {
    static constexpr unsigned COUNT = 8;

    U operands[COUNT] = {};
    unsigned count = 0;

    /// Gives the warps a source, unless they have received it before.
    template <typename T>
    [[gnu::always_inline]] void add(const Lockstep& block, Operand operand) {
        for (unsigned i = 0; i < COUNT; ++i) {
            if (operands[i] == operand.bits) {
                return; // no linear register is at 0
            }
        }
        operands[count % COUNT] = operand.bits;
        ++count;
        hand_out<T>(block, operand);
    }
};

/// Runs the instructions of a fused sequence in each warp, and the additions of a chain also for
/// the block.
[[gnu::noinline]] const Instruction* run_sequence(Lockstep& block, const Instruction* at,
                                                  const Instruction* end) {
    using bytecode::Variant;
    Received received;
    for (const Instruction* each = at; each != end; ++each) {
        const Variant variant = each->form.variant;
        if (variant == Variant::LinkedAdd) {
            received.add<UL>(block, each->src[0]);
            received.add<UL>(block, each->src[1]);
        } else if (variant == Variant::LinkedAdd32) {
            received.add<U>(block, each->src[0]);
            received.add<U>(block, each->src[1]);
        } else if (variant != Variant::Plain) { // a load
            if ((each->tag & NARROW_ADDRESS) != 0) {
                received.add<U>(block, each->src[0]);
            } else {
                received.add<UL>(block, each->src[0]);
            }
        }
    }
    if (lockstep::run_in_each(block, at, end) == nullptr) [[unlikely]] {
        return nullptr;
    }
    for (const Instruction* each = at; each != end; ++each) {
        const Variant variant = each->form.variant;
        if (variant == Variant::LinkedAdd) {
            (void)compute<Ops::Add, UL, UL, UL>(block, each);
        } else if (variant == Variant::LinkedAdd32) {
            (void)compute<Ops::Add, U, U, U>(block, each);
        }
    }
    return end;
}

template <Space FIRST, Space SECOND, FusedRole ROLE>
const Instruction* load_load_fma_block(Lockstep& block, const Instruction* at) {
    Span a;
    Span b;
    if (!find_span<FIRST, 4, false>(block, at, a) || !find_span<SECOND, 4, false>(block, at + 1, b))
        [[unlikely]] {
        return is_valid(block, at->src[0]) && is_valid(block, at[1].src[0])
                   ? run_sequence(block, at, at + 3)
                   : block.leave();
    }
    const Instruction* const fma = at + 2;
    const Operand third = fma->src[ROLE == FusedRole::Product ? 2 : 1];
    if (is_of_blocks(block, third)) [[unlikely]] {
        return run_sequence(block, at, at + 3);
    }
    const std::byte* other = block.at(0, third);
    const std::size_t other_step = is_linear_operand(third) ? block.warp_stride_bytes : 0;
    std::byte* to = block.frames + fma->dst[0].bits;
    const SL next_a = next_team(block, at, a);
    const SL next_b = next_team(block, at + 1, b);
    const auto multiply_warp = [&]() __attribute__((always_inline)) {
        fetch_next(a, next_a);
        fetch_next(b, next_b);
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            const unsigned half = chunk / HALF_CHUNKS;
            const unsigned i = chunk % HALF_CHUNKS;
            const Vector<float> first = fetch_lanes(a.part(half), a.is_uniform, i);
            const Vector<float> second = fetch_lanes(b.part(half), b.is_uniform, i);
            const Vector<float> value = load<float>(other, chunk);
            store<float>(to, chunk,
                         canonical(ROLE == FusedRole::Product      ? fused(first, second, value)
                                   : ROLE == FusedRole::AddsSecond ? fused(first, value, second)
                                                                   : fused(second, value, first)));
        }
        other += other_step;
        to += block.warp_stride_bytes;
    };
    for_each_warp(block, multiply_warp, a, b);
    return at + 3;
}

/// Some products of a chain, found for the block, and the sum that they are added to.
struct Products {
    static constexpr unsigned MOST = 16;

    Span a[MOST];
    Span b[MOST];
    unsigned count = 0;
    const Instruction* first = nullptr; // the multiply-adds
    const Instruction* last = nullptr;

    /// Adds the products in each warp. The sum stays in registers of the processor.
    template <bool IS_A_UNIFORM, bool IS_B_UNIFORM>
    [[gnu::always_inline]] void add_up(const Lockstep& block) {
        const Operand start = first->src[2];
        const std::byte* from = block.at(0, start);
        const std::size_t from_step = is_linear_operand(start) ? block.warp_stride_bytes : 0;
        std::byte* to = block.frames + last->dst[0].bits;
        for (SL w = 0; w < SL{block.warp_count}; ++w) {
            Vector<float> sum[CHUNKS<float>];
            for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                sum[chunk] = load<float>(from, chunk);
            }
            for (unsigned each = 0; each < count; ++each) {
                const std::byte* const x = a[each].first + w * a[each].stride;
                const std::byte* const y = b[each].first + w * b[each].stride;
                for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                    const bool is_second = chunk >= HALF_CHUNKS;
                    const unsigned i = chunk % HALF_CHUNKS;
                    sum[chunk] = fused(
                        fetch_lanes(is_second ? x + a[each].half : x, IS_A_UNIFORM, i),
                        fetch_lanes(is_second ? y + b[each].half : y, IS_B_UNIFORM, i), sum[chunk]);
                }
            }
            for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                store<float>(to, chunk, canonical(sum[chunk]));
            }
            from += from_step;
            to += block.warp_stride_bytes;
        }
    }

    [[gnu::noinline]] void finish(const Lockstep& block) {
        if (count == 0) {
            return;
        }
        if (a[0].is_uniform) {
            b[0].is_uniform ? add_up<true, true>(block) : add_up<true, false>(block);
        } else {
            b[0].is_uniform ? add_up<false, true>(block) : add_up<false, false>(block);
        }
        count = 0;
    }

    /// Adds a product, which is the two loads from `at` on and the multiply-add behind them.
    [[gnu::always_inline]] void add(const Lockstep& block, const Instruction* at, const Span& x,
                                    const Span& y) {
        if (count == MOST ||
            (count != 0 && (a[0].is_uniform != x.is_uniform || b[0].is_uniform != y.is_uniform))) {
            finish(block);
        }
        first = count == 0 ? at + 2 : first;
        last = at + 2;
        a[count] = x;
        b[count] = y;
        ++count;
    }
};

/// Returns the end of a chain that begins at `at`: its products, and the additions behind them.
const Instruction* end_of_chain(const Instruction* at) {
    using bytecode::Variant;
    while (at->form.variant == Variant::FusedChain) {
        at += 3;
        while (at->form.variant == Variant::LinkedAdd) {
            ++at;
        }
    }
    at += 3; // the last product
    while (at->form.variant == Variant::LinkedAdd || at->form.variant == Variant::LinkedAdd32) {
        ++at;
    }
    return at;
}

/// Runs a chain of products (bytecode::Variant::FusedChain): finds the memory of the products and
/// runs the additions for the block, and adds up in each warp.
template <Space FIRST, Space SECOND>
const Instruction* run_chain_block(Lockstep& block, const Instruction* at) {
    using bytecode::Variant;
    Products products;
    const Instruction* next = at;
    for (bool is_last = false; !is_last;) {
        Span a;
        Span b;
        if (!find_span<FIRST, 4, false>(block, next, a) ||
            !find_span<SECOND, 4, false>(block, next + 1, b)) [[unlikely]] {
            products.finish(block);
            return next != at ? next : run_sequence(block, at, end_of_chain(at));
        }
        products.add(block, next, a, b);
        is_last = next->form.variant != Variant::FusedChain;
        next += 3;
        while (next->form.variant == Variant::LinkedAdd) {
            if (compute<Ops::Add, UL, UL, UL>(block, next) == nullptr) [[unlikely]] {
                products.finish(block);
                return next;
            }
            ++next;
        }
    }
    products.finish(block);
    while (next->form.variant == Variant::LinkedAdd32 || next->form.variant == Variant::LinkedAdd) {
        if ((next->form.variant == Variant::LinkedAdd
                 ? compute<Ops::Add, UL, UL, UL>(block, next)
                 : compute<Ops::Add, U, U, U>(block, next)) == nullptr) [[unlikely]] {
            return next;
        }
        ++next;
    }
    return next;
}

// ---- selection ---------------------------------------------------------------------------------

template <typename T>
LockstepHandler select_integer_of(IntegerOp op) {
    switch (op) {
    case IntegerOp::Add:
        return compute<Ops::Add, T, T, T>;
    case IntegerOp::Sub:
        return compute<Ops::Sub, T, T, T>;
    case IntegerOp::MulLo:
        return compute<Ops::Mul, T, T, T>;
    case IntegerOp::MadLo:
        return compute<Ops::Mad, T, T, T, T>;
    default:
        return nullptr;
    }
}

LockstepHandler select_integer(const IntegerForm& form) {
    const bool is_signed = form.type == ptx::Type::S32;
    if (form.is_saturating || form.is_packed) {
        return nullptr;
    }
    if (form.type == ptx::Type::U64 || form.type == ptx::Type::S64) {
        return select_integer_of<UL>(form.op);
    }
    if (form.type != ptx::Type::U32 && !is_signed) {
        return nullptr;
    }
    if (form.op == IntegerOp::MulWide) {
        return is_signed ? compute<Ops::MulWide<true>, UL, U, U>
                         : compute<Ops::MulWide<false>, UL, U, U>;
    }
    if (form.op == IntegerOp::MadWide) {
        return is_signed ? compute<Ops::MadWide<true>, UL, U, U, UL>
                         : compute<Ops::MadWide<false>, UL, U, U, UL>;
    }
    return select_integer_of<U>(form.op);
}

template <typename T>
LockstepHandler select_bits_of(BitsOp op) {
    using S = SignedLike<T>;
    switch (op) {
    case BitsOp::And:
        return compute<Ops::Uniform<Ops::And>, T, T, T>;
    case BitsOp::Or:
        return compute<Ops::Uniform<Ops::Or>, T, T, T>;
    case BitsOp::Xor:
        return compute<Ops::Uniform<Ops::Xor>, T, T, T>;
    case BitsOp::Shl:
        return compute<Ops::ShiftLeft<sizeof(T) * 8>, T, T, U>;
    case BitsOp::ShrUnsigned:
        return compute<Ops::Uniform<Ops::ShiftRight<T>>, T, T, U>;
    case BitsOp::ShrSigned:
        return compute<Ops::Uniform<Ops::ShiftRight<S>>, T, T, U>;
    default:
        return nullptr;
    }
}

LockstepHandler select_bits(const BitsForm& form) {
    return form.bits == 64   ? select_bits_of<UL>(form.op)
           : form.bits == 32 ? select_bits_of<U>(form.op)
                             : nullptr;
}

LockstepHandler select_move(const MoveForm& form) {
    if (form.op != MoveOp::Copy) {
        return nullptr;
    }
    return form.width == Width::B64   ? compute<Ops::Copy, UL, UL>
           : form.width == Width::B32 ? compute<Ops::Copy, U, U>
                                      : nullptr;
}

LockstepHandler select_convert(const ConvertForm& form) {
    const bool is_wide = form.to == Format::U64 || form.to == Format::S64;
    if (is_wide && form.from == Format::S32) {
        return compute<Ops::Widen<true>, UL, U>;
    }
    if (is_wide && form.from == Format::U32) {
        return compute<Ops::Widen<false>, UL, U>;
    }
    const bool is_narrow = form.to == Format::U32 || form.to == Format::S32;
    if (is_narrow && (form.from == Format::U64 || form.from == Format::S64)) {
        return compute<Ops::Copy, U, UL>;
    }
    return nullptr;
}

template <typename T>
LockstepHandler select_compare_of(Compare op) {
    switch (op) {
    case Compare::Eq:
        return compare<Compare::Eq, T>;
    case Compare::Ne:
        return compare<Compare::Ne, T>;
    case Compare::Lt:
        return compare<Compare::Lt, T>;
    case Compare::Le:
        return compare<Compare::Le, T>;
    case Compare::Gt:
        return compare<Compare::Gt, T>;
    case Compare::Ge:
        return compare<Compare::Ge, T>;
    default:
        return nullptr;
    }
}

LockstepHandler select_compare(const CompareForm& form) {
    if (form.result != CompareResult::Predicate) {
        return nullptr;
    }
    switch (form.type) {
    case ptx::Type::U32:
        return select_compare_of<U>(form.compare);
    case ptx::Type::S32:
        return select_compare_of<std::int32_t>(form.compare);
    case ptx::Type::U64:
        return select_compare_of<UL>(form.compare);
    case ptx::Type::S64:
        return select_compare_of<SL>(form.compare);
    default:
        return nullptr;
    }
}

template <typename Element, typename Register>
LockstepHandler select_access_of(const MemoryForm& form) {
    switch (form.space) {
    case Space::Global:
    case Space::Constant:
        return form.is_store ? store_block<Space::Global, Element, Register>
                             : load_block<Space::Global, Element, Register>;
    case Space::Shared:
        return form.is_store ? store_block<Space::Shared, Element, Register>
                             : load_block<Space::Shared, Element, Register>;
    case Space::None:
        return form.is_store ? store_block<Space::None, Element, Register>
                             : load_block<Space::None, Element, Register>;
    default:
        return nullptr;
    }
}

LockstepHandler select_memory(const MemoryForm& form) {
    if (form.count != 1) {
        return access_each;
    }
    if (form.register_width == Width::B64 && form.element_bytes == 8) {
        return select_access_of<UL, UL>(form);
    }
    if (form.register_width != Width::B32) {
        return access_each;
    }
    const bool is_signed = form.is_signed && !form.is_store;
    switch (form.element_bytes) {
    case 1:
        return is_signed ? select_access_of<std::int8_t, U>(form)
                         : select_access_of<std::uint8_t, U>(form);
    case 2:
        return is_signed ? select_access_of<std::int16_t, U>(form)
                         : select_access_of<std::uint16_t, U>(form);
    case 4:
        return select_access_of<U, U>(form);
    default:
        return access_each;
    }
}

template <Space FIRST, Space SECOND>
LockstepHandler select_role_of(const LoadLoadFmaForm& form) {
    if (form.is_chain) {
        return run_chain_block<FIRST, SECOND>;
    }
    switch (form.role) {
    case FusedRole::Product:
        return load_load_fma_block<FIRST, SECOND, FusedRole::Product>;
    case FusedRole::AddsSecond:
        return load_load_fma_block<FIRST, SECOND, FusedRole::AddsSecond>;
    default:
        return load_load_fma_block<FIRST, SECOND, FusedRole::AddsFirst>;
    }
}

LockstepHandler select_load_load_fma(const LoadLoadFmaForm& form) {
    if (form.first == Space::None && form.second == Space::None) {
        return select_role_of<Space::None, Space::None>(form);
    }
    if (form.first == Space::Global) {
        return form.second == Space::Global   ? select_role_of<Space::Global, Space::Global>(form)
               : form.second == Space::Shared ? select_role_of<Space::Global, Space::Shared>(form)
                                              : nullptr;
    }
    if (form.first == Space::Shared) {
        return form.second == Space::Global   ? select_role_of<Space::Shared, Space::Global>(form)
               : form.second == Space::Shared ? select_role_of<Space::Shared, Space::Shared>(form)
                                              : nullptr;
    }
    return nullptr;
}

LockstepHandler select_spread(Width width) {
    return width == Width::B64 ? spread<UL> : spread<U>;
}

} // namespace

} // namespace whole

const LockstepSelectors LOCKSTEP_SELECTORS = {
    .move = whole::select_move,
    .integer = whole::select_integer,
    .bits = whole::select_bits,
    .compare = whole::select_compare,
    .convert = whole::select_convert,
    .memory = whole::select_memory,
    .load_load_fma = whole::select_load_load_fma,
    .texture = select_lockstep_texture,
    .spread = whole::select_spread,
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
