// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/lent_owner.hpp"

#include "support/leaving.hpp"

namespace cuprum::python {

std::shared_ptr<void> keep_alive(nb::handle object) {
    object.inc_ref();
    return {object.ptr(), [](PyObject* kept) {
                if (const PythonScope python; python) { // else it is freed with the process
                    Py_DECREF(kept);
                }
            }};
}

OwnerLoan::~OwnerLoan() {
    if (!kept_.is_valid()) {
        return;
    }
    // The last share may go on any thread.
    if (const PythonScope python; python) {
        kept_.reset();
    } else {
        static_cast<void>(kept_.release()); // it is freed with the process
    }
}

void LentOwner::settle_loan() noexcept {
    const std::shared_ptr<OwnerLoan> loan = std::move(loan_);
    nb::object owner = std::move(owner_);
    // Should the core give its loan up just now, ours is the last one and gives the owner up below.
    if (loan.use_count() > 1) {
        loan->keep(std::move(owner));
    }
}

} // namespace cuprum::python
