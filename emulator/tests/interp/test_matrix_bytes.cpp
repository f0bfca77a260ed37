// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// ldmatrix and stmatrix of bytes, and of elements of four and six bits that are expanded to bytes.

#include "support/operation.hpp"

#include <algorithm>
#include <random>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using Rows = std::vector<std::vector<unsigned>>;

class MatrixBytes : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, MatrixBytes, LEVELS);

/// Lane L copies row L, 16 bytes, from global to shared memory; %s is its address. Rows are 48
/// bytes apart, so they are not contiguous.
const std::string PROLOGUE = R"(.visible .entry k(.param .u64 po, .param .u64 pi)
{
    .shared .align 16 .b8 rows[1536];
    .reg .b64 %o, %i, %w;
    .reg .b32 %l, %s, %x, %r<4>;
    ld.param.u64 %o, [po];
    ld.param.u64 %i, [pi];
    mov.u32 %l, %tid.x;
    mov.u32 %s, rows;
    mad.lo.u32 %s, %l, 48, %s;
    cvt.u64.u32 %w, %s;
    cvta.shared.u64 %w, %w;
    mad.wide.u32 %i, %l, 16, %i;
    mad.wide.u32 %o, %l, 16, %o;
    ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%i];
    st.shared.v4.b32 [%s], {%r0, %r1, %r2, %r3};
    bar.warp.sync -1;
)";

std::string registers(unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i) {
        text += (i == 0 ? "%r" : ", %r") + std::to_string(i);
    }
    return text + "}";
}

/// Runs an instruction on 32 rows of 16 bytes. Returns four words of each lane: its registers, or
/// its row if the instruction is a store.
std::vector<U> run_rows(const std::string& instruction, bool is_store,
                        const std::vector<std::uint8_t>& rows, Fault* fault = nullptr) {
    TestDevice device;
    auto* const out = device.allocate<U>(128);
    auto* const in = device.allocate<std::uint8_t>(512);
    std::copy(rows.begin(), rows.end(), in);
    const std::string show =
        is_store ? "bar.warp.sync -1;\nld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [%s];\n" : "";
    const Fault result = run(device,
                             PROLOGUE + instruction + show +
                                 "st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};\nret;\n}\n",
                             {.grid = 1, .block = 32}, reinterpret_cast<std::uint64_t>(out),
                             reinterpret_cast<std::uint64_t>(in));
    if (fault != nullptr) {
        *fault = result;
    } else {
        EXPECT_EQ(result.kind, FaultKind::None) << instruction << result.report;
    }
    return {out, out + 128};
}

/// Makes 32 rows of 16 elements with this many bits.
Rows random_rows(unsigned bits) {
    std::mt19937 engine(bits);
    std::uniform_int_distribution<unsigned> elements(0, (1u << bits) - 1);
    Rows rows(32, std::vector<unsigned>(16));
    for (auto& row : rows) {
        for (unsigned& element : row) {
            element = elements(engine);
        }
    }
    return rows;
}

/// Packs elements, the first in the lowest bits. The rest of each 16 bytes is padding of ones.
std::vector<std::uint8_t> pack(const Rows& rows, unsigned bits) {
    std::vector<std::uint8_t> bytes(512, 0xff);
    for (unsigned row = 0; row < 32; ++row) {
        for (unsigned i = 0; i < 16 * bits; ++i) {
            const unsigned bit = rows[row][i / bits] >> (i % bits) & 1;
            std::uint8_t& byte = bytes[row * 16 + i / 8];
            byte = static_cast<std::uint8_t>((byte & ~(1u << (i % 8))) | bit << (i % 8));
        }
    }
    return bytes;
}

struct Source {
    unsigned bits;
    std::string name;
};

const Source BYTES{8, ".b8"};
const Source NARROW[] = {{6, ".b8x16.b6x16_p32"}, {4, ".b8x16.b4x16_p64"}};

/// Tests an instruction with addresses of every kind.
template <typename Check>
void with_addresses(const std::string& name, const std::string& type, Check check) {
    check(name + ".shared" + type, "[%s]");
    check(name + ".shared::cta" + type, "[%s]");
    check(name + type, "[%w]");
}

void expect_transposed(const Source& source, unsigned count) {
    const Rows rows = random_rows(source.bits);
    const auto check = [&](const std::string& name, const std::string& address) {
        const std::vector<U> words =
            run_rows(name + " " + registers(2 * count) + ", " + address + ";\n", false,
                     pack(rows, source.bits));
        for (unsigned lane = 0; lane < 32; ++lane) {
            for (unsigned i = 0; i < 2 * count; ++i) {
                // Four neighbours of a row of the transposed matrix. The second register has those
                // eight rows further down.
                U expected = 0;
                for (unsigned j = 0; j < 4; ++j) {
                    expected |= rows[i / 2 * 16 + lane % 4 * 4 + j][lane / 4 + i % 2 * 8] << 8 * j;
                }
                ASSERT_EQ(words[lane * 4 + i], expected)
                    << name << ", lane " << lane << ", register " << i;
            }
        }
    };
    with_addresses("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) + ".trans", source.name,
                   check);
}

TEST_P(MatrixBytes, ldmatrix_transposes_16_by_16_bytes) {
    expect_transposed(BYTES, 1);
    expect_transposed(BYTES, 2);
}

TEST_P(MatrixBytes, ldmatrix_transposes_16_by_16_narrow_elements) {
    for (const Source& source : NARROW) {
        expect_transposed(source, 1);
        expect_transposed(source, 2);
    }
}

TEST_P(MatrixBytes, ldmatrix_widens_8_by_16_narrow_elements) {
    for (const Source& source : NARROW) {
        const Rows rows = random_rows(source.bits);
        for (const unsigned count : {1u, 2u, 4u}) {
            const auto check = [&](const std::string& name, const std::string& address) {
                const std::vector<U> words =
                    run_rows(name + " " + registers(count) + ", " + address + ";\n", false,
                             pack(rows, source.bits));
                for (unsigned lane = 0; lane < 32; ++lane) {
                    for (unsigned i = 0; i < count; ++i) {
                        U expected = 0;
                        for (unsigned j = 0; j < 4; ++j) {
                            expected |= rows[i * 8 + lane / 4][lane % 4 * 4 + j] << 8 * j;
                        }
                        ASSERT_EQ(words[lane * 4 + i], expected)
                            << name << ", lane " << lane << ", register " << i;
                    }
                }
            };
            with_addresses("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count), source.name,
                           check);
        }
    }
}

TEST_P(MatrixBytes, stmatrix_transposes_16_by_8_bytes) {
    const Rows rows = random_rows(8);
    const std::vector<std::uint8_t> bytes = pack(rows, 8);
    for (const unsigned count : {1u, 2u, 4u}) {
        const auto check = [&](const std::string& name, const std::string& address) {
            // Each lane's registers contain its own row: element i of register r is byte 4r + i.
            const std::vector<U> words =
                run_rows(name + " " + address + ", " + registers(count) + ";\n", true, bytes);
            for (unsigned row = 0; row < 32; ++row) {
                for (unsigned column = 0; column < 16; ++column) {
                    const U got = words[row * 4 + column / 4] >> (column % 4 * 8) & 0xff;
                    // A matrix of 16 rows and 8 columns in the layout of accumulators: a lane has
                    // two neighbours of row g and two of row g + 8. The columns are stored to
                    // memory.
                    const unsigned lane = column % 8 * 4 + row % 8 / 2;
                    const unsigned element = row % 2 + column / 8 * 2;
                    const U expected =
                        row / 8 < count ? rows[lane][row / 8 * 4 + element] : rows[row][column];
                    ASSERT_EQ(got, expected) << name << ", row " << row << ", column " << column;
                }
            }
        };
        with_addresses("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) + ".trans", ".b8",
                       check);
    }
}

TEST_P(MatrixBytes, bad_row_addresses_are_faults) {
    const std::vector<std::uint8_t> bytes(512);
    for (const std::string instruction :
         {"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r0, %r1, %r2, %r3}, [%s",
          "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r0, %r1, %r2, %r3}, [%s",
          "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [%s"}) {
        const bool is_store = instruction.starts_with("st");
        const std::string end = is_store ? "], {%r0, %r1, %r2, %r3};\n" : "];\n";
        Fault fault;
        (void)run_rows(instruction + "+8" + end, is_store, bytes, &fault);
        EXPECT_EQ(fault.kind, FaultKind::MisalignedAddress) << instruction;
        (void)run_rows(instruction + "+1536" + end, is_store, bytes, &fault);
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress) << instruction;
    }
}

TEST(MatrixBytesRefusals, what_does_not_go_together_is_refused) {
    for (const std::string name :
         {"ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r0, %r1}, [%r2];",
          "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r0, %r1}, [%r2];",
          "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r0}, [%r2];",
          "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16 {%r0}, [%r2];",
          "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r0}, [%r2];",
          "ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [%r2];",
          "ldmatrix.sync.aligned.m16n8.x1.trans.shared.b8 {%r0}, [%r2];",
          "stmatrix.sync.aligned.m16n8.x1.shared.b8 [%r2], {%r0};",
          "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8 [%r2], {%r0};",
          "stmatrix.sync.aligned.m8n8.x1.shared.b8 [%r2], {%r0};"}) {
        TestDevice device;
        const auto kernel = device.compile(
            ptx_module(".visible .entry k()\n{\n.reg .b32 %r<4>;\n" + name + "\nret;\n}\n"));
        EXPECT_EQ(kernel, nullptr) << name;
        EXPECT_NE(device.log.find(name.substr(0, name.find(' '))), std::string::npos) << device.log;
    }
}

} // namespace

} // namespace cuprum::emulator::test
