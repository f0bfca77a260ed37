// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Kernels of one matrix instruction. The test defines how matrices are distributed over the
// registers of 32 lanes. The instruction runs, and the results are assembled to a matrix.

#pragma once

#include "exec/harness.hpp"
#include "support/matrix.hpp"

#include <gtest/gtest.h>

namespace cuprum::emulator::test {

struct Place {
    unsigned row;
    unsigned column;
};

/// The registers of one operand in all lanes: `count` registers each, starting with lane 0.
struct Held {
    std::string name;
    unsigned count = 1;
    unsigned bytes = 4; // of a register
    std::vector<std::uint8_t> content;

    /// Returns the operand, such as {%a0, %a1}.
    [[nodiscard]] std::string list() const {
        std::string text = "{";
        for (unsigned i = 0; i < count; ++i) {
            text += (i == 0 ? "%" : ", %") + name + std::to_string(i);
        }
        return text + "}";
    }

    /// Returns PTX that declares and loads the registers, or that stores them.
    [[nodiscard]] std::string moves(bool is_store) const {
        const std::string bits = std::to_string(bytes * 8);
        const std::string at = "%p" + name + (is_store ? "out" : "");
        std::string text = ".reg .b64 " + at + ";\nld.param.u64 " + at + ", [" +
                           (is_store ? "pout" : "p" + name) + "];\nmad.wide.u32 " + at + ", %l, " +
                           std::to_string(count * bytes) + ", " + at + ";\n";
        if (!is_store) {
            text += ".reg .b" + bits + " %" + name + "<" + std::to_string(count) + ">;\n";
        }
        for (unsigned i = 0; i < count; ++i) {
            const std::string place = "[" + at + "+" + std::to_string(i * bytes) + "]";
            const std::string value = "%" + name + std::to_string(i);
            text += is_store ? "st.global.b" + bits + " " + place + ", " + value + ";\n"
                             : "ld.global.b" + bits + " " + value + ", " + place + ";\n";
        }
        return text;
    }
};

/// Distributes a matrix over lanes. `place(lane, i)` is the position of a lane's element `i`.
template <typename PlaceOf>
Held hold(const std::string& name, const Matrix& matrix, const NumberFormat& format,
          PlaceOf place) {
    const unsigned per_lane = matrix.rows * matrix.columns / 32;
    Held held{name, per_lane / format.per_register(), format.register_bytes(), {}};
    held.content.resize(std::size_t{per_lane} * 32 * format.bits / 8);
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < per_lane; ++i) {
            const Place at = place(lane, i);
            const std::uint64_t raw = format.encode(matrix.at(at.row, at.column));
            const std::size_t bit = (std::size_t{lane} * per_lane + i) * format.bits;
            for (unsigned part = 0; part < format.bits; part += 8) {
                held.content[bit / 8 + part / 8] |=
                    static_cast<std::uint8_t>(raw >> part << (format.bits < 8 ? bit % 8 : 0));
            }
        }
    }
    return held;
}

/// Makes an operand of one word per lane.
inline Held hold_words(const std::string& name, const std::vector<std::uint32_t>& words) {
    Held held{name, 1, 4, {}};
    held.content.resize(words.size() * 4);
    std::memcpy(held.content.data(), words.data(), held.content.size());
    return held;
}

/// Assembles a matrix of elements of 8, 16, 32 or 64 bits.
template <typename PlaceOf>
Matrix collect(const Held& held, unsigned rows, unsigned columns, const NumberFormat& format,
               PlaceOf place) {
    Matrix result(rows, columns);
    const unsigned per_lane = rows * columns / 32;
    for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned i = 0; i < per_lane; ++i) {
            std::uint64_t raw = 0;
            std::memcpy(&raw, &held.content[(lane * per_lane + i) * format.bits / 8],
                        format.bits / 8);
            const Place at = place(lane, i);
            result.at(at.row, at.column) = format.decode(raw);
        }
    }
    return result;
}

/// Runs `code` with the registers of `inputs`, and returns those of `output`, which is one of them.
inline std::vector<std::uint8_t> run_held(const std::string& code, const std::vector<Held>& inputs,
                                          const Held& output) {
    std::string parameters;
    std::string loads;
    TestDevice device;
    const auto upload = [&](const std::vector<std::uint8_t>& bytes) {
        auto* const place = device.allocate<std::uint8_t>(bytes.size());
        std::memcpy(place, bytes.data(), bytes.size());
        return reinterpret_cast<std::uint64_t>(place);
    };
    // The kernel declares as many parameters as any test needs; unused ones are ignored.
    constexpr std::size_t MOST = 6;
    std::uint64_t addresses[MOST] = {};
    EXPECT_LE(inputs.size(), MOST);
    for (std::size_t i = 0; i < MOST; ++i) {
        const std::string name = i < inputs.size() ? inputs[i].name : "unused" + std::to_string(i);
        parameters += ".param .u64 p" + name + ", ";
        if (i < inputs.size()) {
            loads += inputs[i].moves(false);
            addresses[i] = upload(inputs[i].content);
        }
    }
    auto* const out = device.allocate<std::uint8_t>(output.content.size());
    const Fault fault =
        run(device,
            ".visible .entry k(" + parameters +
                ".param .u64 pout)\n{\n.reg .b32 %l;\nmov.u32 %l, %tid.x;\n" + loads + code +
                output.moves(true) + "ret;\n}\n",
            {.grid = 1, .block = 32}, addresses[0], addresses[1], addresses[2], addresses[3],
            addresses[4], addresses[5], reinterpret_cast<std::uint64_t>(out));
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + output.content.size()};
}

} // namespace cuprum::emulator::test
