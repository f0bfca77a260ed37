// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/diagnostics.hpp"

#include <algorithm>
#include <utility>

namespace cuprum::emulator::ptx {

void Diagnostics::report(Problem problem, Location location, std::string message) {
    // To recover, the parser reads some text twice and may report the same error again.
    const auto is_same = [&](const Diagnostic& item) {
        return item.location.line == location.line && item.location.column == location.column &&
               item.message == message;
    };
    if (!is_full() && std::none_of(items_.begin(), items_.end(), is_same)) {
        items_.push_back({problem, location, std::move(message)});
    }
}

std::string Diagnostics::to_text() const {
    std::string text;
    for (const Diagnostic& item : items_) {
        text += "ptx:";
        // An error of the whole module has no location.
        if (item.location.line != 0) {
            text += std::to_string(item.location.line) + ":" +
                    std::to_string(item.location.column) + ":";
        }
        text += " error: " + item.message + "\n";
    }
    return text;
}

} // namespace cuprum::emulator::ptx
