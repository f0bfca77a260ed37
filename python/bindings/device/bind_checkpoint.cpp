// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "support/class.hpp"

#include <cuprum/checkpoint.hpp>

#include <chrono>
#include <limits>
#include <vector>

namespace cuprum::python {

namespace {

using checkpoint::DevicePair;
using checkpoint::Process;

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

[[nodiscard]] Process make_process(nb::handle pid) {
    const long long number = plain_int(pid, "pid");
    if (number <= 0) {
        raise_error(PyExc_ValueError, "pid must be a positive int, got " + repr_text(pid));
    }
    if (number > std::numeric_limits<int>::max()) {
        raise_error(PyExc_ValueError, "pid must be the number of a process, got " + repr_text(pid));
    }
    return Process(static_cast<int>(number));
}

[[nodiscard]] std::chrono::milliseconds timeout_argument(nb::handle timeout) {
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

[[nodiscard]] std::vector<DevicePair> pairs_argument(nb::handle mapping) {
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

void bind_checkpoint(nb::module_& module) {
    Class<Process> type(module, "Process", nb::is_weak_referenceable());
    type.constructor([](Process* self, nb::handle pid) { new (self) Process(make_process(pid)); });
    type.property("pid", [](const Process& self) { return self.pid(); });
    type.property("state", [](const Process& self) {
        const nb::gil_scoped_release unlocked;
        return std::string(to_string(self.state()));
    });
    type.property("restore_thread_id", &Process::restore_thread_id, RELEASES_GIL);
    type.method("lock", [](const Process& self, nb::handle timeout_ms) {
        const auto timeout = timeout_argument(timeout_ms);
        const nb::gil_scoped_release unlocked;
        self.lock(timeout);
    });
    type.method<&Process::checkpoint>("checkpoint", RELEASES_GIL);
    type.method("restore", [](const Process& self, nb::handle gpu_mapping) {
        const std::vector<DevicePair> pairs = pairs_argument(gpu_mapping);
        const nb::gil_scoped_release unlocked;
        self.restore(pairs);
    });
    type.method<&Process::unlock>("unlock", RELEASES_GIL);
    type.method("__eq__", [](const Process& self, const Process& other) { return self == other; });
    type.method("__hash__", [](const Process& self) {
        return nb::hash(nb::make_tuple("cuprum.checkpoint.Process", self.pid()));
    });
    type.method("__repr__", [](const Process& self) {
        return "<Process pid=" + std::to_string(self.pid()) + ">";
    });
}

} // namespace cuprum::python
