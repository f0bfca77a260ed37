// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores.
//
// Three ways, quickest first: lanes side by side (one check, vector copies), all lanes at one
// address (one check, one read), and lane by lane. A lane's bytes are moved whole, so an aligned
// access is as atomic as the processor makes it, which is what .relaxed asks for.

#include "interp/handlers/access.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// A 16-byte lane.
struct alignas(8) Wide {
    std::uint64_t low;
    std::uint64_t high;
};

/// Returns destination or source number `index`, which may be in the kernel's list of operands.
[[gnu::always_inline]] inline Operand further_operand(const WarpContext& warp,
                                                      const Instruction* at, unsigned index) {
    // The vector's data pointer, without calling its members (see common.hpp).
    const auto& list = warp.block->kernel->operands;
    const Operand* const data = *reinterpret_cast<const Operand* const*>(&list);
    return data[at->extra + index];
}

[[gnu::always_inline]] inline Operand component(const WarpContext& warp, const Instruction* at,
                                                bool is_store, unsigned index) {
    if (is_store) {
        return index < 3 ? at->src[1 + index] : further_operand(warp, at, index - 3);
    }
    return index < 4 ? at->dst[index] : further_operand(warp, at, index - 4);
}

/// Reads one element and widens it to the register's lane.
template <typename Element, typename Register>
[[gnu::always_inline]] inline Register read(const std::byte* from) {
    if constexpr (sizeof(Element) == 16) {
        Wide value;
        __builtin_memcpy(&value, from, sizeof value);
        return value;
    } else {
        const auto value = *reinterpret_cast<const typename Aliased<Element>::Value*>(from);
        // Through the register's own signedness: a narrow signed element extends its sign.
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

template <typename Element, typename Register>
void load_sequence(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                   const std::byte* from) {
    // `from` is where lane 0 would read; only lanes of the mask are touched.
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
    alignas(VECTOR_BYTES) Register values[WARP_SIZE];
    for (unsigned index = 0; index < count; ++index) {
        const std::byte* const first = from + index * sizeof(Element);
        const std::size_t stride = count * sizeof(Element);
        if (mask == FULL_MASK) [[likely]] {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                values[lane] = read<Element, Register>(first + lane * stride);
            }
        } else {
            for_each_lane(mask, [&](unsigned lane) {
                values[lane] = read<Element, Register>(first + lane * stride);
            });
        }
        write_lanes<Register>(locate(warp, component(warp, at, false, index)), values, mask);
    }
}

template <typename Element, typename Register>
void load_uniform(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                  const std::byte* from) {
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

template <typename Element, typename Register>
void load_scattered(WarpContext& warp, const Instruction* at, std::uint32_t mask, unsigned count,
                    std::byte* const* host) {
    alignas(VECTOR_BYTES) Register values[WARP_SIZE];
    for (unsigned index = 0; index < count; ++index) {
        const std::size_t offset = index * sizeof(Element);
        if (mask == FULL_MASK) [[likely]] {
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                values[lane] = read<Element, Register>(host[lane] + offset);
            }
        } else {
            for_each_lane(mask, [&](unsigned lane) {
                values[lane] = read<Element, Register>(host[lane] + offset);
            });
        }
        write_lanes<Register>(locate(warp, component(warp, at, false, index)), values, mask);
    }
}

/// Tries to resolve all lanes with one check per end; true when every lane of `mask` lies in mapped
/// device memory or in shared memory and `host` says where.
template <Space SPACE>
[[gnu::always_inline]] inline bool resolve_together(const WarpContext& warp, std::uint32_t mask,
                                                    const Addresses& addresses, std::uint32_t bytes,
                                                    std::byte** host) {
    using U = std::uint64_t;
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if constexpr (SPACE == Space::Local || SPACE == Space::Param) {
        return false;
    }
    // Lanes that do not take part must not matter: give them the first active lane's address.
    const U any = addresses[static_cast<unsigned>(__builtin_ctz(mask))];
    Vector<U> low = broadcast<U>(any);
    Vector<U> high = low;
    Vector<U> low_bits{};
    Addresses used;
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        Vector<U> value = addresses.chunks[chunk];
        if (mask != FULL_MASK) {
            value = expand<U>(mask, chunk) ? value : broadcast<U>(any);
        }
        used.chunks[chunk] = value;
        low = value < low ? value : low;
        high = value > high ? value : high;
        low_bits |= value;
    }
    U first = any;
    U last = any;
    U all_bits = 0;
    for (unsigned i = 0; i < LANES<U>; ++i) {
        first = low[i] < first ? low[i] : first;
        last = high[i] > last ? high[i] : last;
        all_bits |= low_bits[i];
    }
    if ((all_bits & (bytes - 1)) != 0) {
        return false;
    }
    U shift = 0;
    if constexpr (SPACE == Space::Shared) {
        if (last > block.shared_bytes || bytes > block.shared_bytes - last) {
            return false;
        }
        shift = reinterpret_cast<U>(block.shared);
    } else if (const U offset = first - map.shared_base;
               SPACE == Space::None && offset < map.shared_bytes) {
        if (last - map.shared_base > block.shared_bytes ||
            bytes > block.shared_bytes - (last - map.shared_base)) {
            return false;
        }
        shift = reinterpret_cast<U>(block.shared) - map.shared_base;
    } else {
        if (map.check_exactly || !is_mapped(map, first, last + bytes - 1)) {
            return false;
        }
        // Ends that lie far apart say nothing of what is between them.
        if (((last - map.memory_base) >> map.granule_shift) -
                ((first - map.memory_base) >> map.granule_shift) >
            1) {
            const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
            bool are_mapped = true;
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                are_mapped &= __atomic_load_n(
                                  granules + ((used[lane] - map.memory_base) >> map.granule_shift),
                                  __ATOMIC_RELAXED) != 0;
            }
            if (!are_mapped) {
                return false;
            }
        }
    }
    auto* const to = reinterpret_cast<std::byte*>(host);
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        store<U>(to, chunk, used.chunks[chunk] + shift);
    }
    return true;
}

template <Space SPACE, typename Element, typename Register, bool ORDERED>
const Instruction* load_memory(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const unsigned count = at->tag & COMPONENTS_MASK;
    const auto bytes = static_cast<std::uint32_t>(count * sizeof(Element));
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ADDRESS) != 0);
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t start = addresses[first];
    bool is_done = false;
    if ((start & (bytes - 1)) == 0 && SPACE != Space::Local) [[likely]] {
        const std::uint64_t lane0 = start - std::uint64_t{first} * bytes;
        if ((~lanes_in_sequence(addresses, lane0, bytes) & mask) == 0) {
            const auto last = 31u - static_cast<unsigned>(__builtin_clz(mask));
            if (const std::byte* const from =
                    resolve_range<SPACE>(warp, start, (last - first + 1) * bytes, false)) {
                load_sequence<Element, Register>(warp, at, mask, count,
                                                 from - std::size_t{first} * bytes);
                is_done = true;
            }
        } else if ((~lanes_in_sequence(addresses, start, 0) & mask) == 0) {
            if (const std::byte* const from = resolve_range<SPACE>(warp, start, bytes, false)) {
                load_uniform<Element, Register>(warp, at, mask, count, from);
                is_done = true;
            }
        }
    }
    if (!is_done) {
        alignas(VECTOR_BYTES) std::byte* host[WARP_SIZE];
        if (!resolve_together<SPACE>(warp, mask, addresses, bytes, host) &&
            !resolve_lanes(warp, at, mask, SPACE, addresses, bytes, false, false, host)) {
            return nullptr;
        }
        load_scattered<Element, Register>(warp, at, mask, count, host);
    }
    if constexpr (ORDERED) {
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
    }
    return at + 1;
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

template <Space SPACE, typename Element, typename Register, bool ORDERED>
const Instruction* store_memory(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const unsigned count = at->tag & COMPONENTS_MASK;
    const auto bytes = static_cast<std::uint32_t>(count * sizeof(Element));
    const Addresses addresses = addresses_of(warp, at, (at->tag & NARROW_ADDRESS) != 0);
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    const std::uint64_t start = addresses[first];
    if constexpr (ORDERED) {
        __atomic_thread_fence(__ATOMIC_ACQ_REL);
    }
    if ((start & (bytes - 1)) == 0 && SPACE != Space::Local) [[likely]] {
        const std::uint64_t lane0 = start - std::uint64_t{first} * bytes;
        if ((~lanes_in_sequence(addresses, lane0, bytes) & mask) == 0) {
            const auto last = 31u - static_cast<unsigned>(__builtin_clz(mask));
            std::byte* to = resolve_range<SPACE>(warp, start, (last - first + 1) * bytes, true);
            if (to != nullptr) {
                to -= std::size_t{first} * bytes;
                if constexpr (sizeof(Element) == sizeof(Register) && sizeof(Element) <= 8) {
                    if (count == 1 && mask == FULL_MASK) [[likely]] {
                        const std::byte* const from = locate(warp, at->src[1]);
                        for (unsigned chunk = 0; chunk < CHUNKS<Register>; ++chunk) {
                            store<Register>(to, chunk, load<Register>(from, chunk));
                        }
                        return at + 1;
                    }
                }
                for (unsigned index = 0; index < count; ++index) {
                    const std::byte* const from = locate(warp, component(warp, at, true, index));
                    for_each_lane(mask, [&](unsigned lane) {
                        write<Element, Register>(
                            to + lane * std::size_t{bytes} + index * sizeof(Element), from, lane);
                    });
                }
                return at + 1;
            }
        }
    }
    alignas(VECTOR_BYTES) std::byte* host[WARP_SIZE];
    if (!resolve_together<SPACE>(warp, mask, addresses, bytes, host) &&
        !resolve_lanes(warp, at, mask, SPACE, addresses, bytes, true, false, host)) {
        return nullptr;
    }
    for (unsigned index = 0; index < count; ++index) {
        const std::byte* const from = locate(warp, component(warp, at, true, index));
        for_each_lane(mask, [&](unsigned lane) {
            write<Element, Register>(host[lane] + index * sizeof(Element), from, lane);
        });
    }
    return at + 1;
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
    // Sub-word elements keep their order on every processor that matters here; only whole words
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
