// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading texels, for the texture handlers.
//
// Texels are read as words: those of up to 4 bytes are one word each, larger ones are 2 or 4 words.
// Most often, the lanes of a chunk read neighbours in one row, which are loaded like plain memory.
// Other texels are gathered.

#pragma once

#include "interp/handlers/interleave.hpp"
#include "interp/handlers/linear_access.hpp"
#include "interp/handlers/texture_axes.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

constexpr unsigned MAX_WORDS = 4;

/// The texels around a point, in the order of their weights: left and right of the upper row, then
/// of the lower one.
constexpr unsigned CORNERS = 4;

/// The words of the texels of a chunk.
struct TexelWords {
    Words of[MAX_WORDS];
};

/// The rows of the texels of a chunk: the second one only with a filter.
struct Rows {
    Words places[2]{}; // in bytes
    Ints fraction{};   // weight of the second
    Ints is_outside[2]{};
};

/// One of the two slices of a volume between which a filter works, or the only one.
struct Slice {
    Rows rows;
    Ints weight{}; // if there are two
};

/// Reads texels of BYTES that are neighbours, beginning with that of the first lane. 0: the size is
/// known only at run time.
template <unsigned BYTES>
[[gnu::always_inline]] inline TexelWords read_row(const PlaneView& view, const std::byte* from) {
    TexelWords words;
    const auto part = [&](unsigned i)
                          __attribute__((always_inline)) { return load<std::uint32_t>(from, i); };
    switch (BYTES == 0 ? view.texel_bytes : BYTES) {
    case 1:
        words.of[0] = load_elements<std::uint8_t, std::uint32_t>(from, 0);
        break;
    case 2:
        words.of[0] = load_elements<std::uint16_t, std::uint32_t>(from, 0);
        break;
    case 4:
        words.of[0] = part(0);
        break;
    case 8:
        words.of[0] = even<std::uint32_t>(part(0), part(1));
        words.of[1] = odd<std::uint32_t>(part(0), part(1));
        break;
    default: {
        const Words even_low = even<std::uint32_t>(part(0), part(1));
        const Words even_high = even<std::uint32_t>(part(2), part(3));
        const Words odd_low = odd<std::uint32_t>(part(0), part(1));
        const Words odd_high = odd<std::uint32_t>(part(2), part(3));
        words.of[0] = even<std::uint32_t>(even_low, even_high);
        words.of[1] = even<std::uint32_t>(odd_low, odd_high);
        words.of[2] = odd<std::uint32_t>(even_low, even_high);
        words.of[3] = odd<std::uint32_t>(odd_low, odd_high);
        break;
    }
    }
    return words;
}

/// Reads words at places of up to 32 bits.
[[gnu::always_inline]] inline Words gather_words(const std::byte* data, Words places) {
#if defined(__AVX2__)
    // Indices are signed, so count from the middle of the 4 GiB.
    constexpr std::uint32_t middle = 0x80000000u;
    const Words indices = places ^ middle;
    const auto* const base = reinterpret_cast<const int*>(data + middle);
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(_mm512_mask_i32gather_epi32(
        __m512i{}, ALL_WORDS, reinterpret_cast<__m512i>(indices), base, 1));
#else
    return reinterpret_cast<Words>(
        _mm256_i32gather_epi32(base, reinterpret_cast<__m256i>(indices), 1));
#endif
#else
    Words texels{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        typedef std::uint32_t Word __attribute__((aligned(1), may_alias));
        texels[lane] = *reinterpret_cast<const Word*>(data + places[lane]);
    }
    return texels;
#endif
}

/// Two neighbouring words.
struct WordPair {
    Words low;
    Words high;
};

/// Reads two words at each place.
[[gnu::always_inline]] inline WordPair gather_pairs(const std::byte* data, Words places) {
#if defined(__AVX2__)
    // Single loads take fewer steps than the gather instructions of some processors.
    typedef std::uint64_t Long __attribute__((aligned(1), may_alias));
    typedef std::uint64_t Longs __attribute__((vector_size(VECTOR_BYTES)));
    alignas(VECTOR_BYTES) std::uint32_t from[CHUNK_LANES];
    store<std::uint32_t>(reinterpret_cast<std::byte*>(from), 0, places);
    const auto at = [&](unsigned lane) __attribute__((always_inline)) {
        return *reinterpret_cast<const Long*>(data + from[lane]);
    };
#if defined(__AVX512F__)
    const Longs lower{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
    const Longs upper{at(8), at(9), at(10), at(11), at(12), at(13), at(14), at(15)};
#else
    const Longs lower{at(0), at(1), at(2), at(3)};
    const Longs upper{at(4), at(5), at(6), at(7)};
#endif
    const auto first = reinterpret_cast<Words>(lower);
    const auto second = reinterpret_cast<Words>(upper);
    return {even<std::uint32_t>(first, second), odd<std::uint32_t>(first, second)};
#else
    return {gather_words(data, places), gather_words(data + 4, places)};
#endif
}

/// Reads texels of one or two bytes.
[[gnu::always_inline]] inline Words gather_parts(const PlaneView& view, Words places) {
#if defined(__AVX2__)
    // The aligned words that they lie in are always mapped.
    constexpr std::uint64_t last = 3; // byte of a word
    const auto address = reinterpret_cast<std::uint64_t>(view.data);
    places += static_cast<std::uint32_t>(address & last);
    const auto* const data = reinterpret_cast<const std::byte*>(address & ~last);
    const Words words = gather_words(data, places & ~static_cast<std::uint32_t>(last));
    const Words shifts = (places & static_cast<std::uint32_t>(last)) << 3;
#if defined(__AVX512F__)
    const auto moved = reinterpret_cast<Words>(_mm512_maskz_srlv_epi32(
        ALL_WORDS, reinterpret_cast<__m512i>(words), reinterpret_cast<__m512i>(shifts)));
#else
    const auto moved = reinterpret_cast<Words>(
        _mm256_srlv_epi32(reinterpret_cast<__m256i>(words), reinterpret_cast<__m256i>(shifts)));
#endif
    return moved & (view.texel_bytes == 1 ? 0xffu : 0xffffu);
#else
    Words texels{};
    for (unsigned lane = 0; lane < CHUNK_LANES; ++lane) {
        typedef std::uint16_t Pair __attribute__((aligned(1), may_alias));
        const std::byte* const from = view.data + places[lane];
        texels[lane] = view.texel_bytes == 2 ? *reinterpret_cast<const Pair*>(from)
                                             : static_cast<std::uint32_t>(*from);
    }
    return texels;
#endif
}

/// Reads texels anywhere.
template <unsigned BYTES>
[[gnu::always_inline]] inline TexelWords read_anywhere(const PlaneView& view, Ints x, Words row) {
    const std::uint32_t bytes = BYTES == 0 ? view.texel_bytes : BYTES;
    const Words places = row + reinterpret_cast<Words>(x) * bytes;
    TexelWords words;
    if (bytes < 4) {
        words.of[0] = gather_parts(view, places);
        return words;
    }
    if (bytes == 4) {
        words.of[0] = gather_words(view.data, places);
        return words;
    }
    for (unsigned word = 0; word < bytes / 4; word += 2) {
        const WordPair pair = gather_pairs(view.data + 4 * word, places);
        words.of[word] = pair.low;
        words.of[word + 1] = pair.high;
    }
    return words;
}

/// Returns bits that are zero if the lanes read neighbours.
[[gnu::always_inline]] inline Ints gaps_in(Ints x) {
    return x - iota<std::int32_t>() - all(x[0]);
}

/// Returns bits that are zero if the lanes read one row.
[[gnu::always_inline]] inline Ints steps_in(Words row) {
    return reinterpret_cast<Ints>(row - broadcast<std::uint32_t>(row[0]));
}

/// Returns where the texel of the first lane is.
[[gnu::always_inline]] inline const std::byte* first_of(const PlaneView& view, Ints x, Words row) {
    return view.data + row[0] + static_cast<std::uint32_t>(x[0]) * view.texel_bytes;
}

/// Puts the border in the place of texels outside.
template <unsigned BYTES>
[[gnu::always_inline]] inline void add_border(const PlaneView& view, Ints is_outside,
                                              TexelWords& words) {
    const std::uint32_t bytes = BYTES == 0 ? view.texel_bytes : BYTES;
    for (unsigned word = 0; word < MAX_WORDS; ++word) {
        if (word == 0 || 4 * word < bytes) {
            words.of[word] =
                is_outside ? broadcast<std::uint32_t>(view.border[word]) : words.of[word];
        }
    }
}

/// Reads a texel for each lane. `shares_rows`: the lanes are known to read one row.
template <Addressing ADDRESSING, unsigned BYTES>
[[gnu::always_inline]] inline TexelWords read_points(const PlaneView& view, const Axis& x,
                                                     const Rows& rows, bool shares_rows) {
    Ints gaps = gaps_in(x.at[0]);
    if (!shares_rows) {
        gaps |= steps_in(rows.places[0]);
    }
    TexelWords words = is_zero(gaps)
                           ? read_row<BYTES>(view, first_of(view, x.at[0], rows.places[0]))
                           : read_anywhere<BYTES>(view, x.at[0], rows.places[0]);
    if (ADDRESSING == Addressing::Any && view.has_border) {
        add_border<BYTES>(view, x.is_outside[0] | rows.is_outside[0], words);
    }
    return words;
}

/// Returns whether the lanes read neighbours in one row, and their neighbours on the right.
template <Addressing ADDRESSING>
[[gnu::always_inline]] inline bool are_neighbours(const PlaneView& view, const Axis& x,
                                                  const Rows& rows, bool shares_rows) {
    Ints gaps = gaps_in(x.at[0]);
    if constexpr (ADDRESSING == Addressing::Any) {
        gaps |= x.at[1] - x.at[0] - 1;
    } else if (static_cast<std::uint32_t>(x.at[0][0]) + CHUNK_LANES >= view.sizes[0]) {
        return false;
    }
    if (!shares_rows) {
        gaps |= steps_in(rows.places[0]) | steps_in(rows.places[1]);
    }
    return is_zero(gaps);
}

/// Reads both texels of each lane and row from one window: a word with 4 bytes or 2 shorts, or two
/// words. Returns false if some lane's texels do not fit into one.
template <Addressing ADDRESSING, unsigned BYTES>
[[gnu::always_inline]] inline bool read_windows(const PlaneView& view, const Axis& x,
                                                const Rows& rows, TexelWords (&corners)[CORNERS]) {
    const std::uint32_t bytes = BYTES == 0 ? view.texel_bytes : BYTES;
    const std::int32_t texels = bytes == 1 ? 4 : 2; // of a window
    const std::int32_t beyond = static_cast<std::int32_t>(view.sizes[0]) - texels;
    if (bytes > 4 || beyond < 0) {
        return false;
    }
    const Ints start = smaller(smaller(x.at[0], x.at[1]), all(beyond));
    if (ADDRESSING == Addressing::Any &&
        !is_zero(larger(x.at[0], x.at[1]) - start >= texels)) { // wraps around
        return false;
    }
    const Words place = reinterpret_cast<Words>(start) * bytes;
    for (unsigned row = 0; row < 2; ++row) {
        if (bytes == 4) {
            const WordPair pair = gather_pairs(view.data, rows.places[row] + place);
            for (unsigned i = 0; i < 2; ++i) {
                corners[2 * row + i].of[0] = x.at[i] == start ? pair.low : pair.high;
            }
            continue;
        }
        const Words window = gather_words(view.data, rows.places[row] + place);
        for (unsigned i = 0; i < 2; ++i) {
            const Words shift = reinterpret_cast<Words>(x.at[i] - start) * (8 * bytes);
            corners[2 * row + i].of[0] = window >> shift & (bytes == 1 ? 0xffu : 0xffffu);
        }
    }
    return true;
}

/// Reads the four texels around the point of each lane.
template <Addressing ADDRESSING, unsigned BYTES>
[[gnu::always_inline]] inline void read_corners(const PlaneView& view, const Axis& x,
                                                const Rows& rows, bool shares_rows,
                                                TexelWords (&corners)[CORNERS]) {
    if (are_neighbours<ADDRESSING>(view, x, rows, shares_rows)) {
        const std::byte* const upper = first_of(view, x.at[0], rows.places[0]);
        const std::byte* const lower = first_of(view, x.at[0], rows.places[1]);
        corners[0] = read_row<BYTES>(view, upper);
        corners[1] = read_row<BYTES>(view, upper + view.texel_bytes);
        corners[2] = read_row<BYTES>(view, lower);
        corners[3] = read_row<BYTES>(view, lower + view.texel_bytes);
    } else if (!read_windows<ADDRESSING, BYTES>(view, x, rows, corners)) {
        for (unsigned i = 0; i < CORNERS; ++i) {
            corners[i] = read_anywhere<BYTES>(view, x.at[i % 2], rows.places[i / 2]);
        }
    }
    if (ADDRESSING == Addressing::Any && view.has_border) {
        for (unsigned i = 0; i < CORNERS; ++i) {
            add_border<BYTES>(view, x.is_outside[i % 2] | rows.is_outside[i / 2], corners[i]);
        }
    }
}

/// Reads the four numbers of half precision around the point of each lane, as floats.
template <Addressing ADDRESSING>
[[gnu::always_inline]] inline void read_halves(const PlaneView& view, const Axis& x,
                                               const Rows& rows, bool shares_rows,
                                               Words (&corners)[CORNERS]) {
    constexpr unsigned bytes = 2;
    if (!(ADDRESSING == Addressing::Any && view.has_border) &&
        are_neighbours<ADDRESSING>(view, x, rows, shares_rows)) {
        for (unsigned i = 0; i < CORNERS; ++i) {
            const std::byte* const from = first_of(view, x.at[0], rows.places[i / 2]);
            corners[i] = reinterpret_cast<Words>(widen_row(from + i % 2 * bytes));
        }
        return;
    }
    TexelWords texels[CORNERS];
    read_corners<ADDRESSING, bytes>(view, x, rows, shares_rows, texels);
    for (unsigned i = 0; i < CORNERS; ++i) {
        corners[i] = reinterpret_cast<Words>(widen_halves(texels[i].of[0]));
    }
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
