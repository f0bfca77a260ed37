// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/gil.hpp"

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

/// Gives up a reference. Unlike reset(), this empties the member before the object is destroyed:
/// the object's finaliser may use the member again.
inline void give_up(nb::object& member) noexcept {
    const nb::object gone = std::move(member);
}

/// Whether giving up the last share of a T returns at once. Specialised beside the types.
template <typename T>
inline constexpr bool IS_RELEASE_BRIEF = false;

/// A core object as a Python object holds it.
///
/// Python runs destructors with the GIL held, and giving up the last share calls the driver. If
/// that can take long, the GIL is released for it.
template <typename Core>
class Held : public Core {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): a Held is its core object.
    Held(Core core) noexcept : Core(std::move(core)) {}

    Held(Held&&) noexcept = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held& operator=(Held&&) = delete;

    ~Held() { drop(); }

    /// Gives up the share. Call it with the GIL held.
    void drop() noexcept {
        if (!this->is_closed()) {
            const Brief unlocked(!IS_RELEASE_BRIEF<Core>);
            this->close();
        }
    }
};

} // namespace cuprum::python
