// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handlers of the forms of rows (rows/row.hpp): one table for each list of rows.

#pragma once

#include "interp/handlers/common.hpp"
#include "rows/row.hpp"

#include <utility>

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Lets map_vectors() call an operation that is a template over its values.
template <typename Op>
struct OnVectors {
    template <typename T, typename... V>
    static Vector<T> apply(V... values) {
        return Op::apply(values...);
    }
};

/// The handlers of a list of rows. `Choose::handler<FORM>()` returns that of a form.
template <const auto& ROWS, typename Choose>
class RowHandlers {
public:
    /// Returns the handler of a form; nullptr if no row has the form.
    template <typename T>
    static Handler find(const T& form) {
        rows::Key key = 0; // as rows::key_of()
        for (unsigned i = 0; i < sizeof(T); ++i) {
            key = key << 8 | reinterpret_cast<const std::uint8_t*>(&form)[i];
        }
        unsigned first = 0;
        for (unsigned count = COUNT; count > 1;) {
            const unsigned half = count / 2;
            first = TABLE.keys[first + half] <= key ? first + half : first;
            count -= half;
        }
        return TABLE.keys[first] == key ? TABLE.handlers[first] : nullptr;
    }

private:
    static constexpr unsigned COUNT = rows::FORMS<ROWS>.size();

    struct Table {
        rows::Key keys[COUNT];
        Handler handlers[COUNT];
    };

    template <std::size_t... I>
    static constexpr Table make(std::index_sequence<I...> /*numbers*/) {
        return {{rows::key_of(rows::FORMS<ROWS>[I])...},
                {Choose::template handler<rows::FORMS<ROWS>[I]>()...}};
    }

    static constexpr Table TABLE = make(std::make_index_sequence<COUNT>());
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
