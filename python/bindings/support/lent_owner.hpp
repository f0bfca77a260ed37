// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>

namespace cuprum::python {

namespace nb = nanobind;

/// Keeps a Python object alive from C++, hidden from the garbage collector. The last share may be
/// released on any thread.
[[nodiscard]] std::shared_ptr<void> keep_alive(nb::handle object);

/// What the core holds while a Python object lends it an owner.
class OwnerLoan {
public:
    OwnerLoan() = default;
    ~OwnerLoan();
    OwnerLoan(const OwnerLoan&) = delete;
    OwnerLoan& operator=(const OwnerLoan&) = delete;

    /// Takes over the reference that was lent.
    void keep(nb::object owner) noexcept { kept_ = std::move(owner); }

private:
    nb::object kept_; // null while it is only lent
};

/// The Python object that owns a stream or pool of another library.
///
/// The core must keep the owner alive as long as it uses the stream, but the garbage collector
/// cannot see references of the core. So the Python object (the Stream) holds the only reference,
/// shows it to the collector and lends the owner to the core. If the Python object is destroyed
/// while the core still shares the stream, the core takes the reference over. The reference is
/// always in one place, so it can be shown without counting.
class LentOwner {
public:
    LentOwner() = default;

    explicit LentOwner(nb::handle owner)
        : owner_(nb::borrow(owner)), loan_(std::make_shared<OwnerLoan>()) {}

    /// Returns what the core holds in place of the owner; null if there is none.
    [[nodiscard]] const std::shared_ptr<OwnerLoan>& loan() const noexcept { return loan_; }

    /// Returns the owner, or null.
    [[nodiscard]] nb::handle owner() const noexcept { return owner_; }

    /// Gives up the owner, to the core if that still has the loan. Call it with the GIL held, and
    /// after the own share of what is owned was given up.
    void settle() noexcept {
        if (owner_.is_valid()) [[unlikely]] {
            settle_loan();
        }
    }

private:
    void settle_loan() noexcept;

    nb::object owner_;
    std::shared_ptr<OwnerLoan> loan_;
};

} // namespace cuprum::python
