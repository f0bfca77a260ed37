// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments.hpp"
#include "errors.hpp"
#include "kernel_arguments.hpp"
#include "objects.hpp"

#include <cuprum/launch.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void construct(LaunchConfig* self, nb::handle grid, nb::handle cluster, nb::handle block,
               nb::handle shmem_size, bool is_cooperative, bool programmatic_stream_serialization);
[[nodiscard]] nb::tuple to_tuple(const Dim3& extents);
[[nodiscard]] nb::tuple fields(const LaunchConfig& config);
[[nodiscard]] PyObject* launch_kernel(PyObject* module, PyObject* const* values, Py_ssize_t count,
                                      PyObject* keywords) noexcept;

// NOTE: bound without nanobind, for speed: no tuple of arguments is made. The first line of the
// text is the signature that `inspect` reads.
PyMethodDef launch_definition[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(launch_kernel)),
     METH_FASTCALL | METH_KEYWORDS,
     R"(launch($module, /, stream, config, kernel, *kernel_args)
--

Launch a kernel. Returns at once; the arguments are copied.

Parameters
----------
stream : Stream
    The kernel runs in this stream's order.
config : LaunchConfig or dict
    Grid, block and the rest.
kernel : Kernel
    What to run.
*kernel_args : Buffer, int, bool, float, complex, numpy scalar, ctypes object or bytes
    One for each parameter. A Buffer passes its address. Numbers of Python convert to the
    parameter's size; anything else must have that size.

Raises
------
TypeError
    If count, type or size of the arguments is not what the kernel takes.
OverflowError
    If a number does not fit its parameter.
ValueError
    If the configuration exceeds a limit of the device; the text has the numbers.)"},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void bind_launch(nb::module_& module) {
    nb::class_<LaunchConfig> type(module, "LaunchConfig", nb::is_weak_referenceable(),
                                  R"(Say how a kernel is launched.

It does not change: share it between threads, reuse it for many launches, use it as a key.

Parameters
----------
grid : int or tuple of int
    Blocks in up to three dimensions, or clusters if `cluster` is given.
cluster : int or tuple of int, optional
    Blocks per cluster. Needs compute capability 9.0 or later.
block : int or tuple of int
    Threads per block.
shmem_size : int, optional
    Dynamic shared memory per block, in bytes.
is_cooperative : bool, optional
    All blocks are resident at once, so that the grid can synchronise.
programmatic_stream_serialization : bool, optional
    The kernel may start before the previous one on the stream has ended.

Raises
------
ValueError
    If an extent is missing or not at least 1.)");
    note_type<LaunchConfig>(type);
    type.def("__init__", construct, "grid"_a = nb::none(), "cluster"_a = nb::none(),
             "block"_a = nb::none(), "shmem_size"_a = nb::none(), "is_cooperative"_a = false,
             "programmatic_stream_serialization"_a = false,
             nb::sig("def __init__(self, grid: int | tuple[int, ...] | None = None, cluster: int | "
                     "tuple[int, ...] | None = None, block: int | tuple[int, ...] | None = None, "
                     "shmem_size: int | None = None, is_cooperative: bool = False, "
                     "programmatic_stream_serialization: bool = False) -> None"));
    type.def_prop_ro(
        "grid", [](const LaunchConfig& self) { return to_tuple(self.grid); },
        nb::sig("def grid(self) -> tuple[int, int, int]"), "Return the grid's three extents.");
    type.def_prop_ro(
        "cluster",
        [](const LaunchConfig& self) -> nb::object {
            return self.cluster ? nb::object(to_tuple(*self.cluster)) : nb::none();
        },
        nb::sig("def cluster(self) -> tuple[int, int, int] | None"),
        "Return the cluster's three extents, or None.");
    type.def_prop_ro(
        "block", [](const LaunchConfig& self) { return to_tuple(self.block); },
        nb::sig("def block(self) -> tuple[int, int, int]"), "Return the block's three extents.");
    type.def_ro("shmem_size", &LaunchConfig::shmem_size,
                "Return the dynamic shared memory per block, in bytes.");
    type.def_ro("is_cooperative", &LaunchConfig::is_cooperative,
                "Tell whether all blocks are resident at once.");
    type.def_ro("programmatic_stream_serialization",
                &LaunchConfig::programmatic_stream_serialization,
                "Tell whether the kernel may start before the previous one has ended.");
    type.def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const LaunchConfig& self) { return nb::hash(fields(self)); });
    type.def("__reduce__", [](const LaunchConfig& self) {
        return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(TYPE<LaunchConfig>)),
                              fields(self));
    });
    type.def("__repr__", [](const LaunchConfig& self) {
        return nb::str("LaunchConfig(grid={}, cluster={}, block={}, shmem_size={}, "
                       "is_cooperative={}, programmatic_stream_serialization={})")
            .format(*fields(self));
    });
    if (PyModule_AddFunctions(module.ptr(), launch_definition) != 0) {
        throw nb::python_error();
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

[[noreturn]] void raise_extent(nb::handle value, const char* name) {
    raise_error(PyExc_ValueError,
                std::string(name) +
                    " must be an integer from 1 to 2**32 - 1 or a tuple of 1 to 3 "
                    "of them, got " +
                    repr_text(value));
}

/// Returns one extent; `whole` is what the caller gave, for the message.
unsigned extent(nb::handle value, nb::handle whole, const char* name) {
    long long number = 0;
    if (PyLong_CheckExact(value.ptr()) != 0) [[likely]] {
        int overflow = 0;
        number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
        number = overflow != 0 ? 0 : number;
    } else if (PyIndex_Check(value.ptr()) != 0) {
        number = PyNumber_AsSsize_t(value.ptr(), nullptr);
        PyErr_Clear();
    }
    if (number < 1 || number > std::numeric_limits<unsigned>::max()) [[unlikely]] {
        raise_extent(whole, name);
    }
    return static_cast<unsigned>(number);
}

Dim3 extents(nb::handle value, const char* name) {
    constexpr Py_ssize_t most = 3;
    if (PyTuple_Check(value.ptr()) == 0 && PyList_Check(value.ptr()) == 0) {
        return {extent(value, value, name)};
    }
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value.ptr());
    if (count < 1 || count > most) {
        raise_extent(value, name);
    }
    const auto at = [&](Py_ssize_t i) {
        return i < count ? extent(PySequence_Fast_GET_ITEM(value.ptr(), i), value, name) : 1U;
    };
    return {at(0), at(1), at(2)};
}

void construct(LaunchConfig* self, nb::handle grid, nb::handle cluster, nb::handle block,
               nb::handle shmem_size, bool is_cooperative, bool programmatic_stream_serialization) {
    new (self) LaunchConfig{
        .grid = extents(grid, "grid"),
        .block = extents(block, "block"),
        .shmem_size = shmem_size.is_none() ? 0 : size_argument(shmem_size, "shmem_size"),
        .cluster = cluster.is_none() ? std::nullopt : std::optional(extents(cluster, "cluster")),
        .is_cooperative = is_cooperative,
        .programmatic_stream_serialization = programmatic_stream_serialization};
}

nb::tuple to_tuple(const Dim3& extents) {
    return nb::make_tuple(extents.x, extents.y, extents.z);
}

nb::tuple fields(const LaunchConfig& config) {
    return nb::make_tuple(to_tuple(config.grid),
                          config.cluster ? nb::object(to_tuple(*config.cluster)) : nb::none(),
                          to_tuple(config.block), config.shmem_size, config.is_cooperative,
                          config.programmatic_stream_serialization);
}

/// Wraps a foreign stream, which only launch() takes as it is.
Stream foreign_stream(nb::handle stream) {
    if (stream.is_none() || !nb::hasattr(stream, "__cuda_stream__")) {
        return stream_argument(stream); // raises
    }
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "passing an object with __cuda_stream__ to launch() is deprecated; wrap it "
                     "with device.create_stream(obj)",
                     1) != 0) {
        throw nb::python_error();
    }
    return Stream::from_handle(protocol_stream(stream));
}

/// Returns the configuration from a dict.
LaunchConfig config_from(nb::handle config) {
    if (PyDict_Check(config.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "config must be a LaunchConfig or a dict, got " + type_label(config));
    }
    const nb::object made =
        nb::handle(reinterpret_cast<PyObject*>(TYPE<LaunchConfig>))(**nb::borrow<nb::dict>(config));
    return *nb::inst_ptr<LaunchConfig>(made);
}

void launch_with(nb::handle stream, nb::handle config, nb::handle kernel,
                 std::span<PyObject* const> values) {
    const PyKernel* const what = get_if<PyKernel>(kernel);
    if (what == nullptr) [[unlikely]] {
        raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel));
    }
    const PyStream* const own_stream = get_if<PyStream>(stream);
    const LaunchConfig* const own_config = get_if<LaunchConfig>(config);
    if (own_stream == nullptr || own_config == nullptr) [[unlikely]] {
        const Stream where = own_stream != nullptr ? static_cast<const Stream&>(*own_stream)
                                                   : foreign_stream(stream);
        const LaunchConfig how = own_config != nullptr ? *own_config : config_from(config);
        const KernelArguments arguments(*what, values);
        const nb::gil_scoped_release unlocked;
        launch(where, how, *what, arguments.get());
        return;
    }
    const KernelArguments arguments(*what, values);
    const Brief unlocked(!what->is_loaded.load(std::memory_order_relaxed));
    launch(static_cast<const Stream&>(*own_stream), *own_config, *what, arguments.get());
    what->is_loaded.store(true, std::memory_order_relaxed);
}

/// Sorts stream, config and kernel given by name into their places.
std::array<nb::handle, 3> sort_keywords(PyObject* const* values, Py_ssize_t count,
                                        PyObject* keywords) {
    constexpr std::array names{"stream", "config", "kernel"};
    std::array<nb::handle, 3> sorted{};
    for (Py_ssize_t i = 0; i < count && i < 3; ++i) {
        sorted[static_cast<std::size_t>(i)] = values[i];
    }
    for (Py_ssize_t i = 0; keywords != nullptr && i < PyTuple_GET_SIZE(keywords); ++i) {
        const std::string name = text_argument(PyTuple_GET_ITEM(keywords, i), "keyword");
        std::size_t place = 0;
        while (place < names.size() && name != names[place]) {
            ++place;
        }
        if (place == names.size() || sorted[place].is_valid()) {
            raise_error(PyExc_TypeError,
                        "launch() got an unexpected or repeated keyword argument '" + name +
                            "'; kernel arguments are positional");
        }
        sorted[place] = values[count + i];
    }
    for (std::size_t place = 0; place < names.size(); ++place) {
        if (!sorted[place].is_valid()) {
            raise_error(PyExc_TypeError, std::string("launch() needs stream, config and kernel; ") +
                                             names[place] + " is missing");
        }
    }
    return sorted;
}

PyObject* launch_kernel(PyObject* /*module*/, PyObject* const* values, Py_ssize_t count,
                        PyObject* keywords) noexcept {
    constexpr Py_ssize_t leading = 3;
    try {
        if (keywords == nullptr && count >= leading) [[likely]] {
            launch_with(values[0], values[1], values[2],
                        {values + leading, static_cast<std::size_t>(count - leading)});
        } else {
            const auto sorted = sort_keywords(values, count, keywords);
            launch_with(sorted[0], sorted[1], sorted[2], {});
        }
        Py_RETURN_NONE;
    } catch (...) {
        set_python_error(std::current_exception());
        return nullptr;
    }
}

} // namespace

} // namespace cuprum::python
