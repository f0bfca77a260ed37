// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/architecture.hpp"

#include "support/text.hpp"

#include <algorithm>
#include <stdexcept>

namespace cuprum::detail {

void check_arch(const char* options, const std::string& arch) {
    std::string_view rest = arch_number(arch);
    const bool had_prefix = rest.size() != arch.size();
    // a: this architecture alone, f: its family
    if (!rest.empty() && (rest.back() == 'a' || rest.back() == 'f')) {
        rest.remove_suffix(1);
    }
    const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
    if (!had_prefix || rest.empty() || !std::all_of(rest.begin(), rest.end(), is_digit)) {
        throw std::invalid_argument(std::string(options) + " arch is " + detail::quoted(arch) +
                                    "; expected a name such as \"sm_90\" or \"compute_90\"");
    }
}

std::string_view arch_number(std::string_view arch) noexcept {
    for (const std::string_view prefix : {"sm_", "compute_"}) {
        if (arch.starts_with(prefix)) {
            return arch.substr(prefix.size());
        }
    }
    return arch;
}

} // namespace cuprum::detail
