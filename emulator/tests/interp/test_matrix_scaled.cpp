// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.block_scale: parts of the rows of A and of the columns of B have scales. The layouts and
// selectors follow the PTX manual.

#include "support/matrix_sparse.hpp"
#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

class MatrixScaled : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixScaled, LEVELS);

struct Scaled {
    std::string kind; // mxf4
    unsigned k;
    NumberFormat a;
    NumberFormat b;
    unsigned scales; // per row of A and column of B
    std::string scale = "ue8m0";
    std::string size = {}; // .scale_vec::2X
    bool is_sparse = false;

    [[nodiscard]] std::string name() const {
        return std::string("mma.") + (is_sparse ? "sp::ordered_metadata." : "") +
               "sync.aligned.m16n8k" + std::to_string(k) + ".row.col.kind::" + kind +
               ".block_scale" + size + ".f32." + a.name + "." + b.name + ".f32." + scale;
    }

    [[nodiscard]] double scale_of(unsigned code) const {
        return scale == "ue8m0" ? std::ldexp(1.0, static_cast<int>(code) - 127) : E4M3.decode(code);
    }
};

struct Selectors {
    unsigned byte_a = 0;
    unsigned thread_a = 0;
    unsigned byte_b = 0;
    unsigned thread_b = 0;
};

/// The bits of scales: one row of codes for each row of A or column of B.
using Codes = std::vector<std::vector<unsigned>>;

Codes random_codes(const Scaled& form, unsigned lines, std::uint32_t seed) {
    std::mt19937 engine(seed);
    // Powers of two near 1, or numbers of 0.5 to 3.75.
    std::uniform_int_distribution<unsigned> codes(form.scale == "ue8m0" ? 125 : 0x30,
                                                  form.scale == "ue8m0" ? 129 : 0x47);
    Codes result(lines, std::vector<unsigned>(form.scales));
    for (auto& line : result) {
        for (unsigned& code : line) {
            code = codes(engine);
        }
    }
    return result;
}

/// Puts the codes of a line into bytes of a word, starting at byte `first`.
void put_codes(std::uint32_t& word, unsigned first, const std::vector<unsigned>& codes) {
    for (unsigned i = 0; i < codes.size(); ++i) {
        const unsigned shift = 8 * (first + i);
        word = (word & ~(0xffu << shift)) | codes[i] << shift;
    }
}

Matrix run_scaled(const Scaled& form, const Matrix& stored, const std::vector<std::uint32_t>& e,
                  const Matrix& b, const Matrix& c, const Codes& of_a, const Codes& of_b,
                  const Selectors& selectors) {
    // Bytes that are not selected must not matter.
    std::vector<std::uint32_t> scale_a(32, 0xfe7e01ffu);
    std::vector<std::uint32_t> scale_b = scale_a;
    for (unsigned row = 0; row < 16; ++row) {
        // Rows g and g + 8 from lanes 4g and 4g + 1, or the next two.
        put_codes(scale_a[row % 8 * 4 + 2 * selectors.thread_a + row / 8], selectors.byte_a,
                  of_a[row]);
    }
    for (unsigned column = 0; column < 8; ++column) {
        put_codes(scale_b[column * 4 + selectors.thread_b], selectors.byte_b, of_b[column]);
    }
    const Held held_a = hold("a", stored, form.a, place_in_16_rows(form.a));
    const Held held_b = hold("b", b, form.b, place_in_8_columns(form.b));
    const Held held_e = hold_words("e", e);
    const Held held_x = hold_words("x", scale_a);
    const Held held_y = hold_words("y", scale_b);
    Held held_c = hold("c", c, F32, place_in_result);
    // Half of the selectors are in registers.
    const std::string call =
        ".reg .b16 %s<2>;\nmov.u16 %s0, " + std::to_string(selectors.byte_a) + ";\nmov.u16 %s1, " +
        std::to_string(selectors.thread_b) + ";\n" + form.name() + " " + held_c.list() + ", " +
        held_a.list() + ", " + held_b.list() + ", " + held_c.list() +
        (form.is_sparse ? ", %e0, 0" : "") + ", %x0, {%s0, " + std::to_string(selectors.thread_a) +
        "}, %y0, {" + std::to_string(selectors.byte_b) + ", %s1};\n";
    held_c.content = run_held(call, {held_a, held_b, held_c, held_e, held_x, held_y}, held_c);
    return collect(held_c, 16, 8, F32, place_in_result);
}

void expect_product(const Scaled& form, const Selectors& selectors) {
    const Matrix b = Matrix::random(form.k, 8, form.b, 2);
    const Matrix c = Matrix::random(16, 8, F32, 3);
    const SparseMatrix sparse(form.k, form.a, 1);
    const Matrix a = form.is_sparse ? sparse.whole : Matrix::random(16, form.k, form.a, 1);
    const Codes of_a = random_codes(form, 16, 4);
    const Codes of_b = random_codes(form, 8, 5);
    Matrix expected = c;
    for (unsigned row = 0; row < 16; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
            for (unsigned i = 0; i < form.k; ++i) {
                const unsigned part = i / (form.k / form.scales);
                expected.at(row, column) += a.at(row, i) * form.scale_of(of_a[row][part]) *
                                            b.at(i, column) * form.scale_of(of_b[column][part]);
            }
        }
    }
    const Matrix result = run_scaled(form, form.is_sparse ? sparse.stored : a, sparse.metadata(0),
                                     b, c, of_a, of_b, selectors);
    EXPECT_EQ(result.values, expected.values) << form.name();
}

TEST_P(MatrixScaled, bytes_have_one_scale) {
    for (const NumberFormat& a : {E4M3, E5M2, E3M2, E2M3, E2M1}) {
        for (const NumberFormat& b : {E4M3, E5M2, E3M2, E2M3, E2M1}) {
            expect_product({"mxf8f6f4", 32, a, b, 1}, {});
            expect_product({"mxf8f6f4", 64, a, b, 1, "ue8m0", "", true}, {});
        }
    }
}

TEST_P(MatrixScaled, one_scale_may_be_in_any_byte) {
    const Scaled form{"mxf8f6f4", 32, E4M3, E2M3, 1, "ue8m0", ".scale_vec::1X"};
    for (unsigned i = 0; i < 4; ++i) {
        expect_product(form, {i, i % 2, 3 - i, i});
    }
}

TEST_P(MatrixScaled, four_bit_floats_have_two_scales) {
    for (const bool is_sparse : {false, true}) {
        const unsigned k = is_sparse ? 128 : 64;
        for (const unsigned byte : {0u, 2u}) {
            expect_product({"mxf4", k, PACKED_E2M1, PACKED_E2M1, 2, "ue8m0", "", is_sparse},
                           {byte, 0, 2 - byte, 1});
            expect_product(
                {"mxf4", k, PACKED_E2M1, PACKED_E2M1, 2, "ue8m0", ".scale_vec::2X", is_sparse},
                {byte, 1, byte, 2});
            expect_product(
                {"mxf4nvf4", k, PACKED_E2M1, PACKED_E2M1, 2, "ue8m0", ".scale_vec::2X", is_sparse},
                {byte, 1, byte, 3});
        }
    }
}

TEST_P(MatrixScaled, four_bit_floats_have_four_scales) {
    for (const bool is_sparse : {false, true}) {
        const unsigned k = is_sparse ? 128 : 64;
        expect_product(
            {"mxf4nvf4", k, PACKED_E2M1, PACKED_E2M1, 4, "ue4m3", ".scale_vec::4X", is_sparse},
            {0, 1, 0, 3});
    }
}

TEST_P(MatrixScaled, scales_reach_beyond_single_precision_and_one_is_not_a_number) {
    const Scaled form{"mxf8f6f4", 32, E4M3, E4M3, 1};
    Matrix a(16, 32);
    Matrix b(32, 8);
    const Matrix c(16, 8);
    for (unsigned row = 0; row < 16; ++row) {
        a.at(row, 5) = 1;
    }
    std::fill(b.values.begin(), b.values.end(), 1);
    Codes of_a(16, std::vector<unsigned>{127});
    Codes of_b(8, std::vector<unsigned>{127});
    of_a[3][0] = 0;   // 2^-127
    of_b[3][0] = 254; // 2^127
    of_a[9][0] = 255; // not a number
    const std::vector<std::uint32_t> e(32);
    const Matrix result = run_scaled(form, a, e, b, c, of_a, of_b, {});
    EXPECT_EQ(result.at(3, 3), 1);
    EXPECT_EQ(result.at(3, 0), std::ldexp(1.0, -127));
    EXPECT_EQ(result.at(0, 3), std::ldexp(1.0, 127));
    EXPECT_TRUE(std::isnan(result.at(9, 0)));
}

TEST(MatrixScaledRefusals, what_does_not_go_together_is_refused) {
    for (const std::string name :
         {"kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32", // no type of scales
          "kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
          "kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
          "kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
          "kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
          "kind::f8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
          "kind::mxf8f6f4.block_scale.f16.e2m1.e2m1.f16.ue8m0"}) {
        TestDevice device;
        const std::string whole = "mma.sync.aligned.m16n8k32.row.col." + name;
        const auto kernel = device.compile(ptx_module(
            ".visible .entry k()\n{\n.reg .b32 %r<16>;\n" + whole +
            " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3}, %r10, "
            "{0, 0}, %r11, {0, 0};\nret;\n}\n"));
        EXPECT_EQ(kernel, nullptr) << whole;
        EXPECT_NE(device.log.find(whole), std::string::npos) << device.log;
    }
}

} // namespace

} // namespace cuprum::emulator::test
