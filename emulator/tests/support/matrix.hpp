// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Matrices of numbers in any format of the matrix instructions, and their product by definition.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator::test {

/// A number format: its name in PTX, and how exactly representable numbers are encoded.
struct NumberFormat {
    enum class Kind { Integer, Float, Plain };

    std::string name;
    unsigned bits;
    Kind kind;
    bool is_signed = false;
    int exponent_bits = 0; // Float
    int fraction_bits = 0;
    unsigned shift = 0; // distance from the lowest bit

    [[nodiscard]] std::uint64_t encode(double value) const {
        if (kind == Kind::Integer) {
            const auto mask = (std::uint64_t{1} << bits) - 1;
            return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & mask;
        }
        if (kind == Kind::Plain) {
            std::uint64_t result = 0;
            const auto single = static_cast<float>(value);
            std::memcpy(&result, bits == 64 ? static_cast<const void*>(&value) : &single, bits / 8);
            return result;
        }
        const std::uint64_t sign = std::signbit(value) ? std::uint64_t{1} << sign_bit() : 0;
        if (value == 0) {
            return sign << shift;
        }
        int exponent = 0;
        const double fraction = std::frexp(std::abs(value), &exponent) * 2 - 1; // in [0, 1)
        const int bias = (1 << (exponent_bits - 1)) - 1;
        if (exponent - 1 + bias <= 0) { // subnormal
            const double units = std::ldexp(std::abs(value), bias - 1 + fraction_bits);
            return (sign | static_cast<std::uint64_t>(units)) << shift;
        }
        return (sign | static_cast<std::uint64_t>(exponent - 1 + bias) << fraction_bits |
                static_cast<std::uint64_t>(std::ldexp(fraction, fraction_bits)))
               << shift;
    }

    [[nodiscard]] double decode(std::uint64_t raw) const {
        if (kind == Kind::Integer) {
            const unsigned unused = 64 - bits;
            return is_signed
                       ? static_cast<double>(static_cast<std::int64_t>(raw << unused) >> unused)
                       : static_cast<double>(raw << unused >> unused);
        }
        if (kind == Kind::Plain) {
            float single = 0;
            double result = 0;
            std::memcpy(bits == 64 ? static_cast<void*>(&result) : &single, &raw, bits / 8);
            return bits == 64 ? result : single;
        }
        raw >>= shift;
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const auto field = static_cast<int>(raw >> fraction_bits & ((1u << exponent_bits) - 1));
        const auto fraction = static_cast<double>(raw & ((1u << fraction_bits) - 1));
        const double magnitude =
            field == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                       : std::ldexp(1 + std::ldexp(fraction, -fraction_bits), field - bias);
        return (raw >> sign_bit() & 1) != 0 ? -magnitude : magnitude;
    }

    [[nodiscard]] int sign_bit() const { return exponent_bits + fraction_bits; }

    /// Returns how many elements fit into a 32-bit register, or 1 if they are wider.
    [[nodiscard]] unsigned per_register() const { return bits > 32 ? 1 : 32 / bits; }

    /// Returns the width of the registers in bytes.
    [[nodiscard]] unsigned register_bytes() const { return bits > 32 ? 8 : 4; }
};

inline const NumberFormat F16{"f16", 16, NumberFormat::Kind::Float, true, 5, 10};
inline const NumberFormat BF16{"bf16", 16, NumberFormat::Kind::Float, true, 8, 7};
inline const NumberFormat TF32{"tf32", 32, NumberFormat::Kind::Plain, true};
inline const NumberFormat F32{"f32", 32, NumberFormat::Kind::Plain, true};
inline const NumberFormat F64{"f64", 64, NumberFormat::Kind::Plain, true};
inline const NumberFormat E4M3{"e4m3", 8, NumberFormat::Kind::Float, true, 4, 3};
inline const NumberFormat E5M2{"e5m2", 8, NumberFormat::Kind::Float, true, 5, 2};
inline const NumberFormat E3M2{"e3m2", 8, NumberFormat::Kind::Float, true, 3, 2};
inline const NumberFormat E2M3{"e2m3", 8, NumberFormat::Kind::Float, true, 2, 3};
inline const NumberFormat E2M1{"e2m1", 8, NumberFormat::Kind::Float, true, 2, 1, 2};
inline const NumberFormat PACKED_E2M1{"e2m1", 4, NumberFormat::Kind::Float, true, 2, 1};
inline const NumberFormat S8{"s8", 8, NumberFormat::Kind::Integer, true};
inline const NumberFormat U8{"u8", 8, NumberFormat::Kind::Integer, false};
inline const NumberFormat S4{"s4", 4, NumberFormat::Kind::Integer, true};
inline const NumberFormat U4{"u4", 4, NumberFormat::Kind::Integer, false};
inline const NumberFormat B1{"b1", 1, NumberFormat::Kind::Integer, false};
inline const NumberFormat S32{"s32", 32, NumberFormat::Kind::Integer, true};

/// A matrix of numbers, by rows.
struct Matrix {
    unsigned rows = 0;
    unsigned columns = 0;
    std::vector<double> values;

    Matrix(unsigned row_count, unsigned column_count)
        : rows(row_count), columns(column_count), values(std::size_t{row_count} * column_count) {}

    double& at(unsigned row, unsigned column) { return values[row * columns + column]; }

    [[nodiscard]] double at(unsigned row, unsigned column) const {
        return values[row * columns + column];
    }

    /// Returns a matrix of small whole numbers that the format can represent; signed if the format
    /// is.
    static Matrix random(unsigned rows, unsigned columns, const NumberFormat& format,
                         std::uint32_t seed) {
        Matrix result(rows, columns);
        std::mt19937 engine(seed);
        const int largest = format.bits == 1 ? 1 : 3;
        std::uniform_int_distribution<int> numbers(format.is_signed ? -largest : 0, largest);
        for (double& value : result.values) {
            value = numbers(engine);
        }
        return result;
    }
};

/// Returns a * b + c.
inline Matrix product(const Matrix& a, const Matrix& b, const Matrix& c) {
    Matrix result = c;
    for (unsigned row = 0; row < a.rows; ++row) {
        for (unsigned column = 0; column < b.columns; ++column) {
            for (unsigned i = 0; i < a.columns; ++i) {
                result.at(row, column) += a.at(row, i) * b.at(i, column);
            }
        }
    }
    return result;
}

} // namespace cuprum::emulator::test
