// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where CUDA's own headers are.

#pragma once

#include <string>

namespace cuprum::detail {

/// Returns a text that changes when CUDA's own headers are others: the folders and the size and
/// time of the files in them that change with every release. Made once.
[[nodiscard]] const std::string& default_headers_fingerprint();

} // namespace cuprum::detail
