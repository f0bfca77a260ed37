// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The factors of wgmma.mma_async: matrix descriptors, number formats and sparsity.
//
// A descriptor names the start of a matrix in shared memory, two distances and a swizzle. A core
// matrix is 8 rows of 16 bytes. With a swizzle of S bytes, rows of S bytes follow each other, and
// the 16-byte pieces in them are permuted: bits 4 to 6 of an address (as many as S has) are
// exclusive-ored with bits 7 to 9. Addresses are those of shared memory, not relative to the start;
// the base offset of the descriptor is subtracted from bits 7 to 9 first.

#include "interp/handlers/warpgroup_operands.hpp"

#include "interp/handlers/float_common.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using E = MatrixElement;

constexpr unsigned PIECE_BYTES = 16;
constexpr unsigned CORE_ROWS = 8;
constexpr unsigned WARP_ROWS = 16;

struct Descriptor {
    std::uint32_t start;
    std::uint32_t leading;
    std::uint32_t stride;
    std::uint32_t width;    // of the swizzle, in bytes; 16: none
    std::uint32_t permuted; // the bits of an address, shifted right by 4, that change
    std::uint32_t phase;    // the base offset

    explicit Descriptor(std::uint64_t bits)
        : start(static_cast<std::uint32_t>(bits & 0x3fff) << 4),
          leading(static_cast<std::uint32_t>(bits >> 16 & 0x3fff) << 4),
          stride(static_cast<std::uint32_t>(bits >> 32 & 0x3fff) << 4),
          phase(static_cast<std::uint32_t>(bits >> 49 & 7)) {
        constexpr std::uint32_t WIDTHS[] = {16, 128, 64, 32};
        width = WIDTHS[bits >> 62];
        permuted = width / PIECE_BYTES - 1;
    }

    /// Returns where shared memory holds the piece at an address before the swizzle.
    [[nodiscard, gnu::always_inline]] std::uint32_t place(std::uint32_t address) const {
        return address ^ (((address >> 7) - phase) & permuted) << 4;
    }
};

/// Copies pieces of 16 bytes and checks that they are in shared memory.
struct PieceReader {
    const Descriptor& descriptor;
    const std::byte* shared;
    std::uint32_t limit; // the last offset at which a piece may begin
    std::uint32_t outside = 0;
    bool is_outside = false;

    [[gnu::always_inline]] void copy(std::uint32_t address, std::byte* to) {
        const std::uint32_t offset = descriptor.place(address);
        if (offset > limit) [[unlikely]] {
            outside = offset;
            is_outside = true;
            return;
        }
        __builtin_memcpy(to, shared + offset, PIECE_BYTES);
    }
};

/// Reads rows whose elements are adjacent, into an image of these rows.
void read_rows(PieceReader& reader, unsigned rows, unsigned row_bytes, std::byte* image) {
    const Descriptor& descriptor = reader.descriptor;
    const std::uint32_t width = descriptor.width;
    for (unsigned piece = 0; piece < row_bytes; piece += PIECE_BYTES) {
        const std::uint32_t column =
            descriptor.start + piece / width * descriptor.leading + piece % width;
        for (unsigned row = 0; row < rows; row += CORE_ROWS) {
            const std::uint32_t first = column + row / CORE_ROWS * descriptor.stride;
            std::byte* const to = image + std::size_t{row} * row_bytes + piece;
#pragma GCC unroll 8
            for (unsigned i = 0; i < CORE_ROWS; ++i) {
                reader.copy(first + i * width, to + std::size_t{i} * row_bytes);
            }
        }
    }
}

/// Reads a matrix of 16-bit elements whose columns are adjacent, into an image of its columns.
void read_columns(PieceReader& reader, unsigned rows, unsigned columns, std::byte* image) {
    const Descriptor& descriptor = reader.descriptor;
    const std::uint32_t width = descriptor.width;
    const unsigned pieces = width / PIECE_BYTES; // next to each other
    const bool is_plain = width == PIECE_BYTES;
    const std::uint32_t along = is_plain ? descriptor.stride : descriptor.leading;
    const std::uint32_t across = is_plain ? descriptor.leading : descriptor.stride;
    for (unsigned column = 0; column < columns; ++column) {
        const std::uint32_t line =
            descriptor.start + column / CORE_ROWS * across + column % CORE_ROWS * width;
        for (unsigned piece = 0; piece < rows / 8; ++piece) {
            reader.copy(line + piece / pieces * along + piece % pieces * PIECE_BYTES,
                        image + (std::size_t{column} * rows + std::size_t{piece} * 8) * 2);
        }
    }
}

/// Widens an image of a factor. Integers become floats.
void widen_factor(E element, const std::uint32_t* image, unsigned elements, float* to) {
    if (element == E::S8) {
        const auto* const bytes = reinterpret_cast<const Aliased<std::int8_t>::Value*>(image);
        for (unsigned i = 0; i < elements; ++i) {
            to[i] = static_cast<float>(bytes[i]);
        }
    } else if (element == E::U8) {
        const auto* const bytes = reinterpret_cast<const Aliased<std::uint8_t>::Value*>(image);
        for (unsigned i = 0; i < elements; ++i) {
            to[i] = static_cast<float>(bytes[i]);
        }
    } else {
        widen_elements(element, image, elements / elements_per_word(element), to);
    }
}

// ---- B -----------------------------------------------------------------------------------------

/// Vectors for the transposition of four columns. FIRST is 0 or 2.
template <unsigned WIDTH>
struct Strip;

template <>
struct Strip<8> {
    typedef float Value __attribute__((vector_size(32)));
    typedef float Memory __attribute__((vector_size(32), aligned(4), may_alias));

    /// Interleaves elements FIRST and FIRST + 1 of every group of four.
    template <int FIRST>
    [[gnu::always_inline]] static Value interleave(Value a, Value b) {
        if constexpr (FIRST == 0) {
            return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
        } else {
            return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
        }
    }

    /// Joins elements FIRST and FIRST + 1 of every group of four.
    template <int FIRST>
    [[gnu::always_inline]] static Value join(Value a, Value b) {
        if constexpr (FIRST == 0) {
            return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        } else {
            return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
};

template <>
struct Strip<16> {
    typedef float Value __attribute__((vector_size(64)));
    typedef float Memory __attribute__((vector_size(64), aligned(4), may_alias));

    /// Interleaves elements FIRST and FIRST + 1 of every group of four.
    template <int FIRST>
    [[gnu::always_inline]] static Value interleave(Value a, Value b) {
        if constexpr (FIRST == 0) {
            return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28,
                                           13, 29);
        } else {
            return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30,
                                           15, 31);
        }
    }

    /// Joins elements FIRST and FIRST + 1 of every group of four.
    template <int FIRST>
    [[gnu::always_inline]] static Value join(Value a, Value b) {
        if constexpr (FIRST == 0) {
            return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13,
                                           28, 29);
        } else {
            return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15,
                                           30, 31);
        }
    }
};

/// Arranges B, stored by columns, in quads.
template <unsigned WIDTH>
void arrange_columns(const float* image, unsigned n, unsigned k, float* columns) {
    using S = Strip<WIDTH>;
    using V = typename S::Value;
    using M = typename S::Memory;
    for (unsigned quad = 0; quad < n / 4; ++quad) {
        const float* const first = image + std::size_t{quad / 2 * 8 + quad % 2} * k;
        float* const to = columns + std::size_t{quad} * k * 4;
        for (unsigned block = 0; block < k; block += WIDTH) {
            const V c0 = *reinterpret_cast<const M*>(first + block);
            const V c1 = *reinterpret_cast<const M*>(first + 2 * k + block);
            const V c2 = *reinterpret_cast<const M*>(first + 4 * k + block);
            const V c3 = *reinterpret_cast<const M*>(first + 6 * k + block);
            const V low01 = S::template interleave<0>(c0, c1);
            const V high01 = S::template interleave<2>(c0, c1);
            const V low23 = S::template interleave<0>(c2, c3);
            const V high23 = S::template interleave<2>(c2, c3);
            M* const out = reinterpret_cast<M*>(to + block * 4);
            out[0] = S::template join<0>(low01, low23);
            out[1] = S::template join<2>(low01, low23);
            out[2] = S::template join<0>(high01, high23);
            out[3] = S::template join<2>(high01, high23);
        }
    }
}

/// Arranges B, stored by rows, in quads.
void arrange_rows(const float* image, unsigned n, unsigned k, float* columns) {
    for (unsigned row = 0; row < k; ++row) {
        float* to = columns + place_in_columns(row, k) * 4;
        const float* from = image + std::size_t{row} * n;
        for (unsigned tile = 0; tile < n / 8; ++tile, from += 8) {
            for (unsigned i = 0; i < 4; ++i) {
                to[i] = from[2 * i];
                to[std::size_t{k} * 4 + i] = from[2 * i + 1];
            }
            to += std::size_t{k} * 8;
        }
    }
}

/// Returns the exponent of a format's subnormal numbers.
int smallest_exponent(E element) {
    switch (element) {
    case E::F16:
    case E::E5M2:
        return -14;
    case E::E4M3:
        return -6;
    default:
        return -126;
    }
}

bool has_special_value(const float* values, std::size_t count) {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        found |= static_cast<std::uint32_t>((bits_from(values[i]) & 0x7f800000u) == 0x7f800000u);
    }
    return found != 0;
}

// ---- A -----------------------------------------------------------------------------------------

/// Finds the position of every stored element of the 16 rows of a warp. Returns whether a chunk
/// names a position twice.
bool find_positions(const Aliased<std::uint32_t>::Value* lanes, const GroupProduct& product,
                    unsigned selector, Positions& positions) {
    const bool is_single = product.a == E::TF32;
    const unsigned length = is_single ? 2 : 4;
    const bool is_shared = elements_per_word(product.a) <= 2; // by the rows g and g + 8
    bool has_twice = false;
    for (unsigned row = 0; row < WARP_ROWS; ++row) {
        const unsigned is_lower = row / 8;
        std::uint8_t* to = positions.rows[row];
        for (unsigned chunk = 0; chunk < product.k / length; ++chunk) {
            const unsigned lane =
                row % 8 * 4 + (is_shared ? 2 * selector + chunk / 4 : chunk / 8 * 2 + is_lower);
            const unsigned index = is_shared ? chunk % 4 + 4 * is_lower : chunk % 8;
            const unsigned bits = lanes[lane] >> (4 * index) & 0xf;
            const unsigned first = chunk * length;
            if (is_single) { // an H200 ignores the lower two bits, and leaves out other elements
                constexpr unsigned PLACES[] = {Positions::NOWHERE, 0, Positions::NOWHERE, 1};
                const unsigned place = PLACES[bits >> 2];
                *to++ =
                    static_cast<std::uint8_t>(place == Positions::NOWHERE ? place : first + place);
            } else {
                has_twice |= (bits & 3) == bits >> 2;
                *to++ = static_cast<std::uint8_t>(first + (bits & 3));
                *to++ = static_cast<std::uint8_t>(first + (bits >> 2));
            }
        }
    }
    return has_twice;
}

/// Repeats each element of A in the four lanes of its row. `line` and `step` are the distances in
/// `a` between rows and between elements of a row.
[[gnu::always_inline]] inline void repeat_rows(const float* a, unsigned k, unsigned line,
                                               unsigned step, float sign, float* rows) {
    typedef float Four __attribute__((vector_size(16), aligned(16), may_alias));
    for (unsigned i = 0; i < k; ++i) {
        Four* const to = reinterpret_cast<Four*>(rows + std::size_t{i} * 64);
#pragma GCC unroll 16
        for (unsigned row = 0; row < WARP_ROWS; ++row) {
            to[row] = Four{} + a[row * line + i * step] * sign;
        }
    }
}

} // namespace

bool read_image(WarpContext& warp, const Instruction* at, std::uint64_t bits, unsigned rows,
                unsigned row_bytes, bool is_transposed, bool is_b, std::uint32_t* image) {
    const BlockContext& block = *warp.block;
    const Descriptor descriptor(bits);
    // A piece that begins at or before the limit ends inside; addresses are multiples of 16.
    PieceReader reader{descriptor, block.shared,
                       block.shared_bytes < PIECE_BYTES ? 0 : block.shared_bytes - PIECE_BYTES};
    reader.is_outside = block.shared_bytes < PIECE_BYTES;
    if (!reader.is_outside) {
        auto* const to = reinterpret_cast<std::byte*>(image);
        if (is_transposed) {
            read_columns(reader, rows, row_bytes / 2, to);
        } else {
            read_rows(reader, rows, row_bytes, to);
        }
    }
    if (reader.is_outside) {
        (void)warpgroup::raise_outside(warp, at, bits, reader.outside, is_b);
    }
    return !reader.is_outside;
}

void read_registers(const WarpContext& warp, const Instruction* at, const std::byte* frame,
                    std::uint32_t* image) {
    constexpr unsigned ROW_BYTES = 32;
    auto* const to = reinterpret_cast<std::byte*>(image);
    for (unsigned i = 0; i < WARPGROUP_A_COUNT; ++i) {
        const Operand operand = any_source(warp, at, WARPGROUP_A_SOURCE + i);
        const std::byte* const lanes = operand.bits >> Operand::OFFSET_BITS == 0
                                           ? frame + operand.bits
                                           : locate(warp, operand);
        for (unsigned row = 0; row < CORE_ROWS; ++row) {
            __builtin_memcpy(to + (row + i % 2 * CORE_ROWS) * ROW_BYTES + i / 2 * PIECE_BYTES,
                             lanes + row * PIECE_BYTES, PIECE_BYTES);
        }
    }
}

const Instruction* GroupFactors::read(WarpContext& warp, const Instruction* at,
                                      const GroupProduct& product,
                                      const warpgroup::Meeting& meeting) {
    alignas(64) std::uint32_t image[MAX_N * MAX_K / 4];
    alignas(64) float numbers[MAX_N * MAX_K];
    const unsigned per_word = elements_per_word(product.b);
    const bool by_rows = (at->tag & WARPGROUP_B_ROW) != 0;
    if (!read_image(warp, at, meeting.b, product.n, product.k * 4 / per_word, by_rows, true,
                    image)) {
        return nullptr;
    }
    widen_factor(product.b, image, product.n * product.k, numbers);
    has_special = product.is_sparse && has_special_value(numbers, product.n * product.k);
    if (by_rows) {
        arrange_rows(numbers, product.n, product.k, columns);
    } else if (column_width(product.k) == WIDE) {
        arrange_columns<WIDE>(numbers, product.n, product.k, columns);
    } else {
        arrange_columns<NARROW>(numbers, product.n, product.k, columns);
    }
    if (product.d != E::S32) {
        find_exponents(columns, std::size_t{product.n} * product.k, smallest_exponent(product.b),
                       column_exponents);
    }
    if (!product.a_in_registers) {
        if (!read_image(warp, at, meeting.a, WARPGROUP_ROWS, 32,
                        (at->tag & WARPGROUP_A_COLUMN) != 0, false, image)) {
            return nullptr;
        }
        widen_factor(product.a, image, WARPGROUP_ROWS * product.stored, shared_a);
    }
    return at + 1;
}

void GroupFactors::take_rows(const WarpContext& warp, const Instruction* at,
                             const GroupProduct& product, const warpgroup::Meeting& meeting,
                             unsigned index) {
    alignas(64) float numbers[WARP_ROWS * MAX_STORED];
    const unsigned stored = product.stored;
    const float* a = numbers;
    unsigned line = stored;
    unsigned step = 1;
    if (product.a_in_registers) {
        alignas(64) std::uint32_t image[WARP_ROWS * 8];
        read_registers(warp, at, meeting.frames[index], image);
        widen_factor(product.a, image, WARP_ROWS * stored, numbers);
    } else if ((at->tag & WARPGROUP_A_COLUMN) != 0) {
        a = shared_a + index * WARP_ROWS;
        line = 1;
        step = WARPGROUP_ROWS;
    } else {
        a = shared_a + std::size_t{index} * WARP_ROWS * stored;
    }
    const float sign = (at->tag & WARPGROUP_NEGATED) != 0 ? -1.0f : 1.0f;
    is_selected = false;
    if (!product.is_sparse) {
        if (step == 1) {
            repeat_rows(a, stored, stored, 1, sign, rows);
        } else {
            repeat_rows(a, stored, 1, WARPGROUP_ROWS, sign, rows);
        }
        find_row_exponents(product);
        return;
    }
    const std::byte* const metadata = at->src[2].bits >> Operand::OFFSET_BITS == 0
                                          ? meeting.frames[index] + at->src[2].bits
                                          : locate(warp, at->src[2]);
    const bool has_twice =
        find_positions(reinterpret_cast<const Aliased<std::uint32_t>::Value*>(metadata), product,
                       (at->tag & WARPGROUP_SELECTOR) != 0 ? 1 : 0, positions);
    for (unsigned row = 0; row < WARP_ROWS; ++row) {
        for (unsigned i = 0; i < stored; ++i) {
            selected[row * stored + i] = a[row * line + i * step] * sign;
        }
    }
    // Integers of one position are simply added.
    is_selected = has_special || (has_twice && product.d != E::S32);
    if (is_selected) {
        find_exponents(selected, std::size_t{WARP_ROWS} * stored, smallest_exponent(product.a),
                       row_exponents);
        return;
    }
    alignas(64) float dense[WARP_ROWS * MAX_K] = {};
    for (unsigned row = 0; row < WARP_ROWS; ++row) {
        for (unsigned i = 0; i < stored; ++i) {
            if (positions.rows[row][i] != Positions::NOWHERE) {
                dense[row * product.k + positions.rows[row][i]] += selected[row * stored + i];
            }
        }
    }
    repeat_rows(dense, product.k, product.k, 1, 1.0f, rows);
    find_row_exponents(product);
}

void GroupFactors::find_row_exponents(const GroupProduct& product) {
    if (product.d != E::S32) {
        find_exponents(rows, std::size_t{product.k} * 64, smallest_exponent(product.a),
                       row_exponents);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
