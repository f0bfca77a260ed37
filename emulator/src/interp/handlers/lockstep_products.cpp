// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads with multiply-adds, alone and in chains, for all warps of a block or of a team of blocks:
// fused.cpp does the same for one warp.

#include "interp/handlers/lockstep_span.hpp"
#include "interp/handlers/products.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace whole {

namespace {

constexpr unsigned HALF_CHUNKS = CHUNKS<float> / 2; // of half a warp

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

/// Multiplies and adds what the warps load, and stores the results to memory. Returns false, and
/// does nothing, unless the lanes of all warps load and store adjacent words.
///
/// The loop touches no registers of the warps. All lanes of a warp load before one of them stores.
template <FusedRole ROLE>
[[gnu::always_inline]] inline bool store_row(const Lockstep& block, const Instruction* at,
                                             const Span& a, const Span& b, const std::byte* other,
                                             SL next_a, SL next_b) {
    constexpr unsigned word = sizeof(float);
    constexpr SL warp_bytes = SL{word} * WARP_SIZE;
    Span stored;
    if (!is_row<word>(block, a) || !is_row<word>(block, b) ||
        !find_span<Space::Global, word, true>(block, at + 3, stored) ||
        !is_row<word>(block, stored)) {
        return false;
    }
    Vector<float> values[CHUNKS<float>];
    for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
        values[chunk] = load<float>(other, chunk);
    }
    const auto fetch = [](const std::byte* from, SL step) __attribute__((always_inline)) {
        for (SL line = 0; step != 0 && line < warp_bytes; line += 64) {
            __builtin_prefetch(reinterpret_cast<const std::byte*>(reinterpret_cast<UL>(from) +
                                                                  static_cast<UL>(step + line)));
        }
    };
    const std::byte* from_a = a.first;
    const std::byte* from_b = b.first;
    std::byte* to = stored.first;
    for (U left = block.warp_count; left != 0; --left) {
        fetch(from_a, next_a);
        fetch(from_b, next_b);
        Vector<float> results[CHUNKS<float>];
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            results[chunk] = combine<ROLE>(load<float>(from_a, chunk), load<float>(from_b, chunk),
                                           values[chunk]);
        }
        store_canonical(to, results);
        from_a += warp_bytes;
        from_b += warp_bytes;
        to += warp_bytes;
    }
    return true;
}

/// Two loads and a multiply-add. IS_STORED: a store of the result follows, which is its only reader
/// and may run here too.
template <Space FIRST, Space SECOND, FusedRole ROLE, bool IS_STORED = false>
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
    const SL next_a = next_team(block, at, a);
    const SL next_b = next_team(block, at + 1, b);
    if constexpr (IS_STORED) {
        if (other_step == 0 && store_row<ROLE>(block, at, a, b, other, next_a, next_b)) {
            return at + 4;
        }
    }
    std::byte* to = block.frames + fma->dst[0].bits;
    const auto multiply_warp = [&]() __attribute__((always_inline)) {
        fetch_next(a, next_a);
        fetch_next(b, next_b);
        Vector<float> results[CHUNKS<float>];
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            const unsigned half = chunk / HALF_CHUNKS;
            const unsigned i = chunk % HALF_CHUNKS;
            results[chunk] = combine<ROLE>(fetch_lanes(a.part(half), a.is_uniform, i),
                                           fetch_lanes(b.part(half), b.is_uniform, i),
                                           load<float>(other, chunk));
        }
        store_canonical(to, results);
        other += other_step;
        to += block.warp_stride_bytes;
    };
    for_each_warp(block, multiply_warp, a, b);
    return at + 3;
}

/// Some products of a chain, found for the block, and the sum that they are added to.
struct Products {
    static constexpr unsigned MOST = 16;
    /// How many warps are added up together: eight sums hide how long a multiply-add takes.
    static constexpr unsigned WARPS = CHUNKS<float> >= 8 ? 1 : 8 / CHUNKS<float>;

    /// Where the warps of a block read one factor. Chains do not run in teams of blocks.
    struct Factor {
        const std::byte* first;
        SL stride;
        SL half;
    };

    // NOTE: not initialised. Clearing them took a fifteenth of a matrix product.
    Factor a[MOST];
    Factor b[MOST];
    unsigned count = 0;
    bool is_a_uniform = false;
    bool is_b_uniform = false;
    const Instruction* first = nullptr; // the multiply-adds
    const Instruction* last = nullptr;

    /// Adds the products in COUNT warps from number `w` on. The sums stay in registers of the
    /// processor.
    template <bool IS_A_UNIFORM, bool IS_B_UNIFORM, unsigned COUNT>
    [[gnu::always_inline]] void add_warps(const Lockstep& block, U w) {
        const Operand start = first->src[2];
        const std::byte* const from = block.at(w, start);
        const std::size_t from_step = is_linear_operand(start) ? block.warp_stride_bytes : 0;
        Vector<float> sums[COUNT][CHUNKS<float>];
        for (unsigned warp = 0; warp < COUNT; ++warp) {
            for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                sums[warp][chunk] = load<float>(from + warp * from_step, chunk);
            }
        }
        for (unsigned each = 0; each < count; ++each) {
            const std::byte* x = a[each].first + SL{w} * a[each].stride;
            const std::byte* y = b[each].first + SL{w} * b[each].stride;
            for (auto& sum : sums) {
                for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                    const bool is_second = chunk >= HALF_CHUNKS;
                    const unsigned i = chunk % HALF_CHUNKS;
                    sum[chunk] = fused(
                        fetch_lanes(is_second ? x + a[each].half : x, IS_A_UNIFORM, i),
                        fetch_lanes(is_second ? y + b[each].half : y, IS_B_UNIFORM, i), sum[chunk]);
                }
                x += a[each].stride;
                y += b[each].stride;
            }
        }
        std::byte* to = block.frames + w * block.warp_stride_bytes + last->dst[0].bits;
        for (auto& sum : sums) {
            store_canonical(to, sum);
            to += block.warp_stride_bytes;
        }
    }

    /// Adds the products in each warp.
    template <bool IS_A_UNIFORM, bool IS_B_UNIFORM>
    [[gnu::always_inline]] void add_up(const Lockstep& block) {
        U w = 0;
        for (; w + WARPS <= block.warp_count; w += WARPS) {
            add_warps<IS_A_UNIFORM, IS_B_UNIFORM, WARPS>(block, w);
        }
        for (; w < block.warp_count; ++w) {
            add_warps<IS_A_UNIFORM, IS_B_UNIFORM, 1>(block, w);
        }
    }

    [[gnu::noinline]] void finish(const Lockstep& block) {
        if (count == 0) {
            return;
        }
        if (is_a_uniform) {
            is_b_uniform ? add_up<true, true>(block) : add_up<true, false>(block);
        } else {
            is_b_uniform ? add_up<false, true>(block) : add_up<false, false>(block);
        }
        count = 0;
    }

    /// Adds a product, which is the two loads from `at` on and the multiply-add behind them.
    [[gnu::always_inline]] void add(const Lockstep& block, const Instruction* at, const Span& x,
                                    const Span& y) {
        if (count == MOST || is_a_uniform != x.is_uniform || is_b_uniform != y.is_uniform) {
            finish(block);
        }
        if (count == 0) {
            is_a_uniform = x.is_uniform;
            is_b_uniform = y.is_uniform;
            first = at + 2;
        }
        last = at + 2;
        a[count] = {x.first, x.stride, x.half};
        b[count] = {y.first, y.stride, y.half};
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

/// Finds the spans of a chain's first or second loads. Loads with the same address register differ
/// in their offsets only, so they have the shape of the first one.
template <Space SPACE>
class ChainLoads {
public:
    [[gnu::always_inline]] bool find(const Lockstep& block, const Instruction* at, Span& span) {
        constexpr unsigned word = sizeof(float);
        if (at->src[0].bits == address_ && ((at->immediate ^ offset_) & (word - 1)) == 0) {
            reach_.low += static_cast<UL>(at->immediate) - static_cast<UL>(offset_);
        } else {
            address_ = at->src[0].bits;
            if (!find_shape<word>(block, at, span_, reach_)) [[unlikely]] {
                return false;
            }
        }
        offset_ = at->immediate;
        if (!resolve_span<SPACE, false>(block, reach_, span_)) [[unlikely]] {
            return false;
        }
        span = span_;
        return true;
    }

    /// Fetches what the next round of the loop will load from a span that find() has found.
    [[gnu::always_inline]] void fetch_ahead(Lockstep& block, const Instruction* at,
                                            const Span& span, bool is_first) {
        if constexpr (SPACE != Space::Shared) {
            // All loads of a chain step as its first one does.
            step_ = is_first ? unforeseen_step(block, at, span) : step_;
            // Loads of single words, and of adjacent words, mostly find their line fetched already.
            const UL line = reinterpret_cast<UL>(span.first) / LINE_BYTES;
            if (step_ != 0 && !span.is_uniform && line != line_) {
                fetch_next_round(block, span, step_);
                line_ = line;
            }
        }
    }

    /// Forgets the shape if it depends on this register, which changes.
    [[gnu::always_inline]] void forget(Operand changed) {
        address_ = changed.bits == address_ ? NONE : address_;
    }

private:
    static constexpr U NONE = 0; // no linear register is at 0
    static constexpr UL LINE_BYTES = 64;

    U address_ = NONE;
    SL offset_ = 0;
    SL step_ = 0; // of the loop; 0 if nothing is fetched ahead
    UL line_ = 0; // that was the last to be fetched ahead
    Span span_;
    Reach reach_;
};

/// Runs a chain of products (bytecode::Variant::FusedChain): finds the memory of the products and
/// runs the additions for the block, and adds up in each warp.
template <Space FIRST, Space SECOND>
const Instruction* run_chain_block(Lockstep& block, const Instruction* at) {
    using bytecode::Variant;
    Products products;
    ChainLoads<FIRST> first_loads;
    ChainLoads<SECOND> second_loads;
    const Instruction* next = at;
    for (bool is_last = false; !is_last;) {
        Span a;
        Span b;
        if (!first_loads.find(block, next, a) || !second_loads.find(block, next + 1, b))
            [[unlikely]] {
            products.finish(block);
            return next != at ? next : run_sequence(block, at, end_of_chain(at));
        }
        first_loads.fetch_ahead(block, next, a, next == at);
        second_loads.fetch_ahead(block, next + 1, b, next == at);
        products.add(block, next, a, b);
        is_last = next->form.variant != Variant::FusedChain;
        next += 3;
        while (next->form.variant == Variant::LinkedAdd) {
            if (compute<Ops::Add, UL, UL, UL>(block, next) == nullptr) [[unlikely]] {
                products.finish(block);
                return next;
            }
            first_loads.forget(next->dst[0]);
            second_loads.forget(next->dst[0]);
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

template <Space FIRST, Space SECOND>
LockstepHandler select_role_of(const LoadLoadFmaForm& form) {
    if (form.is_chain) {
        return run_chain_block<FIRST, SECOND>;
    }
    if constexpr (FIRST == Space::Global && SECOND == Space::Global) {
        if (form.is_stored) {
            return form.role == FusedRole::Product
                       ? load_load_fma_block<FIRST, SECOND, FusedRole::Product, true>
                   : form.role == FusedRole::AddsSecond
                       ? load_load_fma_block<FIRST, SECOND, FusedRole::AddsSecond, true>
                       : load_load_fma_block<FIRST, SECOND, FusedRole::AddsFirst, true>;
        }
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

} // namespace

} // namespace whole

bytecode::LockstepHandler select_lockstep_products(const LoadLoadFmaForm& form) {
    using namespace whole;
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

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
