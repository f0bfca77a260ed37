// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// mma.m8n8k4 of halves: four products at once, compared with the product by definition and the
// fragment layouts that PTX specifies. tools/record-corpus ran the same forms on an H200.

#include "support/matrix_kernel.hpp"
#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

class MatrixQuads : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixQuads, LEVELS);

constexpr unsigned PRODUCTS = 4;

/// The four matrices of one operand are stacked: product q has the rows from q * rows on.
Place below(unsigned lane, unsigned rows, Place place) {
    return {lane % 16 / 4 * rows + place.row, place.column};
}

/// Rows or columns 0 to 3 are in lanes below 16, the others in lanes above.
unsigned high(unsigned lane) {
    return lane < 16 ? 0 : 4;
}

Place place_in_a(bool is_row, unsigned lane, unsigned i) {
    return is_row ? Place{lane % 4 + high(lane), i} : Place{i + high(lane), lane % 4};
}

Place place_in_b(bool is_row, unsigned lane, unsigned i) {
    return is_row ? Place{lane % 4, i + high(lane)} : Place{i, lane % 4 + high(lane)};
}

Place place_in_c(const NumberFormat& format, unsigned lane, unsigned i) {
    if (format.bits == 16) {
        return {lane % 4 + high(lane), i};
    }
    return {(lane & 1) + (i & 2) + high(lane), (i & 4) + (lane & 2) + (i & 1)};
}

Matrix part(const Matrix& matrix, unsigned q) {
    Matrix result(matrix.rows / PRODUCTS, matrix.columns);
    std::copy_n(matrix.values.begin() + static_cast<std::ptrdiff_t>(q * result.values.size()),
                result.values.size(), result.values.begin());
    return result;
}

void expect_products(const NumberFormat& d_format, const NumberFormat& c_format, bool a_is_row,
                     bool b_is_row) {
    const Matrix a = Matrix::random(8 * PRODUCTS, 4, F16, 1);
    const Matrix b = Matrix::random(4 * PRODUCTS, 8, F16, 2);
    const Matrix c = Matrix::random(8 * PRODUCTS, 8, c_format, 3);
    const auto in_d = [&](unsigned lane, unsigned i) {
        return below(lane, 8, place_in_c(d_format, lane, i));
    };
    const Held held_a = hold("a", a, F16, [&](unsigned lane, unsigned i) {
        return below(lane, 8, place_in_a(a_is_row, lane, i));
    });
    const Held held_b = hold("b", b, F16, [&](unsigned lane, unsigned i) {
        return below(lane, 4, place_in_b(b_is_row, lane, i));
    });
    const Held held_c = hold("c", c, c_format, [&](unsigned lane, unsigned i) {
        return below(lane, 8, place_in_c(c_format, lane, i));
    });
    Held held_d = hold("d", Matrix(8 * PRODUCTS, 8), d_format, in_d);
    const std::string name = std::string("mma.sync.aligned.m8n8k4.") + (a_is_row ? "row" : "col") +
                             (b_is_row ? ".row." : ".col.") + d_format.name + ".f16.f16." +
                             c_format.name;
    held_d.content = run_held(name + " " + held_d.list() + ", " + held_a.list() + ", " +
                                  held_b.list() + ", " + held_c.list() + ";\n",
                              {held_a, held_b, held_c, held_d}, held_d);
    const Matrix result = collect(held_d, 8 * PRODUCTS, 8, d_format, in_d);
    for (unsigned q = 0; q < PRODUCTS; ++q) {
        EXPECT_EQ(part(result, q).values, product(part(a, q), part(b, q), part(c, q)).values)
            << name << ", product " << q;
    }
}

TEST_P(MatrixQuads, four_products_of_halves_in_any_layout) {
    for (const bool a_is_row : {false, true}) {
        for (const bool b_is_row : {false, true}) {
            expect_products(F32, F32, a_is_row, b_is_row);
            expect_products(F16, F16, a_is_row, b_is_row);
            expect_products(F32, F16, a_is_row, b_is_row);
        }
    }
}

} // namespace

} // namespace cuprum::emulator::test
