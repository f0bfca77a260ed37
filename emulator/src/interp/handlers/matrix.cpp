// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sync and wmma.mma: D = A * B + C.
//
// Floats. Products of f16, bf16, tf32 and 8-bit factors are exact in single precision (but for bf16
// and tf32 ones beyond its range). They are added to C one after the other, rounding to nearest
// each time; a GPU adds several at once, with fewer bits, so that the last bits differ. An f16
// accumulator is rounded once, at the end. f64 is a chain of fused multiply-adds. Integers are
// exact: they wrap, or saturate at the end with .satfinite.

#include "interp/handlers/half_common.hpp"
#include "interp/handlers/matrix_common.hpp"
#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

/// Most elements of a factor: 16 x 64 of 4 bits.
constexpr unsigned MAX_ELEMENTS = 1024;
/// Most elements of an accumulator.
constexpr unsigned MAX_RESULTS = 256;

/// Eight neighbours in a row of the result, which is always that wide or wider.
template <typename T>
struct Neighbours {
    static constexpr unsigned count = 8;
    typedef T Value __attribute__((vector_size(8 * sizeof(T))));
    typedef T Memory __attribute__((vector_size(8 * sizeof(T)), aligned(4), may_alias));
};

/// What an instruction multiplies, taken from its operands' description.
struct Product {
    unsigned m;
    unsigned n;
    unsigned k;
    MatrixElement c;
    MatrixElement d;
    bool is_fragment; // of wmma

    explicit Product(const Instruction* at)
        : m(static_cast<unsigned>(at->immediate & 0xff)),
          n(static_cast<unsigned>(at->immediate >> 8 & 0xff)),
          k(static_cast<unsigned>(at->immediate >> 16 & 0xffff)),
          c(static_cast<MatrixElement>(at->immediate >> 32 & 0xff)),
          d(static_cast<MatrixElement>(at->immediate >> 40 & 0xff)),
          is_fragment((at->tag & MATRIX_FRAGMENT) != 0) {}
};

/// Reads a factor from sources `first` on and returns the number of the source behind it.
/// `per_word` elements make a word; f16 factors of wmma have eight registers, needed or not.
template <typename Word>
unsigned gather_factor(const WarpContext& warp, const Instruction* at, const Product& product,
                       unsigned first, unsigned rows, unsigned per_word, bool is_padded,
                       Word* image) {
    constexpr unsigned PADDED_REGISTERS = 8;
    const unsigned row_words = product.k / per_word;
    const unsigned registers =
        product.is_fragment && is_padded ? PADDED_REGISTERS : rows * row_words / WARP_SIZE;
    if (product.is_fragment) {
        gather_words<Word>(warp, at, first, rows * row_words, false, image);
    } else {
        gather_pieces<Word>(warp, at, first, rows, row_words, image);
    }
    return first + registers;
}

/// Reads C: the words of its image.
template <typename Word>
void gather_result(const WarpContext& warp, const Instruction* at, const Product& product,
                   unsigned first, Word* image) {
    const bool is_packed = product.c == MatrixElement::F16;
    const unsigned words = product.m * product.n >> (is_packed ? 1 : 0);
    gather_words<Word>(warp, at, first, words, !is_packed, image);
}

/// Writes D.
template <typename Word>
void scatter_result(const WarpContext& warp, const Instruction* at, const Product& product,
                    const Word* image, std::uint32_t mask) {
    const bool is_packed = product.d == MatrixElement::F16;
    const unsigned words = product.m * product.n >> (is_packed ? 1 : 0);
    scatter_words<Word>(warp, at, words / WARP_SIZE, words, !is_packed, image, mask);
}

/// Turns the columns of B, as the image has them, into rows.
///
/// NOTE: not inlined: g++ would take the rows for uninitialised, not knowing that n and k are not
/// 0.
template <typename T>
[[gnu::noinline]] void columns_to_rows(const Product& product, const T* columns,
                                       T* __restrict rows) {
    constexpr unsigned COUNT = Neighbours<T>::count;
    for (unsigned first = 0; first < product.n; first += COUNT) {
        for (unsigned row = 0; row < product.k; ++row) {
            for (unsigned i = 0; i < COUNT; ++i) {
                rows[row * product.n + first + i] = columns[(first + i) * product.k + row];
            }
        }
    }
}

/// result += a * b, all stored by rows. Four rows at a time hide how long an addition takes.
template <typename T>
void multiply_add(const Product& product, const T* a, const T* b, T* result) {
    using V = typename Neighbours<T>::Value;
    using M = typename Neighbours<T>::Memory;
    const unsigned k = product.k;
    const unsigned n = product.n;
    for (unsigned column = 0; column < n; column += Neighbours<T>::count) {
        for (unsigned row = 0; row < product.m; row += 4) {
            M* to[4];
            for (unsigned i = 0; i < 4; ++i) {
                to[i] = reinterpret_cast<M*>(result + (row + i) * n + column);
            }
            V sum0 = *to[0];
            V sum1 = *to[1];
            V sum2 = *to[2];
            V sum3 = *to[3];
            const T* const factor = a + row * k;
            for (unsigned i = 0; i < k; ++i) {
                const V other = *reinterpret_cast<const M*>(b + i * n + column);
                sum0 += other * factor[i];
                sum1 += other * factor[k + i];
                sum2 += other * factor[2 * k + i];
                sum3 += other * factor[3 * k + i];
            }
            *to[0] = sum0;
            *to[1] = sum1;
            *to[2] = sum2;
            *to[3] = sum3;
        }
    }
}

// ---- floats ------------------------------------------------------------------------------------

/// An element of which so many make a word.
template <unsigned COUNT>
struct PackedOf {
    using Type = Aliased<std::uint32_t>::Value;
};

template <>
struct PackedOf<2> {
    using Type = Aliased<std::uint16_t>::Value;
};

template <>
struct PackedOf<4> {
    using Type = Aliased<std::uint8_t>::Value;
};

template <unsigned COUNT>
using Packed = typename PackedOf<COUNT>::Type;

template <MatrixElement E>
constexpr unsigned PER_WORD = E == MatrixElement::TF32                               ? 1
                              : E == MatrixElement::E4M3 || E == MatrixElement::E5M2 ? 4
                                                                                     : 2;

template <MatrixElement E>
[[gnu::always_inline]] inline float widen(std::uint32_t bits) {
    if constexpr (E == MatrixElement::F16) {
        return half_to_float(bits);
    } else if constexpr (E == MatrixElement::BF16) {
        return bfloat_to_float(bits);
    } else if constexpr (E == MatrixElement::TF32) {
        return float_from(bits & 0xffffe000u);
    } else if constexpr (E == MatrixElement::E5M2) {
        return half_to_float(bits << 8); // an f16 without the last eight bits
    } else {
        // 2^120 moves the exponent's bias from 7 to 127; the largest value stands for NaN.
        const float magnitude = float_from((bits & 0x7fu) << 20) * float_from(0x7b800000u);
        const std::uint32_t value = (bits & 0x7fu) == 0x7fu ? CANONICAL_NAN : bits_from(magnitude);
        return float_from(value | (bits & 0x80u) << 24);
    }
}

/// Widens all elements of an image of so many words.
template <MatrixElement E>
void widen_image(const std::uint32_t* image, unsigned words, float* to) {
#if defined(__F16C__)
    if constexpr (E == MatrixElement::F16) {
        for (unsigned i = 0; i < words; i += 4) {
            const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(image + i));
            _mm256_storeu_ps(to + i * 2, _mm256_cvtph_ps(halves));
        }
        return;
    }
#endif
    const auto* const elements = reinterpret_cast<const Packed<PER_WORD<E>>*>(image);
    for (unsigned i = 0; i < words * PER_WORD<E>; ++i) {
        to[i] = widen<E>(elements[i]);
    }
}

template <MatrixElement A, MatrixElement B>
const Instruction* multiply_floats(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    constexpr bool IS_PADDED = A == MatrixElement::F16;
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    alignas(VECTOR_BYTES) float a[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) float columns[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) float b[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) float result[MAX_RESULTS];

    unsigned next = gather_factor(warp, at, product, 0, product.m, PER_WORD<A>, IS_PADDED, image);
    widen_image<A>(image, product.m * product.k / PER_WORD<A>, a);
    next = gather_factor(warp, at, product, next, product.n, PER_WORD<B>, IS_PADDED, image);
    widen_image<B>(image, product.n * product.k / PER_WORD<B>, columns);
    columns_to_rows(product, columns, b);

    const unsigned results = product.m * product.n;
    gather_result(warp, at, product, next, image);
    if (product.c == MatrixElement::F16) {
        widen_image<MatrixElement::F16>(image, results / 2, result);
    } else {
        __builtin_memcpy(result, image, results * sizeof(float));
    }
    multiply_add(product, a, b, result);
    if (product.d == MatrixElement::F16) {
        for (unsigned i = 0; i < results / 2; ++i) {
            image[i] = float_to_half(result[2 * i]) | float_to_half(result[2 * i + 1]) << 16;
        }
    } else {
        for (unsigned i = 0; i < results; ++i) {
            image[i] = bits_from(canonical(result[i]));
        }
    }
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

const Instruction* multiply_doubles(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    std::uint64_t image[MAX_IMAGE_WORDS];
    double a[MAX_IMAGE_WORDS];
    double b[MAX_IMAGE_WORDS];
    double result[MAX_RESULTS];
    unsigned next = gather_factor(warp, at, product, 0, product.m, 1, false, image);
    __builtin_memcpy(a, image, product.m * product.k * sizeof(double));
    next = gather_factor(warp, at, product, next, product.n, 1, false, image);
    __builtin_memcpy(b, image, product.n * product.k * sizeof(double));
    gather_result(warp, at, product, next, image);
    __builtin_memcpy(result, image, product.m * product.n * sizeof(double));
    for (unsigned row = 0; row < product.m; ++row) {
        for (unsigned column = 0; column < product.n; ++column) {
            double sum = result[row * product.n + column];
            for (unsigned i = 0; i < product.k; ++i) {
                sum = fused(a[row * product.k + i], b[column * product.k + i], sum);
            }
            result[row * product.n + column] = sum;
        }
    }
    __builtin_memcpy(image, result, product.m * product.n * sizeof(double));
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

// ---- integers ----------------------------------------------------------------------------------

/// Widens all elements of an image. Arithmetic is done without sign, so that it may wrap.
template <unsigned BITS, bool IS_SIGNED>
void widen_integers(const std::uint32_t* image, unsigned words, std::uint32_t* to) {
    // 4-bit elements come in pairs, of which one is moved to the top of a byte at a time.
    constexpr unsigned PER_BYTE = 8 / BITS;
    const auto* const bytes = reinterpret_cast<const Packed<4>*>(image);
    for (unsigned i = 0; i < words * 4; ++i) {
        for (unsigned part = 0; part < PER_BYTE; ++part) {
            const auto top = static_cast<std::uint8_t>(bytes[i] << (8 - BITS - part * BITS));
            const int value = IS_SIGNED ? static_cast<std::int8_t>(top) : int{top};
            to[i * PER_BYTE + part] = static_cast<std::uint32_t>(value >> (8 - BITS));
        }
    }
}

/// Adds two numbers and keeps to the range of an int when asked to.
[[gnu::always_inline]] inline std::uint32_t add_result(std::uint32_t c, std::uint32_t sum,
                                                       bool is_saturating) {
    if (!is_saturating) {
        return c + sum;
    }
    constexpr std::int64_t LARGEST = 0x7fffffff;
    const std::int64_t value =
        std::int64_t{static_cast<std::int32_t>(c)} + std::int64_t{static_cast<std::int32_t>(sum)};
    const std::int64_t clamped =
        value > LARGEST ? LARGEST : (value < -LARGEST - 1 ? -LARGEST - 1 : value);
    return static_cast<std::uint32_t>(clamped);
}

template <unsigned BITS, bool A_SIGNED, bool B_SIGNED>
const Instruction* multiply_integers(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    constexpr unsigned COUNT = 32 / BITS;
    const Product product(at);
    alignas(VECTOR_BYTES) std::uint32_t image[MAX_IMAGE_WORDS];
    alignas(VECTOR_BYTES) std::uint32_t a[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) std::uint32_t columns[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) std::uint32_t b[MAX_ELEMENTS];
    alignas(VECTOR_BYTES) std::uint32_t sums[MAX_RESULTS] = {};
    unsigned next = gather_factor(warp, at, product, 0, product.m, COUNT, false, image);
    widen_integers<BITS, A_SIGNED>(image, product.m * product.k / COUNT, a);
    next = gather_factor(warp, at, product, next, product.n, COUNT, false, image);
    widen_integers<BITS, B_SIGNED>(image, product.n * product.k / COUNT, columns);
    columns_to_rows(product, columns, b);
    multiply_add(product, a, b, sums);
    gather_result(warp, at, product, next, image);
    const bool is_saturating = (at->tag & MATRIX_SATURATING) != 0;
    for (unsigned i = 0; i < product.m * product.n; ++i) {
        image[i] = add_result(image[i], sums[i], is_saturating);
    }
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

/// b1: counts the bits in which a row and a column differ, or which both have.
const Instruction* multiply_bits(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const Product product(at);
    const unsigned row_words = product.k / 32;
    std::uint32_t a[MAX_IMAGE_WORDS];
    std::uint32_t b[MAX_IMAGE_WORDS];
    std::uint32_t image[MAX_IMAGE_WORDS];
    unsigned next = gather_factor(warp, at, product, 0, product.m, 32, false, a);
    next = gather_factor(warp, at, product, next, product.n, 32, false, b);
    gather_result(warp, at, product, next, image);
    const bool is_and = (at->tag & MATRIX_BITWISE_AND) != 0;
    for (unsigned row = 0; row < product.m; ++row) {
        for (unsigned column = 0; column < product.n; ++column) {
            std::uint32_t sum = image[row * product.n + column];
            for (unsigned i = 0; i < row_words; ++i) {
                const std::uint32_t x = a[row * row_words + i];
                const std::uint32_t y = b[column * row_words + i];
                sum += static_cast<std::uint32_t>(__builtin_popcount(is_and ? x & y : x ^ y));
            }
            image[row * product.n + column] = sum;
        }
    }
    scatter_result(warp, at, product, image, mask);
    return at + 1;
}

template <unsigned BITS>
Handler select_integers(bool a_is_signed, bool b_is_signed) {
    if (a_is_signed) {
        return b_is_signed ? multiply_integers<BITS, true, true>
                           : multiply_integers<BITS, true, false>;
    }
    return b_is_signed ? multiply_integers<BITS, false, true>
                       : multiply_integers<BITS, false, false>;
}

} // namespace

Handler select_matrix(const MatrixForm& form) {
    using E = MatrixElement;
    if (form.op != MatrixOp::Multiply) {
        return select_matrix_move(form);
    }
    switch (form.a) {
    case E::F16:
        return multiply_floats<E::F16, E::F16>;
    case E::BF16:
        return multiply_floats<E::BF16, E::BF16>;
    case E::TF32:
        return multiply_floats<E::TF32, E::TF32>;
    case E::F64:
        return multiply_doubles;
    case E::E4M3:
        return form.b == E::E4M3 ? multiply_floats<E::E4M3, E::E4M3>
                                 : multiply_floats<E::E4M3, E::E5M2>;
    case E::E5M2:
        return form.b == E::E4M3 ? multiply_floats<E::E5M2, E::E4M3>
                                 : multiply_floats<E::E5M2, E::E5M2>;
    case E::S8:
    case E::U8:
        return select_integers<8>(form.a == E::S8, form.b == E::S8);
    case E::S4:
    case E::U4:
        return select_integers<4>(form.a == E::S4, form.b == E::S4);
    case E::B1:
        return multiply_bits;
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
