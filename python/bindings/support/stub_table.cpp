// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/stub_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cuprum::python {

const StubEntry& stub_entry(std::string_view name, std::string_view member) {
    std::string full(name);
    if (!member.empty()) {
        full.append(".").append(member);
    }
    const auto found = std::ranges::lower_bound(
        STUB_ENTRIES, std::string_view(full), {},
        [](const StubEntry& entry) { return std::string_view(entry.name); });
    if (found == STUB_ENTRIES.end() || found->name != full) {
        throw std::logic_error("no stub in python/cuprum/_cuprum describes " + full);
    }
    return *found;
}

} // namespace cuprum::python
