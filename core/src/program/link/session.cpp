// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/link/session.hpp"

#include "program/code/fatbin.hpp"
#include "support/readable_name.hpp"

namespace cuprum::detail {

std::string advice_about_undefined(std::string_view log) {
    for (const std::string_view words : {"Undefined reference to '", "Unresolved extern function '",
                                         "Unresolved extern variable '"}) {
        const std::size_t found = log.find(words);
        if (found == std::string_view::npos) {
            continue;
        }
        const std::string_view rest = log.substr(found + words.size());
        return "no input defines \"" + readable_signature(rest.substr(0, rest.find('\''))) +
               "\"; give the Linker the code that does too, compiled with "
               "relocatable_device_code, or check the types of its parameters";
    }
    return {};
}

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
