// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "support/arguments.hpp"

#include <cuprum/checkpoint.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

using checkpoint::DevicePair;
using checkpoint::Process;

[[nodiscard]] Process make_process(nb::handle pid);
[[nodiscard]] std::chrono::milliseconds timeout_argument(nb::handle timeout);
[[nodiscard]] std::vector<DevicePair> pairs_argument(nb::handle mapping);

} // namespace

void bind_checkpoint(nb::module_& module) {
    nb::class_<Process> type(module, "Process", nb::is_weak_referenceable(),
                             R"(A process that uses CUDA, often another one than this.

All methods block until the process has done what they ask for. They need Linux, a driver of CUDA
12.8 or newer, and the rights of the process's user. A failure leaves the process in the state that
it was in.

Parameters
----------
pid : int
    The number of the process. It is not looked for before the first use.

Raises
------
TypeError
    If the number is not an int.
ValueError
    If it is not positive.

Examples
--------
>>> import os
>>> process = cuprum.checkpoint.Process(os.getpid())
>>> process.state
'running')");
    type.def(
        "__init__", [](Process* self, nb::handle pid) { new (self) Process(make_process(pid)); },
        "pid"_a.none(), nb::sig("def __init__(self, pid: int) -> None"));
    type.def_prop_ro(
        "pid", [](const Process& self) { return self.pid(); }, "Return the number of the process.");
    type.def_prop_ro(
        "state",
        [](const Process& self) {
            const nb::gil_scoped_release unlocked;
            return std::string(to_string(self.state()));
        },
        nb::sig("def state(self) -> cuprum.typing.ProcessStateType"),
        R"(Return the state: ``running``, ``locked``, ``checkpointed`` or ``failed``.

Raises
------
CUDAError
    If the process does not exist, belongs to another user or has no context.)");
    type.def_prop_ro(
        "restore_thread_id", &Process::restore_thread_id, nb::call_guard<nb::gil_scoped_release>(),
        R"(Return the number of the thread that carries out ``checkpoint`` and ``restore``.

A tool that freezes the process must let this thread run.)");
    type.def(
        "lock",
        [](const Process& self, nb::handle timeout_ms) {
            const auto timeout = timeout_argument(timeout_ms);
            const nb::gil_scoped_release unlocked;
            self.lock(timeout);
        },
        "timeout_ms"_a.none() = 0, nb::sig("def lock(self, timeout_ms: int = 0) -> None"),
        R"(Hold back all further CUDA calls of the process and wait for its work.

Parameters
----------
timeout_ms : int, optional
    How long to wait, in milliseconds; 0 waits forever.

Raises
------
CUDAError
    ``CUDA_ERROR_NOT_READY`` if the time is over: the process continues. ``CUDA_ERROR_ILLEGAL_STATE``
    if the process is not running.)");
    type.def("checkpoint", &Process::checkpoint, nb::call_guard<nb::gil_scoped_release>(),
             R"(Move the device memory of a locked process to host memory and release its devices.

Raises
------
CUDAError
    ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.)");
    type.def(
        "restore",
        [](const Process& self, nb::handle gpu_mapping) {
            const std::vector<DevicePair> pairs = pairs_argument(gpu_mapping);
            const nb::gil_scoped_release unlocked;
            self.restore(pairs);
        },
        "gpu_mapping"_a.none() = nb::none(),
        nb::sig("def restore(self, gpu_mapping: collections.abc.Mapping[typing.Any, typing.Any] | "
                "None = None) -> None"),
        R"(Bring the device memory of a checkpointed process back; the process is locked then.

Parameters
----------
gpu_mapping : Mapping, optional
    The device to restore onto for each device of the checkpoint: a ``Device``, a UUID as
    ``Device.uuid`` or NVML writes it, a ``uuid.UUID`` or a ``CUuuid``. It must name every device
    that the driver has, also those that stay; ``CUDA_VISIBLE_DEVICES`` hides none here.

Raises
------
TypeError
    If it is not a mapping of devices.
ValueError
    If a text is not a UUID.
CUDAError
    ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not checkpointed; ``CUDA_ERROR_INVALID_VALUE`` if
    the driver refuses the mapping. The process stays checkpointed.)");
    type.def("unlock", &Process::unlock, nb::call_guard<nb::gil_scoped_release>(),
             R"(Let a locked process continue.

Raises
------
CUDAError
    ``CUDA_ERROR_ILLEGAL_STATE`` if the process is not locked.)");
    type.def(
        "__eq__", [](const Process& self, const Process& other) { return self == other; },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const Process& self) {
        return nb::hash(nb::make_tuple("cuprum.checkpoint.Process", self.pid()));
    });
    type.def("__repr__", [](const Process& self) {
        return "<Process pid=" + std::to_string(self.pid()) + ">";
    });
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns an int, but no bool.
long long plain_int(nb::handle value, const char* name) {
    if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) {
        raise_error(PyExc_TypeError,
                    std::string(name) + " must be an int, got " + type_label(value));
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) {
        return overflow > 0 ? std::numeric_limits<long long>::max()
                            : std::numeric_limits<long long>::min();
    }
    return number;
}

Process make_process(nb::handle pid) {
    const long long number = plain_int(pid, "pid");
    if (number <= 0) {
        raise_error(PyExc_ValueError, "pid must be a positive int, got " + repr_text(pid));
    }
    if (number > std::numeric_limits<int>::max()) {
        raise_error(PyExc_ValueError, "pid must be the number of a process, got " + repr_text(pid));
    }
    return Process(static_cast<int>(number));
}

std::chrono::milliseconds timeout_argument(nb::handle timeout) {
    const long long number = plain_int(timeout, "timeout_ms");
    if (number < 0) {
        raise_error(PyExc_ValueError,
                    "timeout_ms must be >= 0 (0 waits forever), got " + repr_text(timeout));
    }
    return std::chrono::milliseconds(number);
}

/// Returns a UUID as text, from whatever stands for one.
std::string uuid_argument(nb::handle value) {
    if (nb::isinstance<nb::str>(value)) {
        return nb::cast<nb::str>(value).c_str();
    }
    if (const PyDevice* device = get_if<PyDevice>(value)) {
        return device->core.uuid();
    }
    constexpr std::size_t uuid_bytes = 16;
    const nb::object bytes = nb::getattr(value, "bytes", nb::none()); // uuid.UUID, CUuuid
    if (nb::isinstance<nb::bytes>(bytes) && nb::len(bytes) == uuid_bytes) {
        return nb::cast<nb::str>(bytes.attr("hex")()).c_str();
    }
    raise_error(PyExc_TypeError, "GPU UUID values must be CUDA UUID objects or UUID strings (or "
                                 "Device objects), got " +
                                     type_label(value));
}

std::vector<DevicePair> pairs_argument(nb::handle mapping) {
    std::vector<DevicePair> pairs;
    if (mapping.is_none()) {
        return pairs;
    }
    const nb::object type = nb::module_::import_("collections.abc").attr("Mapping");
    if (PyObject_IsInstance(mapping.ptr(), type.ptr()) != 1) {
        if (PyErr_Occurred() != nullptr) {
            throw nb::python_error();
        }
        raise_error(PyExc_TypeError, "gpu_mapping must be a mapping from each GPU of the "
                                     "checkpoint to the GPU to restore it onto, got " +
                                         type_label(mapping));
    }
    for (const nb::handle item : nb::object(mapping.attr("items")())) {
        pairs.push_back({uuid_argument(item[0]), uuid_argument(item[1])});
    }
    return pairs;
}

} // namespace

} // namespace cuprum::python
