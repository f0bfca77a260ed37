// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions whose results nothing uses: which of them must stay.

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator {

TEST(DeadCode, strong_loads_happen_although_nothing_uses_their_results) {
    for (const char* const order : {"volatile", "relaxed.gpu", "acquire.gpu", "relaxed.sys"}) {
        test::TestDevice device;
        const Fault fault =
            test::run(device,
                      ".visible .entry k() {\n.reg .b32 %x; .reg .b64 %a;\nmov.u64 %a, 16;\nld." +
                          std::string(order) + ".global.u32 %x, [%a];\nret;\n}\n",
                      {.block = 32});
        EXPECT_EQ(fault.kind, FaultKind::IllegalAddress) << order;
    }
}

} // namespace cuprum::emulator
