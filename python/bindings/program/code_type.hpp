// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/object_code.hpp>

#include <optional>
#include <string_view>

namespace cuprum::python {

/// Returns the code type of a name such as "cubin", in any case; nothing if there is none.
[[nodiscard]] std::optional<CodeType> code_type_from(std::string_view name);

} // namespace cuprum::python
