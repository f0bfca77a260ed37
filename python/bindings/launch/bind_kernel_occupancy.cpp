// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "support/class.hpp"

#include <cuprum/kernel.hpp>

#include <cuda.h>

#include <limits>

namespace cuprum::python {

namespace {

/// Answers for the device that is current when asked.
struct PyKernelOccupancy {
    explicit PyKernelOccupancy(const Kernel& kernel) : shared_(kernel.occupancy()) {}

    ~PyKernelOccupancy() {
        const Brief unlocked(true); // it may be the last share
        shared_.reset();
    }

    PyKernelOccupancy(const PyKernelOccupancy&) = delete;
    PyKernelOccupancy& operator=(const PyKernelOccupancy&) = delete;

    [[nodiscard]] const KernelOccupancy& core() const { return *shared_; }

private:
    std::optional<KernelOccupancy> shared_;
};

[[nodiscard]] int int_argument(nb::handle value, const char* name) {
    const std::size_t number = size_argument(value, name);
    if (number > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        raise_error(PyExc_ValueError, std::string(name) + " is out of range: " + repr_text(value));
    }
    return static_cast<int>(number);
}

/// Returns the occupancy object of a kernel, made when it is first asked for.
nb::object occupancy_of(const PyKernel& self) {
    const nb::ft_lock_guard lock(self.mutex);
    if (!self.occupancy.is_valid()) {
        self.occupancy = make<PyKernelOccupancy>(self);
    }
    return self.occupancy;
}

int max_active_blocks(const PyKernelOccupancy& self, nb::handle block_size, std::size_t shared) {
    const int threads = int_argument(block_size, "block_size");
    const Brief unlocked;
    return self.core().max_active_blocks_per_multiprocessor(threads, shared);
}

/// Returns the C function of an object of the driver's bindings, or null.
///
/// An object made from a value holds the function. One made from an address, as users of the
/// bindings do, takes the address for the place that holds it: the place is the function.
[[nodiscard]] CUoccupancyB2DSize c_function(nb::handle value) {
    if (type_label(value) != "CUoccupancyB2DSize") {
        return nullptr;
    }
    const auto own = reinterpret_cast<std::uintptr_t>(value.ptr());
    const auto size = nb::cast<std::uintptr_t>(nb::object(value.type().attr("__basicsize__")));
    const auto place = nb::cast<std::uintptr_t>(nb::object(value.attr("getPtr")()));
    const bool is_held = place - own < size;
    return reinterpret_cast<CUoccupancyB2DSize>(
        is_held
            ? static_cast<std::uintptr_t>(address_argument(value, "dynamic_shared_memory_needed"))
            : place);
}

nb::object max_potential_block_size(const PyKernelOccupancy& self, nb::handle needed,
                                    nb::handle limit) {
    const int most = int_argument(limit, "block_size_limit");
    PotentialBlockSize best;
    // NOTE: asked first, since such a function is an index too.
    if (const CUoccupancyB2DSize function = c_function(needed)) {
        const nb::gil_scoped_release unlocked;
        best = self.core().max_potential_block_size(
            [function](int threads) { return function(threads); }, most);
    } else if (PyIndex_Check(needed.ptr()) != 0) {
        const std::size_t bytes = size_argument(needed, "dynamic_shared_memory_needed");
        const nb::gil_scoped_release unlocked;
        best = self.core().max_potential_block_size(bytes, most);
    } else if (PyCallable_Check(needed.ptr()) != 0) {
        // The GIL is kept: the function is called on this thread.
        best = self.core().max_potential_block_size(
            [needed](int threads) {
                return size_argument(nb::object(needed(threads)), "what the function returned");
            },
            most);
    } else {
        raise_error(PyExc_TypeError, "dynamic_shared_memory_needed must be an int, a function of "
                                     "the block size or a CUoccupancyB2DSize, got " +
                                         type_label(needed));
    }
    return nb::module_::import_("cuprum._types")
        .attr("MaxPotentialBlockSizeOccupancyResult")(best.min_grid_size, best.max_block_size);
}

std::size_t available_shared_memory(const PyKernelOccupancy& self, nb::handle blocks,
                                    nb::handle block_size) {
    const int count = int_argument(blocks, "num_blocks_per_multiprocessor");
    const int threads = int_argument(block_size, "block_size");
    const nb::gil_scoped_release unlocked;
    return self.core().available_dynamic_shared_memory_per_block(count, threads);
}

int max_potential_cluster_size(const PyKernelOccupancy& self, nb::handle config,
                               nb::handle stream) {
    nb::object made;
    const PyLaunchConfig& how = config_argument(config, made);
    const Stream& where = stream_argument(stream);
    const nb::gil_scoped_release unlocked;
    return self.core().max_potential_cluster_size(how.core, where);
}

int max_active_clusters(const PyKernelOccupancy& self, nb::handle config, nb::handle stream) {
    nb::object made;
    const PyLaunchConfig& how = config_argument(config, made);
    const Stream& where = stream_argument(stream);
    const nb::gil_scoped_release unlocked;
    return self.core().max_active_clusters(how.core, where);
}

} // namespace

void bind_kernel_occupancy(nb::module_& module, Class<PyKernel>& kernel) {
    Class<PyKernelOccupancy> type(module, "KernelOccupancy");
    type.refuse_construction(
        "KernelOccupancy cannot be instantiated directly. Use Kernel.occupancy");
    type.method("__repr__", [](const PyKernelOccupancy& self) {
        return "<KernelOccupancy kernel=" + repr_text(nb::cast(self.core().kernel().name())) + ">";
    });
    type.method<max_active_blocks>("max_active_blocks_per_multiprocessor", HOT);
    type.method<max_potential_block_size>("max_potential_block_size", HOT);
    type.method<available_shared_memory>("available_dynamic_shared_memory_per_block", HOT);
    type.method<max_potential_cluster_size>("max_potential_cluster_size", HOT);
    type.method<max_active_clusters>("max_active_clusters", HOT);
    kernel.property<occupancy_of>("occupancy", HOT);
}

} // namespace cuprum::python
