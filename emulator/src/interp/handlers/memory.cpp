// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores.
//
// There are three ways, fastest first: adjacent lanes (one check, vector copies), all lanes at one
// address (one check, one read), and lane by lane. A lane's bytes are moved as a whole. So an
// aligned access is as atomic as the processor makes it, which is what .relaxed requires.

#include "interp/handlers/interleave.hpp"
#include "interp/handlers/quick_access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// A 16-byte lane.
struct alignas(8) Wide {
    std::uint64_t low;
    std::uint64_t high;
};

[[gnu::always_inline]] inline Operand component(const WarpContext& warp, const Instruction* at,
                                                bool is_store, unsigned index) {
    if (is_store) {
        return index < 3 ? at->src[1 + index] : further_operand(warp, at, index - 3);
    }
    return index < 4 ? at->dst[index] : further_operand(warp, at, index - 4);
}

constexpr std::size_t MAX_ACCESS_BYTES = 64; // of one lane, all components

/// Copies up to 16 bytes of one lane as a single access. Programs pass a value and the flag that
/// guards it in one vector access, and other threads must see both or neither.
[[gnu::always_inline]] inline void copy_whole(std::byte* to, const std::byte* from,
                                              std::size_t bytes) {
    typedef long long Pair __attribute__((vector_size(16), aligned(1), may_alias));
    typedef std::uint64_t Double __attribute__((aligned(1), may_alias));
    typedef std::uint32_t Single __attribute__((aligned(1), may_alias));
    if (bytes == 8) {
        *reinterpret_cast<Double*>(to) = *reinterpret_cast<const Double*>(from);
    } else if (bytes == 4) {
        *reinterpret_cast<Single*>(to) = *reinterpret_cast<const Single*>(from);
    } else if (bytes % 16 == 0) {
        for (std::size_t at = 0; at < bytes; at += 16) {
            *reinterpret_cast<Pair*>(to + at) = *reinterpret_cast<const Pair*>(from + at);
        }
    } else {
        __builtin_memcpy(to, from, bytes);
    }
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline Register read(const std::byte* from) {
    if constexpr (sizeof(Element) == 16) {
        Wide value;
        __builtin_memcpy(&value, from, sizeof value);
        return value;
    } else {
        const auto value = *reinterpret_cast<const typename Aliased<Element>::Value*>(from);
        // Convert through the signed type: a narrow signed element extends its sign.
        return static_cast<Register>(static_cast<SignedLike<Register>>(value));
    }
}

template <typename Register>
[[gnu::always_inline]] inline void write_lanes(std::byte* to, const Register* values,
                                               std::uint32_t mask) {
    if constexpr (sizeof(Register) == 16) {
        for_each_lane(mask,
                      [&](unsigned lane) { __builtin_memcpy(to + lane * 16, values + lane, 16); });
    } else {
        store_lanes<Register>(to, values, mask);
    }
}

/// Loads all components of each lane from the address `place(lane)`.
template <typename Element, typename Register, typename Place>
[[gnu::always_inline]] inline void load_components(WarpContext& warp, const Instruction* at,
                                                   std::uint32_t mask, unsigned count,
                                                   const Place& place) {
    alignas(VECTOR_BYTES) Register values[WARP_SIZE];
    if (count == 1) {
        for_each_lane(mask,
                      [&](unsigned lane) { values[lane] = read<Element, Register>(place(lane)); });
        write_lanes<Register>(locate(warp, component(warp, at, false, 0)), values, mask);
        return;
    }
    alignas(16) std::byte whole[WARP_SIZE][MAX_ACCESS_BYTES];
    for_each_lane(mask, [&](unsigned lane) {
        copy_whole(whole[lane], place(lane), count * sizeof(Element));
    });
    for (unsigned index = 0; index < count; ++index) {
        for_each_lane(mask, [&](unsigned lane) {
            values[lane] = read<Element, Register>(whole[lane] + index * sizeof(Element));
        });
        write_lanes<Register>(locate(warp, component(warp, at, false, index)), values, mask);
    }
}

/// Loads v2 and v4 for 32 adjacent lanes. Returns false if a lane needs more than 16 bytes.
template <typename T>
[[gnu::always_inline]] inline bool load_all_components(const WarpContext& warp,
                                                       const Instruction* at, unsigned count,
                                                       const std::byte* from) {
    if (count != 2 && (count != 4 || sizeof(T) != 4)) {
        return false;
    }
    std::byte* to[4];
    for (unsigned i = 0; i < count; ++i) {
        to[i] = locate(warp, at->dst[i]);
    }
    if (count == 2) {
        load_interleaved<T, 2>(to, 0, CHUNKS<T>, from);
    } else {
        load_interleaved<T, 4>(to, 0, CHUNKS<T>, from);
    }
    return true;
}

/// Stores v2 and v4 for 32 adjacent lanes. Returns false if a lane needs more than 16 bytes.
template <typename T>
[[gnu::always_inline]] inline bool store_all_components(const WarpContext& warp,
                                                        const Instruction* at, unsigned count,
                                                        std::byte* to) {
    if (count != 2 && (count != 4 || sizeof(T) != 4)) {
        return false;
    }
    const std::byte* from[4];
    for (unsigned i = 0; i < count; ++i) {
        from[i] = locate(warp, component(warp, at, true, i));
    }
    if (count == 2) {
        store_interleaved<T, 2>(to, 0, CHUNKS<T>, from);
    } else {
        store_interleaved<T, 4>(to, 0, CHUNKS<T>, from);
    }
    return true;
}

template <typename Element, typename Register>
void load_sequence(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                   const std::byte* from) {
    // `from` is where lane 0 would read. Only lanes of the mask are accessed.
    constexpr bool is_plain = sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8;
    if constexpr (is_plain) {
        if (count == 1) [[likely]] {
            std::byte* const to = locate(warp, at->dst[0]);
            if (mask == FULL_MASK) [[likely]] {
                for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
                    store<Register>(to, chunk, load<Register>(from, chunk));
                }
            } else {
                for_each_lane(mask, [&](unsigned lane) {
                    lanes_of<Register>(warp, at->dst[0])[lane] =
                        read<Element, Register>(from + lane * sizeof(Element));
                });
            }
            return;
        }
    }
    if constexpr (is_plain) {
        if (mask == FULL_MASK && load_all_components<Register>(warp, at, count, from)) {
            return;
        }
    }
    const std::size_t stride = count * sizeof(Element);
    load_components<Element, Register>(warp, at, mask, count,
                                       [&](unsigned lane) { return from + lane * stride; });
}

template <typename Element, typename Register>
void load_uniform(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                  const std::byte* from) {
    alignas(16) std::byte whole[MAX_ACCESS_BYTES];
    if (count > 1) {
        copy_whole(whole, from, count * sizeof(Element));
        from = whole;
    }
    for (unsigned index = 0; index < count; ++index) {
        const Register value = read<Element, Register>(from + index * sizeof(Element));
        std::byte* const to = locate(warp, component(warp, at, false, index));
        if constexpr (sizeof(Register) == 16) {
            for_each_lane(mask,
                          [&](unsigned lane) { __builtin_memcpy(to + lane * 16, &value, 16); });
        } else {
            const Vector<Register> values = broadcast<Register>(value);
            for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
                if (mask == FULL_MASK) [[likely]] {
                    store<Register>(to, chunk, values);
                } else {
                    store_masked<Register>(to, chunk, values, mask);
                }
            }
        }
    }
}

/// Half a vector of 32-bit values, or a whole vector of 64-bit values: what one chunk of addresses
/// reads.
template <typename T>
struct ChunkOf {
    typedef T Value __attribute__((vector_size(LANES<std::uint64_t> * sizeof(T))));
    typedef T Memory
        __attribute__((vector_size(LANES<std::uint64_t> * sizeof(T)), aligned(4), may_alias));
};

/// Reads the values of one chunk of lanes, which must all be readable.
template <typename T>
[[gnu::always_inline]] inline typename ChunkOf<T>::Value read_chunk(const std::byte* const* host) {
    using U = std::uint64_t;
    const Vector<U> places = load<U>(reinterpret_cast<const std::byte*>(host), 0);
    const auto first = reinterpret_cast<U>(host[0]);
    const Vector<U> offsets = places - first;
    if (is_zero(offsets ^ (iota<U>() * sizeof(T)))) {
        return *reinterpret_cast<const typename ChunkOf<T>::Memory*>(host[0]);
    }
    typename ChunkOf<T>::Value values;
    if (is_zero(offsets)) {
        const T value = *reinterpret_cast<const typename Aliased<T>::Value*>(host[0]);
        return typename ChunkOf<T>::Value{} + value;
    }
    for (unsigned i = 0; i < LANES<U>; ++i) {
        values[i] = *reinterpret_cast<const typename Aliased<T>::Value*>(host[i]);
    }
    return values;
}

/// Loads one value per lane from addresses that are all readable, including those of idle lanes.
template <typename T>
[[gnu::noinline]] void load_gathered(std::byte* to, std::uint32_t mask,
                                     const std::byte* const* host) {
    constexpr unsigned chunk_lanes = LANES<std::uint64_t>;
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        const std::byte* const* const places = host + chunk * LANES<T>;
        Vector<T> values;
        if constexpr (sizeof(T) == 8) {
            values = read_chunk<T>(places);
        } else {
            const auto low = read_chunk<T>(places);
            const auto high = read_chunk<T>(places + chunk_lanes);
            // Join them in registers. Two half stores would stall a later load of the whole.
#if defined(__AVX512F__)
            values = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                             13, 14, 15);
#elif defined(__AVX2__)
            values = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
            values = __builtin_shufflevector(low, high, 0, 1, 2, 3);
#endif
        }
        if (mask == FULL_MASK) [[likely]] {
            store<T>(to, chunk, values);
        } else {
            store_masked<T>(to, chunk, values, mask);
        }
    }
}

/// Loads v2 or v4 from addresses that are all readable, including those of idle lanes. Returns
/// false if a lane needs more than 16 bytes.
template <typename T>
[[gnu::noinline]] bool load_gathered_components(const WarpContext& warp, const Instruction* at,
                                                std::uint32_t mask, unsigned count,
                                                const std::byte* const* host) {
    if (count != 2 && (count != 4 || sizeof(T) != 4)) {
        return false;
    }
    alignas(VECTOR_BYTES) std::byte whole[WARP_SIZE * 16];
    const std::size_t bytes = count * sizeof(T);
    if (bytes == 16) {
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            copy_whole(whole + lane * 16, host[lane], 16);
        }
    } else {
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            copy_whole(whole + lane * 8, host[lane], 8);
        }
    }
    if (mask == FULL_MASK) {
        return load_all_components<T>(warp, at, count, whole);
    }
    alignas(VECTOR_BYTES) T values[4][WARP_SIZE];
    std::byte* to[4];
    for (unsigned i = 0; i < 4; ++i) {
        to[i] = reinterpret_cast<std::byte*>(values[i]);
    }
    if (count == 2) {
        load_interleaved<T, 2>(to, 0, CHUNKS<T>, whole);
    } else {
        load_interleaved<T, 4>(to, 0, CHUNKS<T>, whole);
    }
    for (unsigned i = 0; i < count; ++i) {
        store_lanes<T>(locate(warp, at->dst[i]), values[i], mask);
    }
    return true;
}

template <typename Element, typename Register>
void load_scattered(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                    std::byte* const* host) {
    load_components<Element, Register>(warp, at, mask, count,
                                       [&](unsigned lane) { return host[lane]; });
}

/// Loads in any pattern with any mask. Returns nullptr after a fault.
template <Space SPACE, typename Element, typename Register>
[[gnu::noinline]] const Instruction* load_any(WarpContext& warp, const Instruction* at,
                                              std::uint32_t mask) {
    const unsigned count = at->tag & COMPONENTS_MASK;
    const auto bytes = static_cast<std::uint32_t>(count * sizeof(Element));
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ADDRESS) != 0);
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t start = addresses[first];
    bool is_done = false;
    if ((start & (bytes - 1)) == 0 && SPACE != Space::Local) [[likely]] {
        const Pattern pattern = pattern_of(addresses, mask, first, start, bytes);
        if (pattern == Pattern::Sequence) {
            const auto last = 31u - static_cast<unsigned>(__builtin_clz(mask));
            if (const std::byte* const from =
                    resolve_range<SPACE>(warp, start, (last - first + 1) * bytes, false)) {
                load_sequence<Element, Register>(warp, at, mask, count,
                                                 from - std::size_t{first} * bytes);
                is_done = true;
            }
        } else if (pattern == Pattern::Uniform) {
            if (const std::byte* const from = resolve_range<SPACE>(warp, start, bytes, false)) {
                load_uniform<Element, Register>(warp, at, mask, count, from);
                is_done = true;
            }
        }
    }
    if (!is_done) {
        alignas(VECTOR_BYTES) std::byte* host[WARP_SIZE];
        const bool are_readable =
            resolve_together<false>(warp, mask, SPACE, addresses, bytes, host);
        if (!are_readable &&
            !resolve_lanes(warp, at, mask, SPACE, addresses, bytes, false, false, host)) {
            return nullptr;
        }
        if constexpr (sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8) {
            if (are_readable && count == 1) {
                load_gathered<Register>(locate(warp, at->dst[0]), mask, host);
                is_done = true;
            } else if (are_readable) {
                is_done = load_gathered_components<Register>(warp, at, mask, count, host);
            }
        }
        if (!is_done) {
            load_scattered<Element, Register>(warp, at, mask, count, host);
        }
    }
    return at + 1;
}

/// Loads if each half of the warp is adjacent or at one address, as in blocks that are 16 threads
/// wide. Returns false if it is not.
template <Space SPACE, typename T, typename Base>
[[gnu::always_inline]] inline bool load_halves_at(const WarpContext& warp, const Instruction* at) {
    constexpr unsigned half = WARP_SIZE / 2;
    constexpr unsigned chunks = CHUNKS<T> / 2;
    const std::byte* const base = locate(warp, at->src[0]);
    const QuickAccess low = quick_lanes<SPACE, sizeof(T), half, Base>(warp, at, base, false);
    if (low.pattern == Pattern::Scattered) {
        return false;
    }
    const QuickAccess high =
        quick_lanes<SPACE, sizeof(T), half, Base>(warp, at, base + half * sizeof(Base), false);
    if (high.pattern == Pattern::Scattered) {
        return false;
    }
    std::byte* const to = locate(warp, at->dst[0]);
    unsigned chunk = 0;
    const QuickAccess halves[] = {low, high};
    for (const QuickAccess& access : halves) {
        const Vector<T> value =
            broadcast<T>(*reinterpret_cast<const typename Aliased<T>::Value*>(access.host));
        for (unsigned i = 0; i < chunks; ++i) {
            store<T>(to, chunk++,
                     access.pattern == Pattern::Uniform ? value : load<T>(access.host, i));
        }
    }
    return true;
}

/// As load_halves(), for the one place that tries it first.
template <Space SPACE, typename T>
[[gnu::always_inline]] inline bool load_halves_inline(const WarpContext& warp,
                                                      const Instruction* at, std::uint32_t mask) {
    if (mask != FULL_MASK || (at->tag & COMPONENTS_MASK) != 1) {
        return false;
    }
    return (at->tag & NARROW_ADDRESS) == 0 ? load_halves_at<SPACE, T, std::uint64_t>(warp, at)
                                           : load_halves_at<SPACE, T, std::uint32_t>(warp, at);
}

template <Space SPACE, typename T>
[[gnu::noinline]] bool load_halves(const WarpContext& warp, const Instruction* at,
                                   std::uint32_t mask) {
    return load_halves_inline<SPACE, T>(warp, at, mask);
}

/// Loads where not all lanes can be adjacent: in blocks that are 16 threads wide, or in a part of
/// the warp.
template <Space SPACE, typename T>
[[gnu::noinline]] const Instruction* load_halves_first(WarpContext& warp, const Instruction* at,
                                                       std::uint32_t mask) {
    return load_halves_inline<SPACE, T>(warp, at, mask) ? at + 1
                                                        : load_any<SPACE, T, T>(warp, at, mask);
}

template <Space SPACE, typename Element, typename Register, bool ORDERED>
const Instruction* load_memory(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr bool has_whole_lanes = sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8;
    if constexpr (has_whole_lanes && !ORDERED && SPACE != Space::Local && SPACE != Space::Param) {
        if (mask != warp.row_mask) [[unlikely]] {
            return load_halves_first<SPACE, Register>(warp, at, mask);
        }
    }
    const Instruction* next = nullptr;
    if constexpr (SPACE != Space::Local) {
        const QuickAccess access = quick_access<SPACE, sizeof(Element)>(warp, at, mask, false);
        if (access.pattern == Pattern::Sequence) {
            load_sequence<Element, Register>(warp, at, FULL_MASK, 1, access.host);
            next = at + 1;
        } else if (access.pattern == Pattern::Uniform) {
            load_uniform<Element, Register>(warp, at, FULL_MASK, 1, access.host);
            next = at + 1;
        } else if constexpr (has_whole_lanes) {
            if (load_halves<SPACE, Register>(warp, at, mask)) {
                next = at + 1;
            }
        }
    }
    if (next == nullptr) {
        next = load_any<SPACE, Element, Register>(warp, at, mask);
    }
    if constexpr (ORDERED) {
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
    }
    return next;
}

template <typename Element, typename Register>
[[gnu::always_inline]] inline void write(std::byte* to, const std::byte* lanes, unsigned lane) {
    if constexpr (sizeof(Element) == 16) {
        __builtin_memcpy(to, lanes + lane * 16, 16);
    } else {
        *reinterpret_cast<typename Aliased<Element>::Value*>(to) = static_cast<Element>(
            reinterpret_cast<const typename Aliased<Register>::Value*>(lanes)[lane]);
    }
}

/// Stores all components of each lane to the address `place(lane)`.
template <typename Element, typename Register, typename Place>
[[gnu::always_inline]] inline void store_components(const WarpContext& warp, const Instruction* at,
                                                    std::uint32_t mask, unsigned count,
                                                    const Place& place) {
    const std::byte* from[MAX_ACCESS_BYTES];
    for (unsigned index = 0; index < count; ++index) {
        from[index] = locate(warp, component(warp, at, true, index));
    }
    if (count == 1) {
        for_each_lane(mask,
                      [&](unsigned lane) { write<Element, Register>(place(lane), from[0], lane); });
        return;
    }
    const std::size_t bytes = count * sizeof(Element);
    if constexpr (sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8) {
        alignas(VECTOR_BYTES) std::byte whole[WARP_SIZE * 16];
        if (store_all_components<Register>(warp, at, count, whole)) {
            for_each_lane(
                mask, [&](unsigned lane) { copy_whole(place(lane), whole + lane * bytes, bytes); });
            return;
        }
    }
    for_each_lane(mask, [&](unsigned lane) {
        alignas(16) std::byte whole[MAX_ACCESS_BYTES];
        for (unsigned index = 0; index < count; ++index) {
            write<Element, Register>(whole + index * sizeof(Element), from[index], lane);
        }
        copy_whole(place(lane), whole, bytes);
    });
}

/// Stores one value for each of 32 lanes, by chunks where the lanes of a chunk are adjacent.
template <typename T>
[[gnu::noinline]] void store_scattered(std::byte* const* host, const std::byte* from) {
    using U = std::uint64_t;
    constexpr unsigned chunk_lanes = LANES<U>;
    for (unsigned lane = 0; lane < WARP_SIZE; lane += chunk_lanes) {
        const Vector<U> places = load<U>(reinterpret_cast<const std::byte*>(host + lane), 0);
        const Vector<U> offsets = places - reinterpret_cast<U>(host[lane]);
        if (is_zero(offsets ^ (iota<U>() * sizeof(T)))) {
            using Chunk = typename ChunkOf<T>::Memory;
            *reinterpret_cast<Chunk*>(host[lane]) =
                *reinterpret_cast<const Chunk*>(from + lane * sizeof(T));
            continue;
        }
        for (unsigned i = lane; i < lane + chunk_lanes; ++i) {
            write<T, T>(host[i], from, i);
        }
    }
}

/// Stores in any pattern with any mask. Returns nullptr after a fault.
template <Space SPACE, typename Element, typename Register>
[[gnu::noinline]] const Instruction* store_any(WarpContext& warp, const Instruction* at,
                                               std::uint32_t mask) {
    constexpr bool is_plain = sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8;
    const unsigned count = at->tag & COMPONENTS_MASK;
    const auto bytes = static_cast<std::uint32_t>(count * sizeof(Element));
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ADDRESS) != 0);
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t start = addresses[first];
    if ((start & (bytes - 1)) == 0 && SPACE != Space::Local &&
        pattern_of(addresses, mask, first, start, bytes) == Pattern::Sequence) [[likely]] {
        const auto last = 31u - static_cast<unsigned>(__builtin_clz(mask));
        std::byte* to = resolve_range<SPACE>(warp, start, (last - first + 1) * bytes, true);
        if (to != nullptr) {
            if constexpr (is_plain) {
                if (mask == FULL_MASK && store_all_components<Register>(warp, at, count, to)) {
                    return at + 1;
                }
            }
            to -= std::size_t{first} * bytes;
            store_components<Element, Register>(warp, at, mask, count, [&](unsigned lane) {
                return to + lane * std::size_t{bytes};
            });
            return at + 1;
        }
    }
    alignas(VECTOR_BYTES) std::byte* host[WARP_SIZE];
    if (!resolve_together<true>(warp, mask, SPACE, addresses, bytes, host) &&
        !resolve_lanes(warp, at, mask, SPACE, addresses, bytes, true, false, host)) {
        return nullptr;
    }
    if constexpr (is_plain) {
        if (count == 1 && mask == FULL_MASK) {
            store_scattered<Register>(host, locate(warp, at->src[1]));
            return at + 1;
        }
    }
    store_components<Element, Register>(warp, at, mask, count,
                                        [&](unsigned lane) { return host[lane]; });
    return at + 1;
}

template <Space SPACE, typename Element, typename Register, bool ORDERED>
const Instruction* store_memory(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if constexpr (ORDERED) {
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
    }
    if constexpr (SPACE != Space::Local && sizeof(Element) == sizeof(Register) &&
                  sizeof(Element) <= 8) {
        const QuickAccess access = quick_access<SPACE, sizeof(Element)>(warp, at, mask, true);
        if (access.pattern == Pattern::Sequence) {
            const std::byte* const from = locate(warp, at->src[1]);
            for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
                store<Register>(access.host, chunk, load<Register>(from, chunk));
            }
            return at + 1;
        }
    }
    return store_any<SPACE, Element, Register>(warp, at, mask);
}

template <typename Element, typename Register, bool ORDERED>
Handler select_load_space(Space space) {
    switch (space) {
    case Space::Global:
    case Space::Constant:
        return load_memory<Space::Global, Element, Register, ORDERED>;
    case Space::Shared:
        return load_memory<Space::Shared, Element, Register, ORDERED>;
    case Space::Local:
        return load_memory<Space::Local, Element, Register, false>;
    case Space::Param:
        return load_memory<Space::Param, Element, Register, false>;
    case Space::None:
        return load_memory<Space::None, Element, Register, ORDERED>;
    default:
        return nullptr;
    }
}

template <typename Element, typename Register>
Handler select_load(const MemoryForm& form) {
    // Elements narrower than a word keep their order on every relevant processor. Only whole words
    // synchronise threads.
    if constexpr (sizeof(Element) == sizeof(Register)) {
        if (form.is_ordered) {
            return select_load_space<Element, Register, true>(form.space);
        }
    }
    return form.is_ordered ? nullptr : select_load_space<Element, Register, false>(form.space);
}

template <typename Element, typename Register, bool ORDERED>
Handler select_store_space(Space space) {
    switch (space) {
    case Space::Global:
        return store_memory<Space::Global, Element, Register, ORDERED>;
    case Space::Shared:
        return store_memory<Space::Shared, Element, Register, ORDERED>;
    case Space::Local:
        return store_memory<Space::Local, Element, Register, false>;
    case Space::None:
        return store_memory<Space::None, Element, Register, ORDERED>;
    default:
        return nullptr;
    }
}

template <typename Element, typename Register>
Handler select_store(const MemoryForm& form) {
    return form.is_ordered ? select_store_space<Element, Register, true>(form.space)
                           : select_store_space<Element, Register, false>(form.space);
}

Handler select_any_load(const MemoryForm& form) {
    using U = std::uint32_t;
    using UL = std::uint64_t;
    if (form.register_width == Width::B128) {
        return form.element_bytes == 16 ? select_load<Wide, Wide>(form) : nullptr;
    }
    if (form.register_width == Width::B64) {
        switch (form.element_bytes) {
        case 1:
            return form.is_signed ? select_load<std::int8_t, UL>(form)
                                  : select_load<std::uint8_t, UL>(form);
        case 2:
            return form.is_signed ? select_load<std::int16_t, UL>(form)
                                  : select_load<std::uint16_t, UL>(form);
        case 4:
            return form.is_signed ? select_load<std::int32_t, UL>(form) : select_load<U, UL>(form);
        case 8:
            return select_load<UL, UL>(form);
        default:
            return nullptr;
        }
    }
    switch (form.element_bytes) {
    case 1:
        return form.is_signed ? select_load<std::int8_t, U>(form)
                              : select_load<std::uint8_t, U>(form);
    case 2:
        return form.is_signed ? select_load<std::int16_t, U>(form)
                              : select_load<std::uint16_t, U>(form);
    case 4:
        return select_load<U, U>(form);
    default:
        return nullptr;
    }
}

Handler select_any_store(const MemoryForm& form) {
    using U = std::uint32_t;
    using UL = std::uint64_t;
    if (form.register_width == Width::B128) {
        return form.element_bytes == 16 ? select_store<Wide, Wide>(form) : nullptr;
    }
    const bool is_wide = form.register_width == Width::B64;
    switch (form.element_bytes) {
    case 1:
        return is_wide ? select_store<std::uint8_t, UL>(form) : select_store<std::uint8_t, U>(form);
    case 2:
        return is_wide ? select_store<std::uint16_t, UL>(form)
                       : select_store<std::uint16_t, U>(form);
    case 4:
        return is_wide ? select_store<U, UL>(form) : select_store<U, U>(form);
    case 8:
        return is_wide ? select_store<UL, UL>(form) : nullptr;
    default:
        return nullptr;
    }
}

} // namespace

Handler select_memory(const MemoryForm& form) {
    return form.is_store ? select_any_store(form) : select_any_load(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
