// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "support/arguments.hpp"
#include "support/fast_method.hpp"
#include "support/gil.hpp"
#include "support/python_objects.hpp"

#include <cuprum/kernel.hpp>
#include <cuprum/stream.hpp>

#include <cuda.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

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

int max_active_blocks(const PyKernelOccupancy& self, nb::handle block_size, nb::handle bytes) {
    const int threads = int_argument(block_size, "block_size");
    const std::size_t shared = size_argument(bytes, "dynamic_shared_memory_size");
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

void bind_kernel_occupancy(nb::module_& module, nb::class_<PyKernel>& kernel) {
    nb::class_<PyKernelOccupancy> type(module, "KernelOccupancy",
                                       R"(The number of blocks of a kernel that fit on a device.

The device is that of the current context. ``Kernel.occupancy`` is one object, which remembers its last
answer until an attribute of a kernel is set. After a change with the driver's own functions, get the
kernel anew with ``ObjectCode.get_kernel``.

Examples
--------
>>> kernel.occupancy.max_active_blocks_per_multiprocessor(256, dynamic_shared_memory_size=0) > 0
True)");
    note_type<PyKernelOccupancy>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "KernelOccupancy cannot be instantiated directly. Use Kernel.occupancy");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def("__repr__", [](const PyKernelOccupancy& self) {
        return "<KernelOccupancy kernel=" + repr_text(nb::cast(self.core().kernel().name())) + ">";
    });
    fast_method<max_active_blocks>(
        type,
        "def max_active_blocks_per_multiprocessor(self, block_size: int, "
        "dynamic_shared_memory_size: int) -> int",
        R"(Return how many blocks fit on one multiprocessor at once.

Parameters
----------
block_size : int
    Threads per block.
dynamic_shared_memory_size : int
    Dynamic shared memory per block, in bytes.

Returns
-------
int
    The number of blocks.

Raises
------
TypeError
    If an argument is not an int.
ValueError
    If the block size is less than 1.
CUDAError
    If the driver refuses it.)");
    fast_method<max_potential_block_size>(
        type,
        "def max_potential_block_size(self, dynamic_shared_memory_needed: int | "
        "collections.abc.Callable[[int], int], block_size_limit: int) -> "
        "cuprum._types.MaxPotentialBlockSizeOccupancyResult",
        R"(Return the block size with the most resident threads.

Parameters
----------
dynamic_shared_memory_needed : int or callable
    Dynamic shared memory per block, in bytes, or a function that gives it for a block size; a
    ``CUoccupancyB2DSize`` of the driver's bindings too.
block_size_limit : int
    The most threads per block; 0 is the kernel's own limit.

Returns
-------
MaxPotentialBlockSizeOccupancyResult
    ``min_grid_size``, the fewest blocks that fill the device, and ``max_block_size``.

Raises
------
TypeError
    If `dynamic_shared_memory_needed` is neither an int nor a function that returns one.
ValueError
    If a number is negative.
CUDAError
    If the driver refuses it.)");
    fast_method<available_shared_memory>(
        type,
        "def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor: int, "
        "block_size: int) -> int",
        R"(Return the largest dynamic shared memory per block with which this many blocks fit.

Parameters
----------
num_blocks_per_multiprocessor : int
    Blocks that must be resident at once.
block_size : int
    Threads per block.

Returns
-------
int
    The size in bytes.

Raises
------
TypeError
    If an argument is not an int.
ValueError
    If a number is less than 1.
CUDAError
    If the block is too large for the kernel.)");
    fast_method<max_potential_cluster_size>(
        type,
        "def max_potential_cluster_size(self, config: LaunchConfig | dict, *, stream: Stream) -> "
        "int",
        R"(Return the most blocks per cluster for a configuration, whose own cluster is ignored.

Parameters
----------
config : LaunchConfig or dict
    Only block and shared memory matter.
stream : Stream
    Selects the device.

Returns
-------
int
    The number of blocks.

Raises
------
TypeError
    If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
ClosedError
    If the stream is closed.
CUDAError
    If the configuration exceeds a limit of the device or of the kernel.)");
    fast_method<max_active_clusters>(
        type,
        "def max_active_clusters(self, config: LaunchConfig | dict, *, stream: Stream) -> int",
        R"(Return how many clusters of a configuration fit on a device at once.

Parameters
----------
config : LaunchConfig or dict
    With a cluster.
stream : Stream
    Selects the device.

Returns
-------
int
    The number of clusters.

Raises
------
TypeError
    If `config` is neither a LaunchConfig nor a dict, or `stream` is not a stream.
ClosedError
    If the stream is closed.
CUDAError
    If the configuration exceeds a limit of the device or of the kernel.)");
    polled_property<occupancy_of>(
        kernel, "def occupancy(self) -> KernelOccupancy",
        "Return an object that answers how many blocks fit on a multiprocessor.");
}

} // namespace cuprum::python
