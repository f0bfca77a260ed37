// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/compatibility.hpp"

#include <cuprum/detail/peer_copies.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cuprum::python::compatibility {

using namespace nb::literals;

namespace {

std::vector<int>& made_current() {
    static thread_local std::vector<int> ordinals;
    return ordinals;
}

bool was_made_current(int ordinal) {
    const std::vector<int>& ordinals = made_current();
    return std::find(ordinals.begin(), ordinals.end(), ordinal) != ordinals.end();
}

} // namespace

void remember_set_current(const Device& device) {
    if (!was_made_current(device.ordinal())) {
        made_current().push_back(device.ordinal());
    }
}

void forget_set_current() noexcept {
    made_current().clear();
}

void raise_unless_set_current(const Device& device) {
    const int ordinal = device.ordinal();
    if (!was_made_current(ordinal)) {
        const std::string number = std::to_string(ordinal);
        throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, "Device(" + number + ")",
                        "device " + number + " is not initialized on this thread; call Device(" +
                            number + ").set_current() first");
    }
}

void bind(nb::module_& module) {
    module.def(
        "follow_reference",
        [](bool is_on) {
            hot_data.follows_reference = is_on;
            // A copy between devices fails if their pools deny each other access.
            cuprum::detail::set_peer_copies(!is_on);
        },
        "is_on"_a, "Choose whether objects behave as those of cuda.core where the two differ.");
}

} // namespace cuprum::python::compatibility
