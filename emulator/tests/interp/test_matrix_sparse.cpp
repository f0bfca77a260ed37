// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.sp: every shape and type, compared with the product by definition of the whole matrix. The
// positions of the metadata follow the figures of the PTX manual. tools/record-corpus ran the forms
// of compute capability 9.0 on an H200.

#include "support/matrix_sparse.hpp"
#include "support/operation.hpp"

#include <limits>

namespace cuprum::emulator::test {

namespace {

class MatrixSparse : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixSparse, LEVELS);

struct Sparse {
    unsigned k;
    NumberFormat a;
    NumberFormat b;
    NumberFormat c;
    std::string kind = {}; // kind::f8f6f4.

    [[nodiscard]] std::string name(bool is_ordered) const {
        return std::string("mma.sp") + (is_ordered ? "::ordered_metadata" : "") +
               ".sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + kind + c.name + "." +
               a.name + "." + b.name + "." + c.name;
    }
};

Matrix run_sparse(const Sparse& form, bool is_ordered, unsigned selector, const SparseMatrix& a,
                  const Matrix& b, const Matrix& c) {
    const Held held_a = hold("a", a.stored, form.a, place_in_16_rows(form.a));
    const Held held_b = hold("b", b, form.b, place_in_8_columns(form.b));
    const Held held_e = hold_words("e", a.metadata(selector));
    Held held_c = hold("c", c, form.c, place_in_result);
    const std::string call = form.name(is_ordered) + " " + held_c.list() + ", " + held_a.list() +
                             ", " + held_b.list() + ", " + held_c.list() + ", %e0, " +
                             std::to_string(selector) + ";\n";
    held_c.content = run_held(call, {held_a, held_b, held_c, held_e}, held_c);
    return collect(held_c, 16, 8, form.c, place_in_result);
}

void expect_products(const Sparse& form) {
    const Matrix b = Matrix::random(form.k, 8, form.b, 2);
    const Matrix c = Matrix::random(16, 8, form.c, 3);
    const SparseMatrix a(form.k, form.a, 1);
    for (const bool is_ordered : {false, true}) {
        if (!is_ordered && !form.kind.empty()) {
            continue;
        }
        for (unsigned selector = 0; selector < a.selectors(); ++selector) {
            EXPECT_EQ(run_sparse(form, is_ordered, selector, a, b, c).values,
                      product(a.whole, b, c).values)
                << form.name(is_ordered) << ", selector " << selector;
        }
    }
}

TEST_P(MatrixSparse, halves) {
    for (const unsigned k : {16u, 32u}) {
        expect_products({k, F16, F16, F32});
        expect_products({k, F16, F16, F16});
        expect_products({k, BF16, BF16, F32});
    }
}

TEST_P(MatrixSparse, tf32) {
    expect_products({8, TF32, TF32, F32});
    expect_products({16, TF32, TF32, F32});
}

TEST_P(MatrixSparse, bytes) {
    for (const NumberFormat& a : {S8, U8}) {
        for (const NumberFormat& b : {S8, U8}) {
            expect_products({32, a, b, S32});
            expect_products({64, a, b, S32});
        }
    }
}

TEST_P(MatrixSparse, four_bit_integers_come_in_pairs) {
    for (const NumberFormat& a : {S4, U4}) {
        for (const NumberFormat& b : {S4, U4}) {
            expect_products({64, a, b, S32});
            expect_products({128, a, b, S32});
        }
    }
}

TEST_P(MatrixSparse, eight_bit_floats) {
    for (const NumberFormat& a : {E4M3, E5M2}) {
        for (const NumberFormat& b : {E4M3, E5M2}) {
            expect_products({64, a, b, F32});
        }
    }
}

TEST_P(MatrixSparse, floats_of_four_to_eight_bits_in_bytes) {
    for (const NumberFormat& a : {E4M3, E5M2, E3M2, E2M3, E2M1}) {
        for (const NumberFormat& b : {E4M3, E5M2, E3M2, E2M3, E2M1}) {
            expect_products({64, a, b, F32, "kind::f8f6f4."});
            expect_products({64, a, b, F16, "kind::f8f6f4."});
        }
    }
}

TEST_P(MatrixSparse, eight_bit_floats_with_half_sums) {
    const Sparse form{64, E4M3, E5M2, F16};
    const Matrix b = Matrix::random(64, 8, E5M2, 2);
    const Matrix c = Matrix::random(16, 8, F16, 3);
    const SparseMatrix a(64, E4M3, 1);
    EXPECT_EQ(run_sparse(form, true, 0, a, b, c).values, product(a.whole, b, c).values);
}

TEST_P(MatrixSparse, indexes_may_come_in_any_order_unless_they_are_said_to_be_ordered) {
    SparseMatrix a(16, F16, 1);
    a.swap_indexes();
    const Matrix b = Matrix::random(16, 8, F16, 2);
    const Matrix c = Matrix::random(16, 8, F32, 3);
    const Sparse form{16, F16, F16, F32};
    EXPECT_EQ(run_sparse(form, false, 2, a, b, c).values, product(a.whole, b, c).values);
}

TEST_P(MatrixSparse, products_are_added_at_once) {
    SparseMatrix a(16, F16, 1);
    Matrix b(16, 8);
    Matrix c(16, 8);
    // Each product alone would be lost beside C.
    std::fill(a.stored.values.begin(), a.stored.values.end(), 1);
    std::fill(b.values.begin(), b.values.end(), 1);
    std::fill(c.values.begin(), c.values.end(), 1 << 25);
    EXPECT_EQ(run_sparse({16, F16, F16, F32}, true, 0, a, b, c).at(3, 3), (1 << 25) + 8);
}

TEST_P(MatrixSparse, zeros_that_are_not_stored_are_not_multiplied) {
    // An H200 gives these sums too, so it does not multiply infinity by zero.
    const SparseMatrix a(16, BF16, 1);
    Matrix b(16, 8);
    const Matrix c(16, 8);
    Held held_b = hold("b", b, BF16, place_in_8_columns(BF16));
    for (unsigned lane = 0; lane < 32; ++lane) {
        // Rows 2t and 2t + 1 of B, then those 8 further down: only row 15 has infinity.
        const std::uint16_t infinity = 0x7f80;
        if (lane % 4 == 3) {
            std::memcpy(&held_b.content[lane * 8 + 6], &infinity, sizeof infinity);
        }
    }
    const Held held_a = hold("a", a.stored, BF16, place_in_16_rows(BF16));
    const Held held_e = hold_words("e", a.metadata(0));
    Held held_c = hold("c", c, F32, place_in_result);
    held_c.content =
        run_held("mma.sp.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 " + held_c.list() + ", " +
                     held_a.list() + ", " + held_b.list() + ", " + held_c.list() + ", %e0, 0;\n",
                 {held_a, held_b, held_c, held_e}, held_c);
    const Matrix result = collect(held_c, 16, 8, F32, place_in_result);
    unsigned finite = 0;
    for (unsigned row = 0; row < 16; ++row) {
        const bool is_stored = a.has(row, 15);
        finite += is_stored ? 0 : 1;
        EXPECT_EQ(std::isfinite(result.at(row, 4)), !is_stored) << "row " << row;
    }
    EXPECT_GT(finite, 0u);
    EXPECT_LT(finite, 16u);
}

TEST(MatrixSparseRefusals, a_selector_out_of_range_is_invalid) {
    TestDevice device;
    const auto kernel = device.compile(
        ptx_module(".visible .entry k()\n{\n.reg .b32 %r<16>;\n"
                   "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, "
                   "{%r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11}, {%r0, %r1, %r2, %r3}, %r12, 2;\n"
                   "ret;\n}\n"));
    EXPECT_EQ(kernel, nullptr);
    EXPECT_NE(device.log.find("expected less than 2"), std::string::npos) << device.log;
}

} // namespace

} // namespace cuprum::emulator::test
