// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sync: every shape and type, compared with the product by definition and the fragment layouts
// that PTX specifies.

#include "support/matrix_kernel.hpp"
#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

class MatrixMultiply : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixMultiply, LEVELS);

struct Mma {
    unsigned m;
    unsigned n;
    unsigned k;
    NumberFormat a;
    NumberFormat b;
    NumberFormat c;
    std::string suffix = {}; // .xor.popc
    bool is_saturating = false;
    std::string kind = {};     // kind::f8f6f4.
    std::string rounding = {}; // rz.

    [[nodiscard]] std::string name() const {
        return "mma.sync.aligned." + kind + "m" + std::to_string(m) + "n" + std::to_string(n) +
               "k" + std::to_string(k) + ".row.col" + (is_saturating ? ".satfinite" : "") + "." +
               rounding + c.name + "." + a.name + "." + b.name + "." + c.name + suffix;
    }
};

/// Returns the position of element `i` of a lane's fragment of A.
Place place_in_a(const Mma& mma, unsigned lane, unsigned i) {
    const unsigned per = mma.a.per_register();
    const unsigned piece = i / per;
    const unsigned down = mma.m / 8;
    return {lane / 4 + 8 * (piece % down), lane % 4 * per + i % per + 4 * per * (piece / down)};
}

Place place_in_b(const Mma& mma, unsigned lane, unsigned i) {
    const unsigned per = mma.b.per_register();
    return {lane % 4 * per + i % per + 4 * per * (i / per), lane / 4};
}

Place place_in_c(unsigned lane, unsigned i) {
    return {lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2};
}

/// Runs the instruction on fragments of the three matrices and assembles D.
Matrix run_mma(const Mma& mma, const Matrix& a, const Matrix& b, const Matrix& c) {
    const auto in_a = [&](unsigned lane, unsigned i) { return place_in_a(mma, lane, i); };
    const auto in_b = [&](unsigned lane, unsigned i) { return place_in_b(mma, lane, i); };
    const Held held_a = hold("a", a, mma.a, in_a);
    const Held held_b = hold("b", b, mma.b, in_b);
    Held held_c = hold("c", c, mma.c, place_in_c);
    // D overwrites C, so all of C must be read before.
    const std::string call = mma.name() + " " + held_c.list() + ", " + held_a.list() + ", " +
                             held_b.list() + ", " + held_c.list() + ";\n";
    held_c.content = run_held(call, {held_a, held_b, held_c}, held_c);
    return collect(held_c, mma.m, mma.n, mma.c, place_in_c);
}

void expect_product(const Mma& mma) {
    const Matrix a = Matrix::random(mma.m, mma.k, mma.a, 1);
    const Matrix b = Matrix::random(mma.k, mma.n, mma.b, 2);
    const Matrix c = Matrix::random(mma.m, mma.n, mma.c, 3);
    EXPECT_EQ(run_mma(mma, a, b, c).values, product(a, b, c).values) << mma.name();
}

TEST_P(MatrixMultiply, halves) {
    for (const unsigned k : {8u, 16u}) {
        expect_product({16, 8, k, F16, F16, F32});
        expect_product({16, 8, k, F16, F16, F16});
        expect_product({16, 8, k, BF16, BF16, F32});
    }
}

TEST_P(MatrixMultiply, tf32) {
    expect_product({16, 8, 4, TF32, TF32, F32});
    expect_product({16, 8, 8, TF32, TF32, F32});
}

TEST_P(MatrixMultiply, doubles) {
    expect_product({8, 8, 4, F64, F64, F64});
    expect_product({16, 8, 4, F64, F64, F64});
    expect_product({16, 8, 8, F64, F64, F64});
    expect_product({16, 8, 16, F64, F64, F64});
}

TEST_P(MatrixMultiply, bytes) {
    for (const NumberFormat& a : {S8, U8}) {
        for (const NumberFormat& b : {S8, U8}) {
            expect_product({8, 8, 16, a, b, S32});
            expect_product({16, 8, 16, a, b, S32});
            expect_product({16, 8, 32, a, b, S32});
        }
    }
}

TEST_P(MatrixMultiply, four_bit_integers) {
    for (const NumberFormat& a : {S4, U4}) {
        for (const NumberFormat& b : {S4, U4}) {
            expect_product({8, 8, 32, a, b, S32});
            expect_product({16, 8, 32, a, b, S32});
            expect_product({16, 8, 64, a, b, S32});
        }
    }
}

TEST_P(MatrixMultiply, eight_bit_floats) {
    for (const NumberFormat& a : {E4M3, E5M2}) {
        for (const NumberFormat& b : {E4M3, E5M2}) {
            expect_product({16, 8, 32, a, b, F32});
            expect_product({16, 8, 16, a, b, F32});
            expect_product({16, 8, 32, a, b, F16});
        }
    }
}

const NumberFormat NARROW[] = {E4M3, E5M2, E3M2, E2M3, E2M1};

TEST_P(MatrixMultiply, floats_of_four_to_eight_bits_in_bytes) {
    for (const NumberFormat& a : NARROW) {
        for (const NumberFormat& b : NARROW) {
            expect_product({16, 8, 32, a, b, F32, "", false, "kind::f8f6f4."});
            expect_product({16, 8, 32, a, b, F16, "", false, "kind::f8f6f4."});
            if (a.sign_bit() == 7 && b.sign_bit() == 7) {
                expect_product({16, 8, 16, a, b, F32, "", false, "kind::f8f6f4."});
                expect_product({16, 8, 16, a, b, F16, "", false, "kind::f8f6f4."});
            }
        }
    }
}

TEST_P(MatrixMultiply, every_number_of_a_narrow_format_is_known) {
    for (const NumberFormat& format : NARROW) {
        Matrix a(16, 32);
        Matrix b(32, 8);
        const Matrix c(16, 8);
        const unsigned codes = 1u << (format.sign_bit() + 1);
        for (unsigned i = 0; i < 8; ++i) {
            b.at(i, i) = 1;
        }
        // 128 numbers at a time; the last ones may be infinite or NaN.
        for (unsigned first = 0; first < codes; first += 128) {
            Matrix expected(16, 8);
            for (unsigned i = 0; i < 128; ++i) {
                const unsigned code = (first + i) % codes;
                const bool is_special = (format.name == "e4m3" && code % 128 == 127) ||
                                        (format.name == "e5m2" && code % 128 >= 124);
                const double value =
                    is_special ? 0 : format.decode(std::uint64_t{code} << format.shift);
                a.at(i / 8, i % 8) = value;
                expected.at(i / 8, i % 8) = value;
            }
            const Mma mma{16, 8, 32, format, E4M3, F32, "", false, "kind::f8f6f4."};
            EXPECT_EQ(run_mma(mma, a, b, c).values, expected.values) << format.name;
        }
    }
}

TEST_P(MatrixMultiply, doubles_round_as_they_say) {
    Matrix a(16, 16);
    Matrix b(16, 8);
    Matrix c(16, 8);
    a.at(2, 7) = 1;
    b.at(7, 3) = std::ldexp(1.0, -60);
    a.at(4, 7) = -1;
    c.at(2, 3) = 1;
    c.at(4, 3) = -1;

    struct Rounded {
        std::string mode;
        double positive;
        double negative;
    };

    const double above = 1 + std::ldexp(1.0, -52);
    for (const Rounded& rounded : {Rounded{"", 1, -1}, Rounded{"rn.", 1, -1}, Rounded{"rz.", 1, -1},
                                   Rounded{"rp.", above, -1}, Rounded{"rm.", 1, -above}}) {
        const Mma mma{16, 8, 16, F64, F64, F64, "", false, "", rounded.mode};
        const Matrix result = run_mma(mma, a, b, c);
        EXPECT_EQ(result.at(2, 3), rounded.positive) << mma.name();
        EXPECT_EQ(result.at(4, 3), rounded.negative) << mma.name();
    }
}

TEST_P(MatrixMultiply, bits_are_combined_and_counted) {
    for (const bool is_and : {false, true}) {
        for (const auto& [m, k] : {std::pair{8u, 128u}, {16u, 128u}, {16u, 256u}}) {
            const Mma mma{m, 8, k, B1, B1, S32, is_and ? ".and.popc" : ".xor.popc"};
            const Matrix a = Matrix::random(m, k, B1, 4);
            const Matrix b = Matrix::random(k, 8, B1, 5);
            const Matrix c = Matrix::random(m, 8, S32, 6);
            Matrix expected = c;
            for (unsigned row = 0; row < m; ++row) {
                for (unsigned column = 0; column < 8; ++column) {
                    for (unsigned i = 0; i < k; ++i) {
                        const bool x = a.at(row, i) != 0;
                        const bool y = b.at(i, column) != 0;
                        expected.at(row, column) += is_and ? x && y : x != y;
                    }
                }
            }
            EXPECT_EQ(run_mma(mma, a, b, c).values, expected.values) << mma.name();
        }
    }
}

TEST_P(MatrixMultiply, extreme_bytes_keep_their_sign) {
    Matrix a(16, 32);
    Matrix b(32, 8);
    const Matrix c(16, 8);
    std::fill(a.values.begin(), a.values.end(), -128);
    std::fill(b.values.begin(), b.values.end(), 255);
    EXPECT_EQ(run_mma({16, 8, 32, S8, U8, S32}, a, b, c).at(3, 5), -128.0 * 255 * 32);
}

TEST_P(MatrixMultiply, integers_wrap_unless_they_saturate) {
    const Matrix a = [] {
        Matrix ones(16, 32);
        std::fill(ones.values.begin(), ones.values.end(), 1);
        return ones;
    }();
    Matrix b(32, 8);
    Matrix c(16, 8);
    constexpr double LARGEST = 2147483647;
    for (const double sign : {1.0, -1.0}) {
        std::fill(b.values.begin(), b.values.end(), sign);
        std::fill(c.values.begin(), c.values.end(), sign * (LARGEST - 10));
        const Mma wrapping{16, 8, 32, S8, S8, S32};
        const Mma saturating{16, 8, 32, S8, S8, S32, "", true};
        EXPECT_EQ(run_mma(wrapping, a, b, c).at(7, 7), sign * (LARGEST + 22 - 4294967296.0));
        EXPECT_EQ(run_mma(saturating, a, b, c).at(7, 7), sign > 0 ? LARGEST : -LARGEST - 1);
    }
}

TEST_P(MatrixMultiply, f16_results_are_rounded_once) {
    Matrix a(16, 16);
    Matrix b(16, 8);
    Matrix c(16, 8);
    std::fill(a.values.begin(), a.values.end(), 1);
    std::fill(b.values.begin(), b.values.end(), 1);
    std::fill(c.values.begin(), c.values.end(), 2048); // 2049 is not an f16
    EXPECT_EQ(run_mma({16, 8, 16, F16, F16, F16}, a, b, c).at(0, 0), 2064);
}

TEST_P(MatrixMultiply, eight_bit_floats_are_multiplied_as_two_products_of_halves) {
    // ptxas replaces the instruction so on compute capability 9.0.
    constexpr double LARGE = 1 << 16;
    Matrix a(16, 32);
    Matrix b(32, 8);
    Matrix c(16, 8);
    a.at(0, 4) = 256;
    a.at(0, 5) = -256;
    b.at(4, 0) = b.at(5, 0) = 256; // LARGE and -LARGE, the first two of four elements
    a.at(0, 2) = b.at(2, 0) = 1 / 64.0;
    EXPECT_EQ(run_mma({16, 8, 32, E4M3, E4M3, F32}, a, b, c).at(0, 0), 1 / 4096.0);
    a.at(0, 2) = 0;
    a.at(0, 0) = b.at(0, 0) = 1 / 64.0; // cut off beside LARGE
    EXPECT_EQ(run_mma({16, 8, 32, E4M3, E4M3, F32}, a, b, c).at(0, 0), 0);
    // C is added at the end, and the sum is rounded to nearest.
    a.at(0, 5) = 0;
    c.at(0, 0) = 3 / 256.0;
    EXPECT_EQ(run_mma({16, 8, 32, E4M3, E4M3, F32}, a, b, c).at(0, 0), LARGE + 4 / 256.0);
    a.at(0, 0) = a.at(0, 16) = b.at(0, 0) = b.at(16, 0) = 1;
    a.at(0, 4) = 0;
    c.at(0, 0) = 2048; // 2049 is not an f16; 2048 + (1 + 1) is
    EXPECT_EQ(run_mma({16, 8, 32, E4M3, E4M3, F16}, a, b, c).at(0, 0), 2050);
}

TEST_P(MatrixMultiply, tf32_ignores_the_last_bits) {
    Matrix a(16, 8);
    Matrix b(8, 8);
    const Matrix c(16, 8);
    a.at(4, 2) = 1 + std::ldexp(1.0, -10) + std::ldexp(1.0, -11) + std::ldexp(1.0, -12);
    b.at(2, 6) = 1;
    EXPECT_EQ(run_mma({16, 8, 8, TF32, TF32, F32}, a, b, c).at(4, 6), 1 + std::ldexp(1.0, -10));
}

TEST_P(MatrixMultiply, fractions_come_close) {
    std::mt19937 engine(7);
    std::uniform_int_distribution<int> numerators(-1023, 1023);
    Matrix a(16, 16);
    Matrix b(16, 8);
    Matrix c(16, 8);
    for (Matrix* matrix : {&a, &b, &c}) {
        for (double& value : matrix->values) {
            value = numerators(engine) / 1024.0;
        }
    }
    const Matrix expected = product(a, b, c);
    const Matrix result = run_mma({16, 8, 16, F16, F16, F32}, a, b, c);
    // 16 roundings of sums below 16, half a unit of 2^-20 each.
    constexpr double TOLERANCE = 1e-5;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        EXPECT_NEAR(result.values[i], expected.values[i], TOLERANCE);
    }
}

TEST(MatrixRefusals, forms_that_do_not_run_are_refused_by_name) {
    const auto log_of = [](const std::string& instruction) {
        TestDevice device;
        const auto kernel =
            device.compile(ptx_module(".visible .entry k()\n{\n.reg .b32 %r<16>;\n.reg .b64 %w;\n" +
                                      instruction + "\nret;\n}\n"));
        EXPECT_EQ(kernel, nullptr) << instruction;
        return device.log;
    };
    for (const std::string name :
         {"mma.sync.aligned.m16n8k8.row.col.f64.f16.f16.f64",
          "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16",
          "mma.sync.aligned.m16n8k8.row.row.f32.f16.f16.f32",
          "mma.sync.aligned.m16n8k8.row.col.rz.f32.f16.f16.f32",
          "mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e2m1.f32",
          "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.s8.s8.f32",
          "mma.sync.aligned.kind::f8f6f4.m16n8k16.row.col.f32.e2m1.e2m1.f32",
          "mma.sync.aligned.m16n8k128.row.col.satfinite.s32.b1.b1.s32.xor.popc",
          "mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16",
          "mma.sync.aligned.kind::mxf8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32",
          "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32"}) {
        const std::string log =
            log_of(name + " {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, {%r0, %r1, %r2, %r3};");
        EXPECT_NE(log.find(name), std::string::npos) << log;
    }
    const std::string count = log_of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0, %r1, "
                                     "%r2}, {%r4, %r5}, {%r6}, {%r0, %r1, %r2, %r3};");
    EXPECT_NE(count.find("expected 4"), std::string::npos) << count;
}

} // namespace

} // namespace cuprum::emulator::test
