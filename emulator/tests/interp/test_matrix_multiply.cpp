// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sync: every shape and type, against the product by definition and the fragment layouts that
// PTX prescribes.

#include "support/matrix.hpp"
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

    [[nodiscard]] std::string name() const {
        return "mma.sync.aligned.m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
               std::to_string(k) + ".row.col" + (is_saturating ? ".satfinite" : "") + "." + c.name +
               "." + a.name + "." + b.name + "." + c.name + suffix;
    }
};

struct Place {
    unsigned row;
    unsigned column;
};

/// Where element `i` of a lane's fragment of A is.
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

/// Spreads a matrix over lanes: the registers of lane 0, then those of lane 1...
template <typename PlaceOf>
std::vector<std::uint8_t> spread(const Matrix& matrix, const NumberFormat& format, PlaceOf place) {
    const unsigned per_lane = matrix.rows * matrix.columns / 32;
    std::vector<std::uint8_t> bytes(std::size_t{per_lane} * 32 * format.bits / 8);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < per_lane; ++i) {
            const Place at = place(lane, i);
            const std::uint64_t raw = format.encode(matrix.at(at.row, at.column));
            const std::size_t bit = (std::size_t{lane} * per_lane + i) * format.bits;
            for (unsigned part = 0; part < format.bits; part += 8) {
                bytes[bit / 8 + part / 8] |=
                    static_cast<std::uint8_t>(raw >> part << (format.bits < 8 ? bit % 8 : 0));
            }
        }
    }
    return bytes;
}

std::string vector_of(const std::string& prefix, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) {
        text += (i == 0 ? "%" : ", %") + prefix + std::to_string(i);
    }
    return text + "}";
}

/// Returns PTX that declares a fragment's registers, and loads or stores them.
std::string move_registers(const std::string& name, unsigned count, unsigned bytes, bool is_store) {
    const std::string bits = std::to_string(bytes * 8);
    std::string text = ".reg .b64 %p" + name + ";\nld.param.u64 %p" + name + ", [p" + name +
                       "];\nmad.wide.u32 %p" + name + ", %l, " + std::to_string(count * bytes) +
                       ", %p" + name + ";\n";
    if (!is_store) {
        text += ".reg .b" + bits + " %" + name + "<" + std::to_string(count) + ">;\n";
    }
    for (unsigned i = 0; i < count; ++i) {
        const std::string place = "[%p" + name + "+" + std::to_string(i * bytes) + "]";
        const std::string value = "%" + name + std::to_string(i);
        text += is_store ? "st.global.b" + bits + " " + place + ", " + value + ";\n"
                         : "ld.global.b" + bits + " " + value + ", " + place + ";\n";
    }
    return text;
}

/// Runs the instruction on fragments of the three matrices and puts D together again.
Matrix run_mma(const Mma& mma, const Matrix& a, const Matrix& b, const Matrix& c) {
    const auto registers = [](const Matrix& matrix, const NumberFormat& format) {
        return matrix.rows * matrix.columns / 32 / format.per_register();
    };
    const unsigned a_count = registers(a, mma.a);
    const unsigned b_count = registers(b, mma.b);
    const unsigned c_count = registers(c, mma.c);
    const unsigned c_bytes = mma.c.register_bytes();
    const std::string text =
        ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{\n"
        ".reg .b32 %l;\nmov.u32 %l, %tid.x;\n" +
        move_registers("a", a_count, mma.a.register_bytes(), false) +
        move_registers("b", b_count, mma.b.register_bytes(), false) +
        move_registers("c", c_count, c_bytes, false) +
        // D goes over C: what is read must have been read by then.
        mma.name() + " " + vector_of("c", c_count) + ", " + vector_of("a", a_count) + ", " +
        vector_of("b", b_count) + ", " + vector_of("c", c_count) + ";\n" + ".reg .b" +
        std::to_string(c_bytes * 8) + " %d<" + std::to_string(c_count) + ">;\n" +
        [&] {
            std::string moves;
            for (unsigned i = 0; i < c_count; ++i) {
                moves += "mov.b" + std::to_string(c_bytes * 8) + " %d" + std::to_string(i) +
                         ", %c" + std::to_string(i) + ";\n";
            }
            return moves;
        }() +
        move_registers("d", c_count, c_bytes, true) + "ret;\n}\n";

    TestDevice device;
    const auto upload = [&](const std::vector<std::uint8_t>& bytes) {
        auto* const place = device.allocate<std::uint8_t>(bytes.size());
        std::memcpy(place, bytes.data(), bytes.size());
        return reinterpret_cast<std::uint64_t>(place);
    };
    const std::uint64_t pa = upload(
        spread(a, mma.a, [&](unsigned lane, unsigned i) { return place_in_a(mma, lane, i); }));
    const std::uint64_t pb = upload(
        spread(b, mma.b, [&](unsigned lane, unsigned i) { return place_in_b(mma, lane, i); }));
    const std::uint64_t pc = upload(spread(c, mma.c, place_in_c));
    auto* const pd = device.allocate<std::uint8_t>(std::size_t{32} * c_count * c_bytes);
    const Fault fault = run(device, text, {.grid = 1, .block = 32}, pa, pb, pc,
                            reinterpret_cast<std::uint64_t>(pd));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    Matrix result(mma.m, mma.n);
    const unsigned per_lane = mma.m * mma.n / 32;
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < per_lane; ++i) {
            std::uint64_t raw = 0;
            std::memcpy(&raw, pd + std::size_t{lane * per_lane + i} * mma.c.bits / 8,
                        mma.c.bits / 8);
            const Place at = place_in_c(lane, i);
            result.at(at.row, at.column) = mma.c.decode(raw);
        }
    }
    return result;
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
    std::fill(c.values.begin(), c.values.end(), 2048); // 2049 is no f16
    EXPECT_EQ(run_mma({16, 8, 16, F16, F16, F16}, a, b, c).at(0, 0), 2064);
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
         {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
          "mma.sync.aligned.m16n8k8.row.col.f64.f16.f16.f64",
          "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
          "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32",
          "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32"}) {
        const std::string log =
            log_of(name + " {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6}, {%r0, %r1, %r2, %r3};");
        EXPECT_NE(log.find(name), std::string::npos) << log;
    }
    const std::string count = log_of("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0, %r1, "
                                     "%r2}, {%r4, %r5}, {%r6}, {%r0, %r1, %r2, %r3};");
    EXPECT_NE(count.find("expected 4"), std::string::npos) << count;
    const std::string tiles =
        log_of("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2];");
    EXPECT_NE(tiles.find("ldmatrix.sync.aligned.m16n16"), std::string::npos) << tiles;
}

} // namespace

} // namespace cuprum::emulator::test
