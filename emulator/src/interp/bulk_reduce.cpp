// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/bulk_reduce.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace cuprum::emulator {

namespace {

using bulk_copy::Operation;
using ptx::Type;

/// A half-precision number as bits. Arithmetic is done in single precision and rounded once.
struct Half {
    std::uint16_t bits;
};

struct BFloat {
    std::uint16_t bits;
};

#if defined(__aarch64__)
typedef __fp16 NativeHalf; // g++ 12 knows _Float16 only for C here
#else
__extension__ typedef _Float16 NativeHalf;
#endif

float widen(Half value) {
    return static_cast<float>(std::bit_cast<NativeHalf>(value.bits));
}

float widen(BFloat value) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

void narrow(float value, Half& result) {
    result.bits = std::isnan(value) ? std::uint16_t{0x7fff}
                                    : std::bit_cast<std::uint16_t>(static_cast<NativeHalf>(value));
}

void narrow(float value, BFloat& result) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // Round halfway cases to even.
    result.bits = std::isnan(value)
                      ? std::uint16_t{0x7fff}
                      : static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Flushes subnormal numbers, as the adder of global memory does.
float flush(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

template <typename T>
T combine_integers(Operation operation, T old, T operand) {
    switch (operation) {
    case Operation::Add:
        return static_cast<T>(static_cast<std::uint64_t>(old) +
                              static_cast<std::uint64_t>(operand));
    case Operation::Min:
        return operand < old ? operand : old;
    case Operation::Max:
        return operand > old ? operand : old;
    case Operation::Inc:
        return old >= operand ? T{0} : static_cast<T>(old + 1);
    case Operation::Dec:
        return old == 0 || old > operand ? operand : static_cast<T>(old - 1);
    case Operation::And:
        return old & operand;
    case Operation::Or:
        return old | operand;
    case Operation::Xor:
        return old ^ operand;
    }
    return old;
}

template <typename T>
T combine_halves(Operation operation, T old, T operand) {
    const float a = widen(old);
    const float b = widen(operand);
    if (operation == Operation::Add) {
        T result;
        narrow(a + b, result);
        return result;
    }
    if (std::isnan(a) && std::isnan(b)) {
        return T{0x7fff};
    }
    const bool takes_operand = std::isnan(a) || (operation == Operation::Min ? b < a : b > a);
    return takes_operand ? operand : old;
}

std::uint32_t add_singles(std::uint32_t old, std::uint32_t operand) {
    const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(operand);
    return std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
}

std::uint32_t add_flushed_singles(std::uint32_t old, std::uint32_t operand) {
    const float sum =
        flush(flush(std::bit_cast<float>(old)) + flush(std::bit_cast<float>(operand)));
    return std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
}

std::uint64_t add_doubles(std::uint64_t old, std::uint64_t operand) {
    // The adder returns what is not a number unchanged.
    if (std::isnan(std::bit_cast<double>(old))) {
        return old;
    }
    if (std::isnan(std::bit_cast<double>(operand))) {
        return operand;
    }
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) +
                                        std::bit_cast<double>(operand));
}

/// Replaces every element by `combine(old, operand)`.
template <typename Word, typename Combine>
void for_each_element(std::byte* to, const std::byte* from, std::size_t bytes, Combine combine) {
    for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
        auto* const place = reinterpret_cast<Word*>(to + at);
        Word operand;
        std::memcpy(&operand, from + at, sizeof operand);
        Word old = __atomic_load_n(place, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(place, &old, combine(old, operand), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
    }
}

template <typename Word, typename T>
void for_each_integer(Operation operation, std::byte* to, const std::byte* from,
                      std::size_t bytes) {
    for_each_element<Word>(to, from, bytes, [&](Word old, Word operand) {
        return static_cast<Word>(
            combine_integers<T>(operation, static_cast<T>(old), static_cast<T>(operand)));
    });
}

template <typename T>
void for_each_half(Operation operation, std::byte* to, const std::byte* from, std::size_t bytes) {
    for_each_element<std::uint16_t>(to, from, bytes, [&](std::uint16_t old, std::uint16_t operand) {
        return combine_halves<T>(operation, T{old}, T{operand}).bits;
    });
}

} // namespace

void combine_elements(Operation operation, Type type, std::byte* to, const std::byte* from,
                      std::size_t bytes, bool flushes) {
    switch (type) {
    case Type::F16:
        for_each_half<Half>(operation, to, from, bytes);
        break;
    case Type::BF16:
        for_each_half<BFloat>(operation, to, from, bytes);
        break;
    case Type::F32:
        for_each_element<std::uint32_t>(to, from, bytes,
                                        flushes ? add_flushed_singles : add_singles);
        break;
    case Type::F64:
        for_each_element<std::uint64_t>(to, from, bytes, add_doubles);
        break;
    case Type::S32:
        for_each_integer<std::uint32_t, std::int32_t>(operation, to, from, bytes);
        break;
    case Type::S64:
        for_each_integer<std::uint64_t, std::int64_t>(operation, to, from, bytes);
        break;
    case Type::U64:
    case Type::B64:
        for_each_integer<std::uint64_t, std::uint64_t>(operation, to, from, bytes);
        break;
    default:
        for_each_integer<std::uint32_t, std::uint32_t>(operation, to, from, bytes);
        break;
    }
}

} // namespace cuprum::emulator
