// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/reference.hpp"

#include <cuprum/detail/peer_copies.hpp>

#include <cuda.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cuprum::python {

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

void remember_set_current(const PyDevice& device) {
    if (!was_made_current(device.core.ordinal())) {
        made_current().push_back(device.core.ordinal());
    }
}

void forget_set_current() noexcept {
    made_current().clear();
}

void raise_unless_set_current(const PyDevice& device) {
    const int ordinal = device.core.ordinal();
    if (!was_made_current(ordinal)) {
        const std::string number = std::to_string(ordinal);
        throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, "Device(" + number + ")",
                        "device " + number + " is not initialized on this thread; call Device(" +
                            number + ").set_current() first");
    }
}

void bind_reference(nb::module_& module) {
    module.def(
        "follow_reference",
        [](bool is_on) {
            follows_reference = is_on;
            cuprum::detail::set_peer_copies(!is_on); // pools that do not let others in mean it
        },
        "Choose whether objects behave as those of cuda.core where the two differ.");
}

} // namespace cuprum::python
