// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::runtime {

/// Logs that `name` is refused, keeps `code` as the last error and returns it.
int refuse(const char* name, const char* reason, int code) noexcept;

} // namespace cuprum::runtime
