// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/typed_kernel.hpp>

#include <stdexcept>

namespace cuprum::detail {

void refuse_value(std::size_t position, const std::string& value, const char* expected) {
    throw std::invalid_argument("argument " + std::to_string(position) + " is " + value +
                                "; expected " + expected);
}

} // namespace cuprum::detail
