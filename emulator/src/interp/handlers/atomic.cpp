// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// atom and red: lane by lane, lowest lane first.
//
// A block runs on one worker at a time, so its own shared memory needs no atomic operations. All
// other memory does. Lanes that use the same word act on it together, with one atomic operation
// that has the effect of all of them in order. Reductions that nothing depends on are collected
// (interp/reductions.hpp).

#include "interp/handlers/access.hpp"
#include "interp/handlers/functions.hpp"
#include "interp/handlers/select.hpp"
#include "interp/reductions.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

constexpr std::uint16_t NARROW_ATOMIC_ADDRESS = 1;

/// The bits of a type, in memory and in a lane.
template <typename T>
struct Plain {
    using Memory = T;
    using Lane = T;

    static T decode(T bits) { return bits; }

    static T encode(T value) { return value; }
};

struct Float32 {
    using Memory = std::uint32_t;
    using Lane = std::uint32_t;

    static float decode(std::uint32_t bits) { return float_from(bits); }

    static std::uint32_t encode(float value) { return bits_from(canonical(value)); }
};

/// Single precision in global memory. Additions there flush subnormal numbers, unlike in shared
/// memory.
struct FlushedFloat32 {
    using Memory = std::uint32_t;
    using Lane = std::uint32_t;

    static float decode(std::uint32_t bits) { return flush(float_from(bits)); }

    static std::uint32_t encode(float value) { return bits_from(canonical(flush(value))); }
};

struct Float64 {
    using Memory = std::uint64_t;
    using Lane = std::uint64_t;

    static double decode(std::uint64_t bits) { return double_from(bits); }

    static std::uint64_t encode(double value) { return bits_from(value); }
};

/// One or two 16-bit numbers, as bits.
template <bool BFLOAT, bool PAIR>
struct Halves;

template <bool BFLOAT>
struct Halves<BFLOAT, false> {
    using Memory = std::uint16_t;
    using Lane = std::uint32_t;
    static constexpr bool is_bfloat = BFLOAT;
};

template <bool BFLOAT>
struct Halves<BFLOAT, true> {
    using Memory = std::uint32_t;
    using Lane = std::uint32_t;
    static constexpr bool is_bfloat = BFLOAT;
};

template <AtomicOp OP, typename T>
[[gnu::always_inline]] inline T combine_values(T old, T operand) {
    switch (OP) {
    case AtomicOp::Add:
        return static_cast<T>(old + operand);
    case AtomicOp::Min:
        return operand < old ? operand : old;
    case AtomicOp::Max:
        return operand > old ? operand : old;
    default:
        break;
    }
    if constexpr (!__is_same(T, float) && !__is_same(T, double)) {
        switch (OP) {
        case AtomicOp::Inc:
            return old >= operand ? T{0} : static_cast<T>(old + 1);
        case AtomicOp::Dec:
            return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
        case AtomicOp::And:
            return old & operand;
        case AtomicOp::Or:
            return old | operand;
        case AtomicOp::Xor:
            return old ^ operand;
        default:
            break;
        }
    }
    return operand;
}

/// Returns the new value in memory.
template <AtomicOp OP, typename F>
[[gnu::always_inline]] inline typename F::Memory updated(typename F::Memory old,
                                                         typename F::Memory operand) {
    if constexpr (OP == AtomicOp::Exchange) {
        return operand;
    } else if constexpr (requires { F::is_bfloat; }) {
        using H = HalfFormat<F::is_bfloat>;
        const auto one = [](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
            const float x = H::widen(a & 0xffffu);
            const float y = H::widen(b & 0xffffu);
            if constexpr (OP == AtomicOp::Add) {
                return H::narrow(x + y);
            } else {
                // A number takes precedence over a NaN.
                const bool takes_b = x != x || (OP == AtomicOp::Min ? y < x : y > x);
                return (takes_b ? b : a) & 0xffffu;
            }
        };
        if constexpr (sizeof(typename F::Memory) == 4) {
            return one(old, operand) | one(old >> 16, operand >> 16) << 16;
        } else {
            return static_cast<std::uint16_t>(one(old, operand));
        }
    } else {
        return F::encode(combine_values<OP>(F::decode(old), F::decode(operand)));
    }
}

template <AtomicOp OP, typename F>
[[gnu::always_inline]] inline typename F::Memory apply_locked(typename F::Memory* place,
                                                              typename F::Memory operand) {
    using T = typename F::Memory;
    if constexpr (OP == AtomicOp::Exchange) {
        return __atomic_exchange_n(place, operand, __ATOMIC_SEQ_CST);
    } else if constexpr (__is_same(F, Plain<T>) && OP == AtomicOp::Add) {
        return __atomic_fetch_add(place, operand, __ATOMIC_SEQ_CST);
    } else if constexpr (__is_same(F, Plain<T>) && OP == AtomicOp::And) {
        return __atomic_fetch_and(place, operand, __ATOMIC_SEQ_CST);
    } else if constexpr (__is_same(F, Plain<T>) && OP == AtomicOp::Or) {
        return __atomic_fetch_or(place, operand, __ATOMIC_SEQ_CST);
    } else if constexpr (__is_same(F, Plain<T>) && OP == AtomicOp::Xor) {
        return __atomic_fetch_xor(place, operand, __ATOMIC_SEQ_CST);
    } else {
        T old = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (true) {
            const T value = updated<OP, F>(old, operand);
            // Even without a write, this must be a point in the total order.
            if (value == old && (OP == AtomicOp::Min || OP == AtomicOp::Max)) {
                __atomic_thread_fence(__ATOMIC_SEQ_CST);
                return old;
            }
            if (__atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED)) {
                return old;
            }
        }
    }
}

/// Whether the operands of several lanes can be combined before memory is read, with exact results.
template <AtomicOp OP, typename F>
constexpr bool IS_FOLDABLE = __is_same(F, Plain<typename F::Memory>) &&
                             (OP == AtomicOp::Add || OP == AtomicOp::And || OP == AtomicOp::Or ||
                              OP == AtomicOp::Xor || OP == AtomicOp::Min || OP == AtomicOp::Max);

/// Executes the lanes of a mask, which all use one word. Writes their results if `results` is not
/// null.
template <AtomicOp OP, typename F, typename Operands>
[[gnu::noinline]] void apply_together(typename F::Memory* place, std::uint32_t mask,
                                      const Operands* operand, typename F::Lane* results) {
    using T = typename F::Memory;
    T old;
    if constexpr (IS_FOLDABLE<OP, F>) {
        auto total = static_cast<T>(operand[__builtin_ctz(mask)]);
        for_each_lane(mask & (mask - 1), [&](unsigned lane) {
            total = updated<OP, F>(total, static_cast<T>(operand[lane]));
        });
        old = apply_locked<OP, F>(place, total);
    } else {
        old = __atomic_load_n(place, __ATOMIC_RELAXED);
        T value;
        do {
            value = old;
            for_each_lane(mask, [&](unsigned lane) {
                value = updated<OP, F>(value, static_cast<T>(operand[lane]));
            });
        } while (!__atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST,
                                              __ATOMIC_RELAXED));
    }
    if (results != nullptr) {
        for_each_lane(mask, [&](unsigned lane) {
            results[lane] = static_cast<typename F::Lane>(old);
            old = updated<OP, F>(old, static_cast<T>(operand[lane]));
        });
    }
}

/// Executes the lanes of a mask. Lanes with the same address as the first lane act together, then
/// those with the address of the first of the rest, and so on while that finds pairs.
template <AtomicOp OP, typename F, typename Operands>
[[gnu::always_inline]] inline void apply_lanes(const Addresses& host, std::uint32_t mask,
                                               const Operands* operand, typename F::Lane* results) {
    using T = typename F::Memory;
    while ((mask & (mask - 1)) != 0) {
        const std::uint64_t first = host[static_cast<unsigned>(__builtin_ctz(mask))];
        const std::uint32_t same = lanes_in_sequence(host, first, 0) & mask;
        if ((same & (same - 1)) == 0) {
            break;
        }
        apply_together<OP, F>(reinterpret_cast<T*>(first), same, operand, results);
        mask &= ~same;
    }
    for_each_lane(mask, [&](unsigned lane) {
        const T old =
            apply_locked<OP, F>(reinterpret_cast<T*>(host[lane]), static_cast<T>(operand[lane]));
        if (results != nullptr) {
            results[lane] = static_cast<typename F::Lane>(old);
        }
    });
}

/// Executes the lanes of a mask on shared memory, which only this worker uses.
template <AtomicOp OP, typename F, typename Operands>
[[gnu::always_inline]] inline void apply_in_shared(const Addresses& host, std::uint32_t mask,
                                                   const Operands* operand,
                                                   typename F::Lane* results) {
    using T = typename F::Memory;
    const auto one = [&](unsigned lane) __attribute__((always_inline)) {
        auto* const place = reinterpret_cast<T*>(host[lane]);
        const T old = *place;
        *place = updated<OP, F>(old, static_cast<T>(operand[lane]));
        return static_cast<typename F::Lane>(old);
    };
    if (results != nullptr) {
        for_each_lane(mask, [&](unsigned lane) { results[lane] = one(lane); });
    } else if (mask == FULL_MASK) {
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            (void)one(lane);
        }
    } else {
        for_each_lane(mask, [&](unsigned lane) { (void)one(lane); });
    }
}

template <AtomicOp OP, typename F>
void apply_pending(PendingReductions& pending) {
    using T = typename F::Memory;
    constexpr unsigned words = PendingReductions::SIZE / PendingReductions::WORD_BITS;
    for (unsigned word = 0; word < words; ++word) {
        // In the order of addresses, so that each cache line is needed once.
        for (std::uint64_t left = pending.used[word]; left != 0; left &= left - 1) {
            const unsigned entry =
                word * PendingReductions::WORD_BITS + static_cast<unsigned>(__builtin_ctzll(left));
            (void)apply_locked<OP, F>(reinterpret_cast<T*>(pending.places[entry]),
                                      static_cast<T>(pending.values[entry]));
            pending.places[entry] = nullptr;
        }
        pending.used[word] = 0;
    }
    pending.apply = nullptr;
}

/// Gives an entry of the table to another word. Returns how many words it has pushed out.
template <AtomicOp OP, typename F>
[[gnu::noinline]] std::int32_t take_entry(PendingReductions& pending, unsigned entry,
                                          std::byte* place, typename F::Memory value) {
    using T = typename F::Memory;
    std::int32_t pushed_out = 0;
    if (pending.places[entry] != nullptr) {
        (void)apply_locked<OP, F>(reinterpret_cast<T*>(pending.places[entry]),
                                  static_cast<T>(pending.values[entry]));
        pushed_out = 1;
    }
    const auto begin = reinterpret_cast<std::uint64_t>(place);
    pending.begin = begin < pending.begin ? begin : pending.begin;
    pending.end = begin >= pending.end ? begin + sizeof(T) : pending.end;
    pending.places[entry] = place;
    pending.values[entry] = static_cast<std::uint64_t>(value);
    pending.used[entry / PendingReductions::WORD_BITS] |= std::uint64_t{1}
                                                          << entry % PendingReductions::WORD_BITS;
    return pushed_out;
}

/// Collects reductions.
template <AtomicOp OP, typename F, typename Operands>
void collect(PendingReductions& pending, const Addresses& host, std::uint32_t mask,
             const Operands* operand) {
    using T = typename F::Memory;
    if (pending.apply != apply_pending<OP, F>) {
        if (pending.apply != nullptr) {
            pending.apply(pending);
        }
        pending.apply = apply_pending<OP, F>;
        pending.begin = ~std::uint64_t{0};
        pending.end = 0;
    }
    std::int32_t patience = pending.patience;
    for_each_lane(mask, [&](unsigned lane) {
        auto* const place = reinterpret_cast<std::byte*>(host[lane]);
        const auto value = static_cast<T>(operand[lane]);
        const auto entry = static_cast<unsigned>(host[lane] / sizeof(T) % PendingReductions::SIZE);
        if (pending.places[entry] == place) [[likely]] {
            pending.values[entry] = static_cast<std::uint64_t>(
                updated<OP, F>(static_cast<T>(pending.values[entry]), value));
            ++patience;
            return;
        }
        patience -= take_entry<OP, F>(pending, entry, place, value);
    });
    pending.patience =
        patience < PendingReductions::PATIENCE ? patience : PendingReductions::PATIENCE;
    if (patience <= 0) {
        // From now on reductions take effect at once, and those before them must not come later.
        pending.apply(pending);
    }
}

/// Half a vector of words: one for each lane of a vector of addresses.
typedef std::uint32_t HalfWords __attribute__((vector_size(VECTOR_BYTES / 2), may_alias));

/// Updates a word of shared memory for each lane of a full warp, without results. Returns false,
/// and changes nothing, if an address needs a closer look.
template <AtomicOp OP, typename F>
[[gnu::always_inline]] inline bool update_shared(const WarpContext& warp, const Instruction* at) {
    using T = typename F::Memory;
    using UL = std::uint64_t;
    const BlockContext& block = *warp.block;
    if (block.shared_bytes < sizeof(T)) {
        return false;
    }
    const Vector<UL> last = broadcast<UL>(block.shared_bytes - sizeof(T));
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ATOMIC_ADDRESS) != 0);
    // NOTE: stored in halves. After a store of 64 bytes, words of its upper half reach loads late.
    alignas(VECTOR_BYTES) HalfWords offsets[CHUNKS<UL>];
    Vector<UL> problems{};
    for (unsigned chunk = 0; chunk < CHUNKS<UL>; ++chunk) {
        const Vector<UL> value = addresses.chunks[chunk];
        problems |= value & (sizeof(T) - 1);
        problems |= reinterpret_cast<Vector<UL>>(value > last);
        offsets[chunk] = __builtin_convertvector(value, HalfWords);
    }
    if (!is_zero(problems)) [[unlikely]] {
        return false;
    }
    std::byte* const shared = block.shared; // a copy: the updates could alias the member
    const auto update = [&](UL offset, T operand) __attribute__((always_inline)) {
        auto* const place = reinterpret_cast<typename Aliased<T>::Value*>(shared + offset);
        *place = updated<OP, F>(*place, operand);
    };
    const auto* const operand = lanes_of<T>(warp, at->src[1]);
    const auto* const pairs = reinterpret_cast<const Aliased<UL>::Value*>(offsets);
    if (at->src[1].bits >> Operand::OFFSET_BITS != 0) { // the same for all lanes
        const T value = operand[0];
        for (unsigned pair = 0; pair < WARP_SIZE / 2; ++pair) {
            const UL both = pairs[pair];
            update(both & 0xffffffff, value);
            update(both >> 32, value);
        }
    } else {
        for (unsigned pair = 0; pair < WARP_SIZE / 2; ++pair) {
            const UL both = pairs[pair];
            update(both & 0xffffffff, operand[2 * pair]);
            update(both >> 32, operand[2 * pair + 1]);
        }
    }
    return true;
}

template <AtomicOp OP, typename F, Space SPACE>
const Instruction* atomic(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using T = typename F::Memory;
    using Lane = typename F::Lane;
    if constexpr (SPACE == Space::Shared && IS_FOLDABLE<OP, F> && sizeof(T) == 4) {
        if (mask == FULL_MASK && at->dst_count == 0 && update_shared<OP, F>(warp, at)) {
            return at + 1;
        }
    }
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ATOMIC_ADDRESS) != 0);
    Addresses host;
    auto* const places = reinterpret_cast<std::byte**>(host.chunks);
    if (!resolve_together<true>(warp, mask, SPACE, addresses, sizeof(T), places) &&
        !resolve_lanes(warp, at, mask, SPACE, addresses, sizeof(T), true, true, places)) {
        return nullptr;
    }
    const auto* const operand = lanes_of<Lane>(warp, at->src[1]);
    alignas(VECTOR_BYTES) Lane results[WARP_SIZE];
    Lane* const wanted = at->dst_count != 0 ? results : nullptr;
    if constexpr (OP == AtomicOp::CompareExchange) {
        const auto* const other = lanes_of<Lane>(warp, at->src[2]);
        for_each_lane(mask, [&](unsigned lane) {
            auto old = static_cast<T>(operand[lane]);
            __atomic_compare_exchange_n(reinterpret_cast<T*>(host[lane]), &old,
                                        static_cast<T>(other[lane]), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST);
            results[lane] = static_cast<Lane>(old);
        });
    } else if constexpr (SPACE == Space::Shared) {
        apply_in_shared<OP, F>(host, mask, operand, wanted);
    } else if constexpr (__is_same(F, Float32)) {
        std::uint32_t in_shared = 0;
        if constexpr (SPACE == Space::None) {
            for_each_lane(mask, [&](unsigned lane) {
                const std::uint64_t distance =
                    host[lane] - reinterpret_cast<std::uint64_t>(warp.block->shared);
                in_shared |= static_cast<std::uint32_t>(distance < warp.block->shared_bytes)
                             << lane;
            });
            apply_lanes<OP, Float32>(host, in_shared, operand, wanted);
        }
        apply_lanes<OP, FlushedFloat32>(host, mask & ~in_shared, operand, wanted);
    } else {
        if constexpr (SPACE == Space::Global && IS_FOLDABLE<OP, F>) {
            PendingReductions* const pending = warp.block->reductions;
            if ((at->flags & bytecode::CAN_WAIT) != 0 && pending != nullptr &&
                pending->patience > 0) {
                collect<OP, F>(*pending, host, mask, operand);
                return at + 1;
            }
        }
        apply_lanes<OP, F>(host, mask, operand, wanted);
    }
    if (wanted != nullptr) {
        if (mask == FULL_MASK) {
            store_lanes<Lane>(locate(warp, at->dst[0]), results, mask);
        } else {
            auto* const to = lanes_of<Lane>(warp, at->dst[0]);
            for_each_lane(mask, [&](unsigned lane) { to[lane] = results[lane]; });
        }
    }
    return at + 1;
}

template <AtomicOp OP, typename F>
Handler select_space(const AtomicForm& form) {
    switch (form.space) {
    case Space::Global:
        return atomic<OP, F, Space::Global>;
    case Space::Shared:
        return atomic<OP, F, Space::Shared>;
    case Space::None:
        return atomic<OP, F, Space::None>;
    default:
        return nullptr;
    }
}

template <typename U, typename S>
Handler select_integer_op(const AtomicForm& form, bool is_signed, bool is_bits) {
    switch (form.op) {
    case AtomicOp::Add:
        return is_bits ? nullptr : select_space<AtomicOp::Add, Plain<U>>(form);
    case AtomicOp::Min:
        return is_bits     ? nullptr
               : is_signed ? select_space<AtomicOp::Min, Plain<S>>(form)
                           : select_space<AtomicOp::Min, Plain<U>>(form);
    case AtomicOp::Max:
        return is_bits     ? nullptr
               : is_signed ? select_space<AtomicOp::Max, Plain<S>>(form)
                           : select_space<AtomicOp::Max, Plain<U>>(form);
    case AtomicOp::Inc:
        return is_signed || is_bits ? nullptr : select_space<AtomicOp::Inc, Plain<U>>(form);
    case AtomicOp::Dec:
        return is_signed || is_bits ? nullptr : select_space<AtomicOp::Dec, Plain<U>>(form);
    case AtomicOp::And:
        return select_space<AtomicOp::And, Plain<U>>(form);
    case AtomicOp::Or:
        return select_space<AtomicOp::Or, Plain<U>>(form);
    case AtomicOp::Xor:
        return select_space<AtomicOp::Xor, Plain<U>>(form);
    case AtomicOp::Exchange:
        return select_space<AtomicOp::Exchange, Plain<U>>(form);
    case AtomicOp::CompareExchange:
        return select_space<AtomicOp::CompareExchange, Plain<U>>(form);
    }
    return nullptr;
}

template <bool BFLOAT, bool PAIR>
Handler select_halves(const AtomicForm& form) {
    switch (form.op) {
    case AtomicOp::Add:
        return select_space<AtomicOp::Add, Halves<BFLOAT, PAIR>>(form);
    case AtomicOp::Min:
        return select_space<AtomicOp::Min, Halves<BFLOAT, PAIR>>(form);
    case AtomicOp::Max:
        return select_space<AtomicOp::Max, Halves<BFLOAT, PAIR>>(form);
    default:
        return nullptr;
    }
}

/// A 16-bit word, which only cas and exch support.
struct Word16 {
    using Memory = std::uint16_t;
    using Lane = std::uint32_t;
};

#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
__extension__ typedef unsigned __int128 Unsigned128;

/// Performs exch and cas on 16 bytes.
template <AtomicOp OP, Space SPACE>
const Instruction* atomic128(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ATOMIC_ADDRESS) != 0);
    alignas(VECTOR_BYTES) std::byte* host[WARP_SIZE];
    if (!resolve_lanes(warp, at, mask, SPACE, addresses, 16, true, true, host)) {
        return nullptr;
    }
    const std::byte* const operand = locate(warp, at->src[1]);
    const std::byte* const other =
        OP == AtomicOp::CompareExchange ? locate(warp, at->src[2]) : operand;
    std::byte* const to = at->dst_count != 0 ? locate(warp, at->dst[0]) : nullptr;
    for_each_lane(mask, [&](unsigned lane) {
        auto* const place = reinterpret_cast<Unsigned128*>(host[lane]);
        Unsigned128 compare = 0;
        Unsigned128 value = 0;
        __builtin_memcpy(&compare, operand + lane * 16, 16);
        __builtin_memcpy(&value, other + lane * 16, 16);
        Unsigned128 old = 0;
        if constexpr (OP == AtomicOp::CompareExchange) {
            old = __sync_val_compare_and_swap(place, compare, value);
        } else {
            Unsigned128 seen = 0;
            do {
                seen = old;
                old = __sync_val_compare_and_swap(place, seen, value);
            } while (old != seen);
        }
        if (to != nullptr) {
            __builtin_memcpy(to + lane * 16, &old, 16);
        }
    });
    return at + 1;
}

template <AtomicOp OP>
Handler select_space128(const AtomicForm& form) {
    switch (form.space) {
    case Space::Global:
        return atomic128<OP, Space::Global>;
    case Space::Shared:
        return atomic128<OP, Space::Shared>;
    case Space::None:
        return atomic128<OP, Space::None>;
    default:
        return nullptr;
    }
}
#endif

Handler select128(const AtomicForm& form) {
#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
    switch (form.op) {
    case AtomicOp::Exchange:
        return select_space128<AtomicOp::Exchange>(form);
    case AtomicOp::CompareExchange:
        return select_space128<AtomicOp::CompareExchange>(form);
    default:
        return nullptr;
    }
#else
    (void)form;
    return nullptr;
#endif
}

} // namespace

Handler select_atomic(const AtomicForm& form) {
    using ptx::Type;
    switch (form.type) {
    case Type::B16:
        return form.op == AtomicOp::CompareExchange
                   ? select_space<AtomicOp::CompareExchange, Word16>(form)
               : form.op == AtomicOp::Exchange ? select_space<AtomicOp::Exchange, Word16>(form)
                                               : nullptr;
    case Type::B32:
    case Type::U32:
    case Type::S32:
        return select_integer_op<std::uint32_t, std::int32_t>(form, form.type == Type::S32,
                                                              form.type == Type::B32);
    case Type::B64:
    case Type::U64:
    case Type::S64:
        return select_integer_op<std::uint64_t, std::int64_t>(form, form.type == Type::S64,
                                                              form.type == Type::B64);
    case Type::B128:
        return select128(form);
    case Type::F32:
        return form.op == AtomicOp::Add ? select_space<AtomicOp::Add, Float32>(form) : nullptr;
    case Type::F64:
        return form.op == AtomicOp::Add ? select_space<AtomicOp::Add, Float64>(form) : nullptr;
    case Type::F16:
        return select_halves<false, false>(form);
    case Type::F16x2:
        return select_halves<false, true>(form);
    case Type::BF16:
        return select_halves<true, false>(form);
    case Type::BF16x2:
        return select_halves<true, true>(form);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
