// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/link/session.hpp"

#include "program/code/fatbin.hpp"

namespace cuprum::detail {

std::string ptx_in(const ObjectCode& code) {
    switch (code.code_type()) {
    case CodeType::Ptx:
        return std::string(code.text());
    case CodeType::Cubin:
    case CodeType::Fatbin:
        return std::string(ptx_in_fatbin(code.code()));
    default:
        return {};
    }
}

} // namespace cuprum::detail
