// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::trace {

/// Turns on what CUPRUM_TRACE, CUPRUM_LOG and CUPRUM_NVTX ask for. The driver's hook calls it once,
/// before the first use of the driver.
void read_environment();

} // namespace cuprum::trace
