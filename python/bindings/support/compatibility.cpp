// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/compatibility.hpp"

#include "support/class.hpp"

#include <cuprum/detail/peer_copies.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>

#include <string>

namespace cuprum::python::compatibility {

void raise_never_current(const Device& device) {
    const std::string number = std::to_string(device.ordinal());
    throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, "Device(" + number + ")",
                    "device " + number + " was never made current; call Device(" + number +
                        ").set_current() first");
}

void bind(nb::module_& module) {
    function(module, "follow_reference", [](bool is_on) {
        hot_data.follows_reference = is_on;
        // A copy between devices fails if their pools deny each other access.
        cuprum::detail::set_peer_copies(!is_on);
    });
}

} // namespace cuprum::python::compatibility
