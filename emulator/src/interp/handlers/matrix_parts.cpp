// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sp and mma.block_scale: D = A * B + C. With mma.sp, half of A is zero and not stored. With
// mma.block_scale, parts of the rows of A and of the columns of B have scales. Both can be
// combined.
//
// A sparse A is stored as a dense matrix with half the columns. Each chunk of a row (four elements;
// two for tf32, four pairs for 4-bit elements) stores half of its elements. Four bits of metadata
// give their positions as two indexes of two bits each. A tf32 chunk stores one element, and its
// indexes name the halves of that element; an H200 only tests whether the second index is the
// chunk's last. Zeros are left out of the sum: they are not multiplied, not even with an infinity.
//
// The metadata of rows g and g + 8 lies in lanes 4g to 4g + 3: in one of them, which the selector
// names, in two, or in all four. The scales of these rows come from two neighbouring lanes, and
// those of column g from one. Each lane's word holds one scale per byte, for each part of its row
// or column.
//
// Without scales, products of floats are added to C as those of a dense A with the stored elements.
// With scales, the products of a part are added one after the other in single precision; their sum
// is scaled and added to C in double precision, and rounded once.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/matrix_product.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using E = MatrixElement;

constexpr unsigned ROWS = 16;
constexpr unsigned COLUMNS = 8;
constexpr unsigned MAX_STORED = 64; // elements of A per row
constexpr unsigned MAX_SCALES = 4;

/// The row of B that each stored element of A belongs to.
struct Positions {
    std::uint8_t rows[ROWS][MAX_STORED];
};

/// Returns how many elements of a row four bits of metadata describe.
unsigned chunk_length(E element) {
    return element == E::TF32 ? 2 : elements_per_word(element) == 8 ? 8 : 4;
}

/// Returns the four bits of metadata of a chunk.
unsigned metadata_of(const Aliased<std::uint32_t>::Value* lanes, const Product& product,
                     unsigned selector, unsigned row, unsigned chunk) {
    const unsigned chunks = product.k / chunk_length(product.a);
    const unsigned is_lower = row / PIECE_ROWS;
    unsigned lane = row % PIECE_ROWS * PIECE_WORDS;
    unsigned index = chunk;
    if (chunks == 4) { // one lane has both rows
        lane += selector;
        index += 4 * is_lower;
    } else if (chunks == 8 && elements_per_word(product.a) <= 2) { // two, each half of both rows
        lane += 2 * selector + chunk / 4;
        index = chunk % 4 + 4 * is_lower;
    } else { // two or four lanes, each with one row or half of one
        lane += 2 * (chunks == 8 ? selector : chunk / 8) + is_lower;
        index = chunk % 8;
    }
    return lanes[lane] >> (4 * index) & 0xf;
}

void find_positions(const WarpContext& warp, const Instruction* at, const Product& product,
                    unsigned source, Positions& positions) {
    const auto* const lanes = lanes_of<std::uint32_t>(warp, any_source(warp, at, source));
    const unsigned selector = at->tag >> MATRIX_SELECTOR_SHIFT & 3;
    const unsigned length = chunk_length(product.a);
    const unsigned unit = length == 8 ? 2 : 1; // elements per index
    for (unsigned row = 0; row < ROWS; ++row) {
        std::uint8_t* to = positions.rows[row];
        for (unsigned chunk = 0; chunk < product.k / length; ++chunk) {
            const unsigned bits = metadata_of(lanes, product, selector, row, chunk);
            const unsigned first = chunk * length;
            if (length == 2) {
                *to++ = static_cast<std::uint8_t>(first + (bits >> 2 == 3 ? 1 : 0));
                continue;
            }
            const unsigned indexes[] = {bits & 3, bits >> 2};
            for (const unsigned index : indexes) {
                for (unsigned i = 0; i < unit; ++i) {
                    *to++ = static_cast<std::uint8_t>(first + index * unit + i);
                }
            }
        }
    }
}

/// Fills in the positions of a dense A: each element belongs to the row of B with its own number.
void fill_positions(const Product& product, Positions& positions) {
    for (auto& row : positions.rows) {
        for (unsigned i = 0; i < product.k; ++i) {
            row[i] = static_cast<std::uint8_t>(i);
        }
    }
}

/// Adds the products of stored elements `first` to `last` of a row to a row of sums.
template <typename T>
[[gnu::always_inline]] inline typename Neighbours<T>::Value
add_products(const T* a, const T* b, const std::uint8_t* positions, unsigned first, unsigned last,
             typename Neighbours<T>::Value sum) {
    using M = typename Neighbours<T>::Memory;
    for (unsigned i = first; i < last; ++i) {
        sum += *reinterpret_cast<const M*>(b + positions[i] * COLUMNS) * a[i];
    }
    return sum;
}

/// The common inputs of float and integer products: the factors, the positions of their elements,
/// and the number of the source after B.
template <typename T>
struct Factors {
    alignas(VECTOR_BYTES) T a[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) T b[MAX_ELEMENTS];
    Positions positions;
    unsigned stored; // elements per row
    unsigned next;

    Factors(const WarpContext& warp, const Instruction* at, const Product& product) {
        const bool is_sparse = (at->tag & MATRIX_SPARSE) != 0;
        stored = product.k >> (is_sparse ? 1 : 0);
        next = gather_numbers(warp, at, product, product.a, 0, product.m, stored, a);
        next = gather_rows_of_b(warp, at, product, next, b);
        if (is_sparse) {
            find_positions(warp, at, product, next + registers_of_c(product), positions);
        } else {
            fill_positions(product, positions);
        }
    }

    static unsigned registers_of_c(const Product& product) {
        return product.m * product.n / WARP_SIZE >> (product.c == E::F16 ? 1 : 0);
    }
};

// ---- scales ------------------------------------------------------------------------------------

struct Scales {
    double a[ROWS][MAX_SCALES];
    double b[COLUMNS][MAX_SCALES];
};

/// Widens `count` bytes of a word, starting with byte `first`.
void widen_scales(std::uint32_t word, unsigned first, unsigned count, bool is_ue4m3, double* to) {
    const std::uint32_t magnitudes = word & 0x7f7f7f7fu;
    float values[4];
    widen_elements(E::E4M3, &magnitudes, 1, values);
    for (unsigned i = 0; i < count; ++i) {
        const unsigned byte = (first + i) & 3;
        const std::uint32_t exponent = word >> (8 * byte) & 0xff;
        const double power = double_from(std::uint64_t{exponent + 1023 - 127} << 52);
        const double other = exponent == 0xff ? double_from(0x7ff8000000000000u) : power;
        to[i] = is_ue4m3 ? double{values[byte]} : other;
    }
}

void find_scales(const WarpContext& warp, const Instruction* at, unsigned source,
                 std::uint32_t mask, Scales& scales) {
    const unsigned count = at->tag >> MATRIX_SCALES_SHIFT & 7;
    const bool is_ue4m3 = (at->tag & MATRIX_SCALE_UE4M3) != 0;
    const auto lanes = [&](unsigned index) {
        return lanes_of<std::uint32_t>(warp, any_source(warp, at, source + index));
    };
    // All lanes name the same bytes and threads, so use those of the first.
    const auto lane = static_cast<unsigned>(__builtin_ctz(mask));
    const auto* const of_a = lanes(0);
    const auto* const of_b = lanes(3);
    const unsigned byte_a = lanes(1)[lane] & 3;
    const unsigned thread_a = lanes(2)[lane] & 1;
    const unsigned byte_b = lanes(4)[lane] & 3;
    const unsigned thread_b = lanes(5)[lane] & 3;
    for (unsigned row = 0; row < ROWS; ++row) {
        const unsigned from = row % PIECE_ROWS * PIECE_WORDS + 2 * thread_a + row / PIECE_ROWS;
        widen_scales(of_a[from], byte_a, count, is_ue4m3, scales.a[row]);
    }
    for (unsigned column = 0; column < COLUMNS; ++column) {
        widen_scales(of_b[column * PIECE_WORDS + thread_b], byte_b, count, is_ue4m3,
                     scales.b[column]);
    }
}

// ---- handlers ----------------------------------------------------------------------------------

const Instruction* multiply_floats(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr unsigned more = LANES<float>; // that add_floats() may read
    const Product product(at);
    const Factors<float> factors(warp, at, product);
    alignas(VECTOR_BYTES) float result[ROWS * COLUMNS];
    gather_floats(warp, at, product, factors.next, result);
    // Each row has rows of B of its own. Two equal rows of A are the least that can be multiplied.
    alignas(VECTOR_BYTES) float a[2 * MAX_STORED + more];
    alignas(VECTOR_BYTES) float b[MAX_STORED * COLUMNS + more];
    alignas(VECTOR_BYTES) float sums[2 * COLUMNS + more];
    const std::size_t row_bytes = factors.stored * sizeof(float);
    for (unsigned row = 0; row < ROWS; ++row) {
        float* const own = result + row * COLUMNS;
        for (unsigned i = 0; i < 2; ++i) {
            __builtin_memcpy(a + i * factors.stored, factors.a + row * factors.stored, row_bytes);
            __builtin_memcpy(sums + i * COLUMNS, own, COLUMNS * sizeof(float));
        }
        for (unsigned i = 0; i < factors.stored; ++i) {
            __builtin_memcpy(b + i * COLUMNS, factors.b + factors.positions.rows[row][i] * COLUMNS,
                             COLUMNS * sizeof(float));
        }
        add_floats(product, {.a = a, .b = b, .m = 2, .k = factors.stored}, sums);
        __builtin_memcpy(own, sums, COLUMNS * sizeof(float));
    }
    scatter_floats(warp, at, product, result, mask);
    return at + 1;
}

const Instruction* multiply_scaled(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using V = Neighbours<float>::Value;
    const Product product(at);
    const Factors<float> factors(warp, at, product);
    const bool is_sparse = (at->tag & MATRIX_SPARSE) != 0;
    const unsigned source =
        factors.next + Factors<float>::registers_of_c(product) + (is_sparse ? 1 : 0);
    Scales scales;
    find_scales(warp, at, source, mask, scales);
    const unsigned parts = at->tag >> MATRIX_SCALES_SHIFT & 7;
    const unsigned length = factors.stored / parts;
    alignas(VECTOR_BYTES) float result[ROWS * COLUMNS];
    gather_floats(warp, at, product, factors.next, result);
    for (unsigned row = 0; row < ROWS; ++row) {
        for (unsigned part = 0; part < parts; ++part) {
            const V sums =
                add_products(factors.a + row * factors.stored, factors.b,
                             factors.positions.rows[row], part * length, (part + 1) * length, V{});
            for (unsigned column = 0; column < COLUMNS; ++column) {
                float& to = result[row * COLUMNS + column];
                const double scale = scales.a[row][part] * scales.b[column][part];
                to = static_cast<float>(double{to} + double{sums[column]} * scale);
            }
        }
    }
    scatter_floats(warp, at, product, result, mask);
    return at + 1;
}

const Instruction* multiply_integers(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    using M = Neighbours<std::uint32_t>::Memory;
    using V = Neighbours<std::uint32_t>::Value;
    const Product product(at);
    const Factors<std::uint32_t> factors(warp, at, product);
    alignas(VECTOR_BYTES) std::uint32_t sums[ROWS * COLUMNS];
    for (unsigned row = 0; row < ROWS; ++row) {
        *reinterpret_cast<M*>(sums + row * COLUMNS) =
            add_products(factors.a + row * factors.stored, factors.b, factors.positions.rows[row],
                         0, factors.stored, V{});
    }
    add_integers(warp, at, product, factors.next, sums, mask);
    return at + 1;
}

} // namespace

Handler select_matrix_parts(const MatrixForm& form) {
    switch (form.a) {
    case E::S8:
    case E::U8:
    case E::S4:
    case E::U4:
        return multiply_integers;
    default:
        return form.is_scaled ? multiply_scaled : multiply_floats;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
