// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// wgmma.mma_async: D = A * B + D, 64 rows of D in the registers of four warps.
//
// A register of D holds, in lane 4g + t, the element of row g and column 2t (or 2t + 1) of a tile
// of 8 x 8. The product is computed in this order of lanes, so D is never rearranged:
//   - `Rows` holds A as floats; each element is repeated in the four lanes of its row;
//   - `Columns` holds B as floats in quads: the four even or the four odd columns of a tile, for
//   one
//     k. A quad is repeated in all rows of a vector.
// A vector of D then grows by one vector of `Rows` times one repeated quad, for every k.
//
// Floats are added as a GPU adds them: see warpgroup_sums.hpp. Integers are multiplied as floats
// too, but exactly: 32 products of 16 bits fit a float, and their sum is added to D as an integer.
// A sparse A is multiplied as a dense one with zeros, unless B has an infinity or a NaN.

#include "interp/warpgroup.hpp"

#include "interp/handlers/functions.hpp"
#include "interp/handlers/matrix_product.hpp"
#include "interp/handlers/warpgroup_operands.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using E = MatrixElement;
using warpgroup::Meeting;

constexpr unsigned MAX_N = 256;
constexpr unsigned MAX_REGISTERS = MAX_N / 2; // of D
constexpr unsigned WARP_ROWS = WARPGROUP_ROWS / warpgroup::WARPS;
constexpr unsigned QUAD = 4;
constexpr unsigned ROW_FLOATS = WARP_ROWS * QUAD; // one k of `Rows`

/// Where the registers of D are read and written: an offset from a base for each.
struct Accumulators {
    const std::byte* from = nullptr; // nullptr: all zeros
    const std::uint32_t* from_offsets = nullptr;
    std::byte* to = nullptr;
    const std::uint32_t* to_offsets = nullptr;
};

/// The offsets of consecutive registers in a buffer of floats.
struct BufferOffsets {
    std::uint32_t offsets[MAX_REGISTERS] = {};

    constexpr BufferOffsets() {
        for (unsigned i = 0; i < MAX_REGISTERS; ++i) {
            offsets[i] = static_cast<std::uint32_t>(i * WARP_SIZE * sizeof(float));
        }
    }
};

constexpr BufferOffsets BUFFER_OFFSETS;

[[gnu::always_inline]] inline Vector<float> repeated_quad(const float* quad) {
#if defined(__AVX512F__)
    // NOTE: not _mm512_broadcast_f32x4, which makes g++ 12 warn of an uninitialised value.
    return _mm512_maskz_broadcast_f32x4(0xffff, _mm_loadu_ps(quad));
#elif defined(__AVX2__)
    return _mm256_broadcast_ps(reinterpret_cast<const __m128*>(quad));
#else
    return load<float>(reinterpret_cast<const std::byte*>(quad), 0);
#endif
}

[[gnu::always_inline]] inline Vector<float> multiply_add(Vector<float> a, Vector<float> b,
                                                         Vector<float> c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c; // the product of two halves is exact
#endif
}

/// Computes COUNT quads of columns for all 16 rows of a warp. Quads 2j and 2j + 1 are tile j.
template <unsigned WIDTH, unsigned COUNT>
[[gnu::always_inline]] inline void multiply_quads_of(const float* rows, const float* columns,
                                                     unsigned k, unsigned first_quad,
                                                     const Accumulators& d) {
    constexpr unsigned VECTORS = ROW_FLOATS / LANES<float>; // of all rows
    constexpr unsigned TOGETHER = 4;
    constexpr unsigned PER_REGISTER = CHUNKS<float>;
    const float* const quads = columns + std::size_t{first_quad} * k * QUAD;
    for (unsigned first = 0; first < VECTORS; first += TOGETHER) {
        Vector<float> sums[COUNT][TOGETHER];
#pragma GCC unroll 8
        for (unsigned c = 0; c < COUNT; ++c) {
#pragma GCC unroll 4
            for (unsigned v = 0; v < TOGETHER; ++v) {
                const unsigned quad = first_quad + c;
                const unsigned half = (first + v) / PER_REGISTER;
                const unsigned index = quad / 2 * 4 + half * 2 + quad % 2;
                sums[c][v] = d.from == nullptr ? Vector<float>{}
                                               : load<float>(d.from + d.from_offsets[index],
                                                             (first + v) % PER_REGISTER);
            }
        }
        for (unsigned block = 0; block < k; block += WIDTH) {
#pragma GCC unroll 1
            for (unsigned part = 0; part < WIDTH / QUAD; ++part) {
#pragma GCC unroll 4
                for (unsigned i = 0; i < QUAD; ++i) {
                    const float* const line =
                        rows + (block + part * QUAD + i) * ROW_FLOATS + first * LANES<float>;
                    Vector<float> row[TOGETHER];
#pragma GCC unroll 4
                    for (unsigned v = 0; v < TOGETHER; ++v) {
                        row[v] = load<float>(reinterpret_cast<const std::byte*>(line), v);
                    }
                    const float* const quad = quads + (block + i * (WIDTH / QUAD) + part) * QUAD;
#pragma GCC unroll 8
                    for (unsigned c = 0; c < COUNT; ++c) {
                        const Vector<float> column =
                            repeated_quad(quad + std::size_t{c} * k * QUAD);
#pragma GCC unroll 4
                        for (unsigned v = 0; v < TOGETHER; ++v) {
                            sums[c][v] = multiply_add(row[v], column, sums[c][v]);
                        }
                    }
                }
            }
        }
#pragma GCC unroll 8
        for (unsigned c = 0; c < COUNT; ++c) {
#pragma GCC unroll 4
            for (unsigned v = 0; v < TOGETHER; ++v) {
                const unsigned quad = first_quad + c;
                const unsigned half = (first + v) / PER_REGISTER;
                const unsigned index = quad / 2 * 4 + half * 2 + quad % 2;
                store<float>(d.to + d.to_offsets[index], (first + v) % PER_REGISTER,
                             canonical(sums[c][v]));
            }
        }
    }
}

/// Computes D of one warp.
template <unsigned WIDTH>
[[gnu::noinline]] void multiply_warp(const float* rows, const float* columns, unsigned n,
                                     unsigned k, const Accumulators& d) {
    // As many quads at a time as the registers of the machine hold sums for.
    constexpr unsigned TOGETHER = VECTOR_BYTES == 64 ? 4 : 2;
    const unsigned quads = n / QUAD;
    unsigned quad = 0;
    for (; quad + TOGETHER <= quads; quad += TOGETHER) {
        multiply_quads_of<WIDTH, TOGETHER>(rows, columns, k, quad, d);
    }
    if (quad < quads) { // n is a multiple of 8
        multiply_quads_of<WIDTH, 2>(rows, columns, k, quad, d);
    }
}

void multiply_rows(const float* rows, const float* columns, unsigned n, unsigned k,
                   const Accumulators& d) {
    if (column_width(k) == WIDE) {
        multiply_warp<WIDE>(rows, columns, n, k, d);
    } else {
        multiply_warp<NARROW>(rows, columns, n, k, d);
    }
}

// ---- products of floats ------------------------------------------------------------------------

/// Computes D of one warp in the way of an H200.
void add_products(const GroupProduct& product, const GroupFactors& factors, const Accumulators& d) {
    const SumFormat format =
        sum_format(elements_per_word(product.a) == 4, product.d == MatrixElement::F16);
    for (unsigned quad = 0; quad < product.n / QUAD; ++quad) {
        const std::size_t first = std::size_t{quad} * product.k * QUAD;
        const SumFactors own{factors.rows, factors.row_exponents, factors.columns + first,
                             factors.column_exponents + first, product.k};
        const float* from[2] = {};
        float* to[2];
        for (unsigned half = 0; half < 2; ++half) {
            const unsigned index = quad / 2 * 4 + half * 2 + quad % 2;
            to[half] = reinterpret_cast<float*>(d.to + d.to_offsets[index]);
            if (d.from != nullptr) {
                from[half] = reinterpret_cast<const float*>(d.from + d.from_offsets[index]);
            }
        }
        add_registers(own, format, from, to);
    }
}

/// Computes D of one warp element by element, for a sparse A: its zeros are not multiplied.
void add_selected(const GroupProduct& product, const GroupFactors& factors, const Accumulators& d) {
    const SumFormat format =
        sum_format(elements_per_word(product.a) == 4, product.d == MatrixElement::F16);
    for (unsigned row = 0; row < WARP_ROWS; ++row) {
        for (unsigned column = 0; column < product.n; ++column) {
            const unsigned quad = column / 8 * 2 + column % 2;
            const unsigned t = column % 8 / 2;
            const unsigned index = column / 8 * 4 + row / 8 * 2 + column % 2;
            const std::size_t lane = (row % 8 * QUAD + t) * sizeof(float);
            float a[Positions::MAX_STORED];
            float b[Positions::MAX_STORED];
            std::int16_t a_exponents[Positions::MAX_STORED];
            std::int16_t b_exponents[Positions::MAX_STORED];
            unsigned count = 0;
            for (unsigned i = 0; i < product.stored; ++i) {
                const unsigned position = factors.positions.rows[row][i];
                if (position == Positions::NOWHERE) {
                    continue;
                }
                const std::size_t at =
                    (std::size_t{quad} * product.k + place_in_columns(position, product.k)) * QUAD +
                    t;
                a[count] = factors.selected[row * product.stored + i];
                a_exponents[count] = factors.row_exponents[row * product.stored + i];
                b[count] = factors.columns[at];
                b_exponents[count++] = factors.column_exponents[at];
            }
            float c = 0;
            if (d.from != nullptr) {
                __builtin_memcpy(&c, d.from + d.from_offsets[index] + lane, sizeof c);
            }
            const float sum = add_element(a, a_exponents, b, b_exponents, count, c, format);
            __builtin_memcpy(d.to + d.to_offsets[index] + lane, &sum, sizeof sum);
        }
    }
}

// ---- accumulators of other types ---------------------------------------------------------------

/// Widens registers with two halves each: the halves of register 2j + h become the registers
/// 4j + 2h and 4j + 2h + 1 of a buffer.
void widen_halves(const std::byte* base, const std::uint32_t* offsets, unsigned registers,
                  float* buffer) {
    for (unsigned i = 0; i < registers; ++i) {
        const auto* const words =
            reinterpret_cast<const Aliased<std::uint32_t>::Value*>(base + offsets[i]);
        float* const to = buffer + 2 * i * WARP_SIZE;
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            to[lane] = half_to_float(words[lane] & 0xffffu);
            to[WARP_SIZE + lane] = half_to_float(words[lane] >> 16);
        }
    }
}

void narrow_halves(const float* buffer, unsigned registers, std::byte* base,
                   const std::uint32_t* offsets) {
    for (unsigned i = 0; i < registers; ++i) {
        auto* const words = reinterpret_cast<Aliased<std::uint32_t>::Value*>(base + offsets[i]);
        const float* const from = buffer + 2 * i * WARP_SIZE;
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            const std::uint32_t low = float_to_half(from[lane]);
            const std::uint32_t high = float_to_half(from[WARP_SIZE + lane]);
            // A sum that becomes zero by rounding is positive.
            words[lane] = (low == 0x8000u ? 0 : low) | (high == 0x8000u ? 0 : high) << 16;
        }
    }
}

/// Adds sums, which are whole numbers, to registers of integers.
void add_sums(const float* buffer, const std::byte* from, const std::uint32_t* from_offsets,
              unsigned registers, std::byte* base, const std::uint32_t* offsets,
              bool is_saturating) {
    using Word = Aliased<std::int32_t>::Value;
    for (unsigned i = 0; i < registers; ++i) {
        auto* const to = reinterpret_cast<Word*>(base + offsets[i]);
        const float* const sums = buffer + i * WARP_SIZE;
        for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
            const auto sum = static_cast<std::int32_t>(sums[lane]);
            const std::int32_t old =
                from == nullptr ? 0 : reinterpret_cast<const Word*>(from + from_offsets[i])[lane];
            std::int32_t total = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                                           static_cast<std::uint32_t>(old));
            if (is_saturating && ((old ^ total) & (sum ^ total)) < 0) {
                total = old < 0 ? -0x7fffffff - 1 : 0x7fffffff;
            }
            to[lane] = total;
        }
    }
}

// ---- the instruction ---------------------------------------------------------------------------

/// The registers of D, as sources and as destinations.
struct Results {
    std::uint32_t to[MAX_REGISTERS]; // offsets in the frame
    unsigned count;
    unsigned first_source;
    bool is_in_place; // the sources are the destinations

    Results(const WarpContext& warp, const Instruction* at, const GroupProduct& product)
        : count(product.n / (product.d == E::F16 ? 4 : 2)),
          first_source(WARPGROUP_A_SOURCE + (product.a_in_registers ? WARPGROUP_A_COUNT : 1)) {
        std::uint32_t difference = 0;
        for (unsigned i = 0; i < count; ++i) {
            to[i] = any_destination(warp, at, i).bits;
            difference |= to[i] ^ any_source(warp, at, first_source + i).bits;
        }
        is_in_place = difference == 0;
    }
};

/// Copies the sources of D to a buffer, for the rare case that they are other registers: a
/// destination may then overlap the source of another one.
void copy_sources(const WarpContext& warp, const Instruction* at, const std::byte* frame,
                  const Results& results, float* buffer) {
    for (unsigned i = 0; i < results.count; ++i) {
        const Operand operand = any_source(warp, at, results.first_source + i);
        const std::byte* const from = operand.bits >> Operand::OFFSET_BITS == 0
                                          ? frame + operand.bits
                                          : locate(warp, operand);
        __builtin_memcpy(buffer + i * WARP_SIZE, from, WARP_SIZE * sizeof(float));
    }
}

/// Computes D of one warp from its rows of A, and stores it.
void finish_warp(const WarpContext& warp, const Instruction* at, const GroupProduct& product,
                 const GroupFactors& factors, unsigned index, const Meeting& meeting,
                 const Results& results) {
    alignas(VECTOR_BYTES) float sources[MAX_REGISTERS * WARP_SIZE];
    alignas(VECTOR_BYTES) float sums[MAX_REGISTERS * WARP_SIZE];
    std::byte* const frame = meeting.frames[index];
    const std::byte* from = nullptr;
    const std::uint32_t* from_offsets = results.to;
    if (meeting.adds) {
        from = frame;
        if (!results.is_in_place) {
            copy_sources(warp, at, frame, results, sources);
            from = reinterpret_cast<const std::byte*>(sources);
            from_offsets = BUFFER_OFFSETS.offsets;
        }
    }
    Accumulators d{from, from_offsets, frame, results.to};
    const bool is_direct = product.d == E::F32;
    if (!is_direct) {
        d.to = reinterpret_cast<std::byte*>(sums);
        d.to_offsets = BUFFER_OFFSETS.offsets;
        d.from = nullptr;
        if (product.d == E::F16 && from != nullptr) {
            widen_halves(from, from_offsets, results.count, sums);
            d.from = d.to;
            d.from_offsets = d.to_offsets;
        }
    }
    if (factors.is_selected) {
        add_selected(product, factors, d);
    } else if (product.d != E::S32) {
        add_products(product, factors, d);
    } else {
        multiply_rows(factors.rows, factors.columns, product.n, product.k, d);
    }
    if (product.d == E::F16) {
        narrow_halves(sums, results.count, frame, results.to);
    } else if (!is_direct) {
        add_sums(sums, from, from_offsets, results.count, frame, results.to, product.is_saturating);
    }
}

} // namespace

const Instruction* multiply_warpgroup(WarpContext& warp, const Instruction* at,
                                      std::uint32_t mask) {
    Meeting meeting;
    if (!warpgroup::meet(warp, at, mask, meeting)) {
        return nullptr;
    }
    const GroupProduct product(at);
    GroupFactors factors;
    if (const Instruction* const stop = factors.read(warp, at, product, meeting); stop == nullptr) {
        return nullptr;
    }
    const Results results(warp, at, product);
    for (unsigned i = 0; i < warpgroup::WARPS; ++i) {
        factors.take_rows(warp, at, product, meeting, i);
        finish_warp(warp, at, product, factors, i, meeting, results);
    }
    warpgroup::release(warp);
    return at + 1;
}

/// b1: counts the bits that a row of A and a column of B both have.
const Instruction* multiply_warpgroup_bits(WarpContext& warp, const Instruction* at,
                                           std::uint32_t mask) {
    Meeting meeting;
    if (!warpgroup::meet(warp, at, mask, meeting)) {
        return nullptr;
    }
    constexpr unsigned ROW_WORDS = 8;
    const GroupProduct product(at);
    alignas(VECTOR_BYTES) std::uint32_t a[WARPGROUP_ROWS * ROW_WORDS];
    alignas(VECTOR_BYTES) std::uint32_t b[MAX_N * ROW_WORDS];
    if (!read_image(warp, at, meeting.b, product.n, ROW_WORDS * 4, false, true, b) ||
        (!product.a_in_registers &&
         !read_image(warp, at, meeting.a, WARPGROUP_ROWS, ROW_WORDS * 4, false, false, a))) {
        return nullptr;
    }
    const Results results(warp, at, product);
    for (unsigned w = 0; w < warpgroup::WARPS; ++w) {
        const std::uint32_t* rows = a + w * WARP_ROWS * ROW_WORDS;
        if (product.a_in_registers) {
            read_registers(warp, at, meeting.frames[w], a);
            rows = a;
        }
        alignas(VECTOR_BYTES) float sources[MAX_REGISTERS * WARP_SIZE];
        if (meeting.adds) {
            copy_sources(warp, at, meeting.frames[w], results, sources);
        } else {
            __builtin_memset(sources, 0, sizeof sources);
        }
        const auto* const old = reinterpret_cast<const Aliased<std::uint32_t>::Value*>(sources);
        for (unsigned i = 0; i < results.count; ++i) {
            auto* const to =
                reinterpret_cast<Aliased<std::uint32_t>::Value*>(meeting.frames[w] + results.to[i]);
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                const std::uint32_t* const row = rows + (lane / 4 + i / 2 % 2 * 8) * ROW_WORDS;
                const std::uint32_t* const column =
                    b + (i / 4 * 8 + lane % 4 * 2 + i % 2) * ROW_WORDS;
                std::uint32_t sum = old[i * WARP_SIZE + lane];
                for (unsigned word = 0; word < ROW_WORDS; ++word) {
                    sum += static_cast<std::uint32_t>(__builtin_popcount(row[word] & column[word]));
                }
                to[lane] = sum;
            }
        }
    }
    warpgroup::release(warp);
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
