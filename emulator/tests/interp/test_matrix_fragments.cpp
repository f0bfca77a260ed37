// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// wmma: loads, multiplies and stores whole matrices, compared with the product by definition.

#include "support/matrix.hpp"
#include "support/operation.hpp"

namespace cuprum::emulator::test {

namespace {

class MatrixFragments : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixFragments, LEVELS);

struct Wmma {
    unsigned m;
    unsigned n;
    unsigned k;
    NumberFormat a;
    NumberFormat b;
    NumberFormat c;
    NumberFormat d;
    std::string a_layout = "row";
    std::string b_layout = "col";
    std::string c_layout = "row";
    std::string space = ".global";
    unsigned padding = 0;      // elements between one line and the next; 0: no stride is given
    std::string rounding = {}; // .rp

    [[nodiscard]] std::string shape() const {
        return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
    }

    [[nodiscard]] std::string text() const {
        return shape() + "." + d.name + "." + a.name + "." + b.name + "." + c.name + " " +
               a_layout + " " + b_layout + " " + c_layout + space + " " + std::to_string(padding);
    }
};

/// Returns a matrix in its memory layout.
std::vector<std::uint8_t> in_memory(const Matrix& matrix, const NumberFormat& format,
                                    const std::string& layout, unsigned padding) {
    const bool is_row = layout == "row";
    const unsigned stride = (is_row ? matrix.columns : matrix.rows) + padding;
    const unsigned lines = is_row ? matrix.rows : matrix.columns;
    std::vector<std::uint8_t> bytes((std::size_t{stride} * lines * format.bits + 7) / 8);
    for (unsigned row = 0; row < matrix.rows; ++row) {
        for (unsigned column = 0; column < matrix.columns; ++column) {
            const std::size_t bit =
                std::size_t{is_row ? row * stride + column : column * stride + row} * format.bits;
            const std::uint64_t raw = format.encode(matrix.at(row, column));
            for (unsigned part = 0; part < format.bits; part += 8) {
                bytes[bit / 8 + part / 8] |=
                    static_cast<std::uint8_t>(raw >> part << (format.bits < 8 ? bit % 8 : 0));
            }
        }
    }
    return bytes;
}

std::string registers(const std::string& prefix, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) {
        text += (i == 0 ? "%" : ", %") + prefix + std::to_string(i);
    }
    return text + "}";
}

/// Runs load, multiply and store. Returns D, read from memory.
Matrix run_wmma(const Wmma& wmma, const Matrix& a, const Matrix& b, const Matrix& c) {
    const auto count_of = [](const NumberFormat& format, unsigned elements, bool is_factor) {
        return is_factor && format.name == "f16" ? 8u : elements / 32 / format.per_register();
    };
    const unsigned counts[] = {
        count_of(wmma.a, a.rows * a.columns, true), count_of(wmma.b, b.rows * b.columns, true),
        count_of(wmma.c, c.rows * c.columns, false), count_of(wmma.d, c.rows * c.columns, false)};
    const NumberFormat* const formats[] = {&wmma.a, &wmma.b, &wmma.c, &wmma.d};
    const std::string layouts[] = {wmma.a_layout, wmma.b_layout, wmma.c_layout, wmma.c_layout};
    const unsigned rows[] = {wmma.m, wmma.k, wmma.m, wmma.m};
    const unsigned columns[] = {wmma.k, wmma.n, wmma.n, wmma.n};
    const std::string names[] = {"a", "b", "c", "d"};
    const bool is_shared = wmma.space == ".shared";

    std::string text = ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, "
                       ".param .u64 pd, .param .u32 bytes)\n{\n"
                       ".shared .align 32 .b8 copy[16384];\n"
                       ".reg .b64 %pa, %pb, %pc, %pd, %from, %to;\n"
                       ".reg .b32 %i, %n, %x, %s;\n.reg .pred %p;\n"
                       "ld.param.u64 %pa, [pa];\nld.param.u64 %pb, [pb];\n"
                       "ld.param.u64 %pc, [pc];\nld.param.u64 %pd, [pd];\n"
                       "ld.param.u32 %n, [bytes];\n";
    for (unsigned i = 0; i < 4; ++i) {
        text += ".reg .b" + std::to_string(formats[i]->register_bytes() * 8) + " %" + names[i] +
                "<" + std::to_string(counts[i]) + ">;\n";
    }
    // In shared memory, A, B and C have the same layout as in global memory, one after the other.
    text += is_shared
                ? "mov.u32 %i, 0;\nLOOP:\ncvt.u64.u32 %from, %i;\nadd.u64 %from, %from, %pa;\n"
                  "ld.global.b32 %x, [%from];\nmov.u32 %s, copy;\nadd.u32 %s, %s, %i;\n"
                  "st.shared.b32 [%s], %x;\nadd.u32 %i, %i, 4;\nsetp.lt.u32 %p, %i, %n;\n"
                  "@%p bra LOOP;\nsub.u64 %pb, %pb, %pa;\nsub.u64 %pc, %pc, %pa;\n"
                  "mov.u64 %to, copy;\nadd.u64 %pb, %pb, %to;\nadd.u64 %pc, %pc, %to;\n"
                  "mov.u64 %pa, %to;\nbar.warp.sync -1;\n"
                : "";
    const auto stride = [&](unsigned i) {
        const unsigned length = layouts[i] == "row" ? columns[i] : rows[i];
        return wmma.padding == 0 ? std::string() : ", " + std::to_string(length + wmma.padding);
    };
    for (unsigned i = 0; i < 3; ++i) {
        text += "wmma.load." + names[i] + ".sync.aligned." + layouts[i] + "." + wmma.shape() +
                wmma.space + "." + formats[i]->name + " " + registers(names[i], counts[i]) +
                ", [%p" + names[i] + "]" + stride(i) + ";\n";
    }
    const std::string types = wmma.a.name == "f16" ? wmma.d.name + "." + wmma.c.name
                                                   : wmma.d.name + "." + wmma.a.name + "." +
                                                         wmma.b.name + "." + wmma.c.name;
    text += std::string("wmma.mma") + (wmma.a.bits == 1 ? ".xor.popc" : "") + ".sync.aligned." +
            wmma.a_layout + "." + wmma.b_layout + "." + wmma.shape() + "." + types + wmma.rounding +
            " " + registers("d", counts[3]) + ", " + registers("a", counts[0]) + ", " +
            registers("b", counts[1]) + ", " + registers("c", counts[2]) + ";\n";
    text += "wmma.store.d.sync.aligned." + wmma.c_layout + "." + wmma.shape() + ".global." +
            wmma.d.name + " [%pd], " + registers("d", counts[3]) + stride(3) + ";\nret;\n}\n";

    TestDevice device;
    std::uint64_t places[4];
    const Matrix* const matrices[] = {&a, &b, &c};
    for (unsigned i = 0; i < 3; ++i) {
        const auto bytes = in_memory(*matrices[i], *formats[i], layouts[i], wmma.padding);
        auto* const place = device.allocate<std::uint8_t>(bytes.size());
        std::memcpy(place, bytes.data(), bytes.size());
        places[i] = reinterpret_cast<std::uint64_t>(place);
    }
    const auto empty = in_memory(Matrix(c.rows, c.columns), wmma.d, wmma.c_layout, wmma.padding);
    auto* const out = device.allocate<std::uint8_t>(empty.size());
    places[3] = reinterpret_cast<std::uint64_t>(out);
    const auto total = static_cast<std::uint32_t>(places[3] - places[0]);
    EXPECT_LE(total, 16384u);
    const Fault fault = run(device, text, {.grid = 1, .block = 32}, places[0], places[1], places[2],
                            places[3], total);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;

    Matrix result(c.rows, c.columns);
    const bool is_row = wmma.c_layout == "row";
    const unsigned line = (is_row ? c.columns : c.rows) + wmma.padding;
    for (unsigned row = 0; row < c.rows; ++row) {
        for (unsigned column = 0; column < c.columns; ++column) {
            std::uint64_t raw = 0;
            const std::size_t index = is_row ? row * line + column : column * line + row;
            std::memcpy(&raw, out + index * wmma.d.bits / 8, wmma.d.bits / 8);
            result.at(row, column) = wmma.d.decode(raw);
        }
    }
    return result;
}

void expect_product(const Wmma& wmma) {
    const Matrix a = Matrix::random(wmma.m, wmma.k, wmma.a, 1);
    const Matrix b = Matrix::random(wmma.k, wmma.n, wmma.b, 2);
    const Matrix c = Matrix::random(wmma.m, wmma.n, wmma.c, 3);
    EXPECT_EQ(run_wmma(wmma, a, b, c).values, product(a, b, c).values) << wmma.text();
}

/// Tests every layout, with and without a stride, in global, shared and generic memory.
void expect_products(Wmma wmma) {
    for (const std::string a : {"row", "col"}) {
        for (const std::string b : {"row", "col"}) {
            for (const std::string c : {"row", "col"}) {
                wmma.a_layout = a;
                wmma.b_layout = b;
                wmma.c_layout = c;
                wmma.padding = 0;
                wmma.space = "";
                expect_product(wmma);
                wmma.padding = 16;
                wmma.space = ".shared";
                expect_product(wmma);
            }
        }
    }
    wmma.space = ".global";
    expect_product(wmma);
}

struct Size {
    unsigned m;
    unsigned n;
};

const Size SIZES[] = {{16, 16}, {32, 8}, {8, 32}};

TEST_P(MatrixFragments, f16) {
    for (const Size size : SIZES) {
        expect_products({size.m, size.n, 16, F16, F16, F32, F32});
    }
}

TEST_P(MatrixFragments, f16_accumulators_of_either_width) {
    for (const Size size : SIZES) {
        expect_product({size.m, size.n, 16, F16, F16, F16, F16});
        expect_product({size.m, size.n, 16, F16, F16, F32, F16});
        expect_product({size.m, size.n, 16, F16, F16, F16, F32});
    }
}

TEST_P(MatrixFragments, bf16) {
    for (const Size size : SIZES) {
        expect_products({size.m, size.n, 16, BF16, BF16, F32, F32});
    }
}

TEST_P(MatrixFragments, bytes) {
    for (const Size size : SIZES) {
        expect_products({size.m, size.n, 16, S8, S8, S32, S32});
        expect_product({size.m, size.n, 16, U8, U8, S32, S32});
    }
}

TEST_P(MatrixFragments, tf32) {
    expect_products({16, 16, 8, TF32, TF32, F32, F32});
}

TEST_P(MatrixFragments, doubles) {
    expect_products({8, 8, 4, F64, F64, F64, F64});
}

TEST_P(MatrixFragments, doubles_round_as_they_say) {
    Matrix a(8, 4);
    Matrix b(4, 8);
    Matrix c(8, 8);
    a.at(1, 2) = 1;
    b.at(2, 3) = std::ldexp(1.0, -60);
    c.at(1, 3) = 1;
    Wmma wmma{8, 8, 4, F64, F64, F64, F64};
    for (const std::string mode : {"", ".rn", ".rz", ".rm", ".rp"}) {
        wmma.rounding = mode;
        EXPECT_EQ(run_wmma(wmma, a, b, c).at(1, 3), mode == ".rp" ? std::nextafter(1.0, 2.0) : 1.0)
            << mode;
    }
}

TEST_P(MatrixFragments, four_bit_integers) {
    expect_product({8, 8, 32, S4, S4, S32, S32});
    Wmma padded{8, 8, 32, U4, U4, S32, S32};
    padded.padding = 32;
    expect_product(padded);
}

TEST_P(MatrixFragments, bits_that_differ_are_counted) {
    const Wmma wmma{8, 8, 128, B1, B1, S32, S32};
    const Matrix a = Matrix::random(8, 128, B1, 4);
    const Matrix b = Matrix::random(128, 8, B1, 5);
    const Matrix c = Matrix::random(8, 8, S32, 6);
    Matrix expected = c;
    for (unsigned row = 0; row < 8; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
            for (unsigned i = 0; i < 128; ++i) {
                expected.at(row, column) += a.at(row, i) != b.at(i, column);
            }
        }
    }
    EXPECT_EQ(run_wmma(wmma, a, b, c).values, expected.values);
}

TEST_P(MatrixFragments, accumulators_of_either_width_have_their_elements_in_the_same_places) {
    // Kernels convert one fragment into the other element by element.
    const Matrix c = Matrix::random(16, 16, F32, 8);
    TestDevice device;
    const auto bytes = in_memory(c, F32, "row", 0);
    auto* const in = device.allocate<std::uint8_t>(bytes.size());
    std::memcpy(in, bytes.data(), bytes.size());
    auto* const out = device.allocate<std::uint16_t>(256);
    const Fault fault =
        run(device,
            ".visible .entry k(.param .u64 pi, .param .u64 po)\n{\n"
            ".reg .b64 %i, %o;\n.reg .b32 %f<8>, %h<4>;\n"
            "ld.param.u64 %i, [pi];\nld.param.u64 %o, [po];\n"
            "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 "
            "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%i];\n"
            "cvt.rn.f16x2.f32 %h0, %f1, %f0;\ncvt.rn.f16x2.f32 %h1, %f3, %f2;\n"
            "cvt.rn.f16x2.f32 %h2, %f5, %f4;\ncvt.rn.f16x2.f32 %h3, %f7, %f6;\n"
            "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%o], {%h0,%h1,%h2,%h3};\n"
            "ret;\n}\n",
            {.grid = 1, .block = 32}, reinterpret_cast<std::uint64_t>(in),
            reinterpret_cast<std::uint64_t>(out));
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
        ASSERT_EQ(F16.decode(out[i]), c.values[i]) << "element " << i;
    }
}

TEST_P(MatrixFragments, a_matrix_that_leaves_memory_is_a_fault) {
    struct Bad {
        std::string address;
        FaultKind kind;
    };

    for (const Bad& bad :
         {Bad{".shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [t], 17;", FaultKind::IllegalAddress},
          Bad{".shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [t+1], 16;",
              FaultKind::MisalignedAddress},
          Bad{".global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%w], 16;",
              FaultKind::IllegalAddress}}) {
        TestDevice device;
        const Fault fault = run(device,
                                ".visible .entry k()\n{\n.shared .align 32 .b8 t[512];\n"
                                ".reg .b32 %r<8>;\n.reg .b64 %w;\nmov.u64 %w, 64;\n"
                                "wmma.load.a.sync.aligned.row.m16n16k16" +
                                    bad.address + "\nret;\n}\n",
                                {.grid = 1, .block = 32});
        EXPECT_EQ(fault.kind, bad.kind) << bad.address << fault.report;
    }
}

} // namespace

} // namespace cuprum::emulator::test
