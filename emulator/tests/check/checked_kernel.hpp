// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs the body of a kernel with checks enabled.

#pragma once

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator::test {

/// Runs a kernel `planted(out)` with this body on a device with checks enabled, and returns its
/// fault.
///
/// The body finds the thread in %t, the lane in %l, the block in %b, and 4 * %t in %t4. %mine is
/// the address of `tile` (1024 words of shared memory) plus %t4; %out is the address of `out`. The
/// registers %r, %rd, %h and %p are free.
inline Fault run_checked(TestDevice& device, const std::string& body, Shape shape,
                         std::uint32_t* out) {
    const auto kernel = device.compile(".version 8.0\n.target sm_90\n.address_size 64\n"
                                       ".visible .entry planted(.param .u64 out) {\n"
                                       ".shared .align 16 .b8 tile[4096];\n"
                                       ".shared .align 8 .b64 gate;\n"
                                       ".local .align 8 .b8 own[64];\n"
                                       ".reg .pred %p<4>; .reg .b16 %h<4>;\n"
                                       ".reg .b32 %t, %l, %b, %t4, %mine, %r<16>;\n"
                                       ".reg .b64 %out, %rd<8>;\n"
                                       "ld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n"
                                       "mov.u32 %l, %laneid;\nmov.u32 %b, %ctaid.x;\n"
                                       "shl.b32 %t4, %t, 2;\nmov.u32 %mine, tile;\n"
                                       "add.u32 %mine, %mine, %t4;\n" +
                                       body + "\nret;\n}\n");
    EXPECT_NE(kernel, nullptr) << device.log;
    return kernel == nullptr ? Fault{} : Launch(device, kernel, shape, out).wait();
}

inline Fault run_checked(std::uint8_t checks, const std::string& body, Shape shape) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(4096);
    device.enable_checks(checks);
    return run_checked(device, body, shape, out);
}

/// Expects a fault of a kind whose report contains all these parts.
inline void expect_report(const Fault& fault, FaultKind kind,
                          std::initializer_list<const char*> parts) {
    EXPECT_EQ(fault.kind, kind) << fault.report;
    for (const char* const part : parts) {
        EXPECT_NE(fault.report.find(part), std::string::npos) << "missing: " << part << "\n"
                                                              << fault.report;
    }
}

} // namespace cuprum::emulator::test
