// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::trace {

/// Starts to write driver calls to stderr: all of them, or only those that fail.
void start_log(bool has_all_calls);

} // namespace cuprum::trace
