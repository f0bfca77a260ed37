// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Translates the addresses of 32 lanes to host memory that they may access.

#pragma once

#include "interp/access_fault.hpp"
#include "interp/handlers/common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

using ptx::Space;

/// The addresses of a warp's lanes, in the space of the instruction.
struct Addresses {
    Vector<std::uint64_t> chunks[CHUNKS<std::uint64_t>];

    [[gnu::always_inline]] std::uint64_t operator[](unsigned lane) const {
        return reinterpret_cast<const Aliased<std::uint64_t>::Value*>(chunks)[lane];
    }
};

/// Bits of `Instruction::tag` for loads and stores.
constexpr std::uint16_t COMPONENTS_MASK = 0xff;
constexpr std::uint16_t NARROW_ADDRESS = 0x100;

/// Computes base + offset; 32-bit bases wrap at 32 bits.
[[gnu::always_inline]] inline Addresses addresses_of(const WarpContext& warp, const Instruction* at,
                                                     bool is_narrow) {
    using U = std::uint64_t;
    Addresses result;
    const std::byte* const base = locate(warp, at->src[0]);
    if (!is_narrow) [[likely]] {
        const Vector<U> offset = broadcast<U>(static_cast<U>(at->immediate));
        for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
            result.chunks[chunk] = load<U>(base, chunk) + offset;
        }
    } else {
        const auto* const lanes = reinterpret_cast<const Aliased<std::uint32_t>::Value*>(base);
        const auto offset = static_cast<std::uint32_t>(at->immediate);
        auto* const to = reinterpret_cast<Aliased<U>::Value*>(result.chunks);
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            to[lane] = lanes[lane] + offset;
        }
    }
    return result;
}

/// Returns the mask of lanes whose address is `first` + lane * stride.
[[gnu::always_inline]] inline std::uint32_t
lanes_in_sequence(const Addresses& addresses, std::uint64_t first, std::uint64_t stride) {
    using U = std::uint64_t;
    Vector<U> expected = broadcast<U>(first) + iota<U>() * stride;
    std::uint32_t bits = 0;
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
#if defined(__AVX512F__)
        const std::uint32_t equal =
            _mm512_cmpeq_epi64_mask(reinterpret_cast<__m512i>(addresses.chunks[chunk]),
                                    reinterpret_cast<__m512i>(expected));
#else
        const std::uint32_t equal = sign_bits<std::int64_t>(addresses.chunks[chunk] == expected);
#endif
        bits |= equal << (chunk * LANES<U>);
        expected += LANES<U> * stride;
    }
    return bits;
}

/// Returns whether every lane is zero.
[[gnu::always_inline]] inline bool is_zero(Vector<std::uint64_t> value) {
#if defined(__AVX512F__)
    const auto bits = reinterpret_cast<__m512i>(value);
    return _mm512_test_epi64_mask(bits, bits) == 0;
#elif defined(__AVX2__)
    const auto bits = reinterpret_cast<__m256i>(value);
    return _mm256_testz_si256(bits, bits) != 0;
#elif defined(__SSE4_1__)
    const auto bits = reinterpret_cast<__m128i>(value);
    return _mm_testz_si128(bits, bits) != 0;
#else
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < LANES<std::uint64_t>; ++i) {
        bits |= value[i];
    }
    return bits == 0;
#endif
}

/// Returns whether all 32 addresses are `first` + lane * stride.
[[gnu::always_inline]] inline bool are_in_sequence(const Addresses& addresses, std::uint64_t first,
                                                   std::uint64_t stride) {
    using U = std::uint64_t;
    Vector<U> expected = broadcast<U>(first) + iota<U>() * stride;
    Vector<U> difference{};
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        difference |= addresses.chunks[chunk] ^ expected;
        expected += LANES<U> * stride;
    }
    return is_zero(difference);
}

/// How the lanes of a mask lie in memory.
enum class Pattern : std::uint8_t { Scattered, Sequence, Uniform };

/// Recognises adjacent lanes (`bytes` apart) and lanes at one address. `start` is the address of
/// the first lane in the mask.
[[gnu::always_inline]] inline Pattern pattern_of(const Addresses& addresses, std::uint32_t mask,
                                                 unsigned first, std::uint64_t start,
                                                 std::uint32_t bytes) {
    if (mask == FULL_MASK) [[likely]] {
        // The second lane shows which of the two patterns is worth checking.
        const std::uint64_t step = addresses[1] - start;
        if (step == bytes) {
            return are_in_sequence(addresses, start, bytes) ? Pattern::Sequence
                                                            : Pattern::Scattered;
        }
        return step == 0 && are_in_sequence(addresses, start, 0) ? Pattern::Uniform
                                                                 : Pattern::Scattered;
    }
    const std::uint64_t lane0 = start - std::uint64_t{first} * bytes;
    if ((~lanes_in_sequence(addresses, lane0, bytes) & mask) == 0) {
        return Pattern::Sequence;
    }
    return (~lanes_in_sequence(addresses, start, 0) & mask) == 0 ? Pattern::Uniform
                                                                 : Pattern::Scattered;
}

/// Same as MemoryMap::is_mapped, for these sources (see common.hpp).
[[gnu::always_inline]] inline bool is_mapped(const MemoryMap& map, std::uint64_t first,
                                             std::uint64_t last, bool is_write) {
    const std::uint64_t begin = first - map.memory_base;
    const std::uint64_t end = last - map.memory_base;
    const auto* const granules = reinterpret_cast<const std::uint8_t*>(map.granules);
    const std::uint8_t wanted = is_write ? WRITE_BIT : READ_BIT;
    return begin < map.memory_bytes && end < map.memory_bytes &&
           (__atomic_load_n(granules + (begin >> map.granule_shift), __ATOMIC_RELAXED) & wanted) !=
               0 &&
           (__atomic_load_n(granules + (end >> map.granule_shift), __ATOMIC_RELAXED) & wanted) != 0;
}

/// Returns the host address of `bytes` bytes from `address` on, or nullptr if they are not all
/// accessible as one range (single lanes may still be). Ranges are shorter than a granule.
template <Space SPACE>
[[gnu::always_inline]] inline std::byte*
resolve_range(const WarpContext& warp, std::uint64_t address, std::uint32_t bytes, bool is_write) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if constexpr (SPACE == Space::Shared) {
        return address <= block.shared_bytes && bytes <= block.shared_bytes - address
                   ? block.shared + address
                   : nullptr;
    } else if constexpr (SPACE == Space::Param) {
        return address <= block.parameter_bytes && bytes <= block.parameter_bytes - address
                   ? const_cast<std::byte*>(block.parameters) + address
                   : nullptr;
    } else {
        if (is_mapped(map, address, address + bytes - 1, is_write)) [[likely]] {
            return reinterpret_cast<std::byte*>(address);
        }
        if constexpr (SPACE == Space::None) {
            const std::uint64_t offset = address - map.shared_base;
            if (offset < map.shared_bytes) {
                return resolve_range<Space::Shared>(warp, offset, bytes, is_write);
            }
            if (address - map.local_base < map.local_bytes) {
                return nullptr; // a range in one thread's memory does not fit 32 threads
            }
        }
        return map.is_accessible != nullptr && map.is_accessible(map, address, bytes, is_write)
                   ? reinterpret_cast<std::byte*>(address)
                   : nullptr;
    }
}

/// Tries to resolve all lanes with one check per end. Returns true if all lanes of `mask` lie in
/// mapped device memory that may be read (or written), or all lie in shared memory. `host` then
/// holds their host addresses, and accessible addresses for the other lanes too.
template <bool IS_WRITE>
[[nodiscard]] bool resolve_together(const WarpContext& warp, std::uint32_t mask, Space space,
                                    const Addresses& addresses, std::uint32_t bytes,
                                    std::byte** host);

/// Finds the host address of each lane of `mask`. Does not change `host` of other lanes. Returns
/// false after a fault.
[[nodiscard]] bool resolve_lanes(WarpContext& warp, const Instruction* at, std::uint32_t mask,
                                 Space space, const Addresses& addresses, std::uint32_t bytes,
                                 bool is_write, bool is_atomic, std::byte** host);

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
