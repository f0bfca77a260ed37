// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a stream does beside kernels and copies: host functions, values in memory, attributes.

#include "stream/bind_stream_operations.hpp"

#include "graph/graph_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/choices.hpp"
#include "support/class.hpp"
#include "support/leaving.hpp"
#include "support/lent_owner.hpp"

#include <cuprum/device_resources.hpp>
#include <cuprum/stream_attributes.hpp>

#include <limits>

namespace cuprum::python {

namespace {

/// Binds a property whose values are the names of an enumeration.
template <auto Get, auto Set, typename All>
void choice_property(Class<PyStream>& type, const char* name, const All& all) {
    type.property(
        name,
        [&all](const PyStream& self) {
            const Stream& stream = self;
            const auto value = without_gil([&] { return (stream.*Get)(); });
            return all.member(value);
        },
        [&all, name](const PyStream& self, nb::handle value) {
            const auto wanted = all.parse(value, name);
            const Stream& stream = self;
            const nb::gil_scoped_release unlocked;
            (stream.*Set)(wanted);
        });
}

void launch_host(const PyStream& self, nb::handle function) {
    if (PyCallable_Check(function.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "function must be callable without arguments, got " + type_label(function));
    }
    note_python_in_driver();
    const std::shared_ptr<void> kept = keep_alive(function);
    const auto call = [kept, callable = function.ptr()] {
        const PythonScope python;
        if (!python) {
            return;
        }
        PyObject* result = PyObject_CallNoArgs(callable);
        if (result == nullptr) {
            PyErr_WriteUnraisable(callable);
        }
        Py_XDECREF(result);
    };
    const nb::gil_scoped_release unlocked;
    self.launch_host(call);
}

[[nodiscard]] CUdeviceptr word_address(nb::handle target, nb::handle offset, std::size_t size) {
    const std::size_t distance = size_argument(offset, "offset");
    const PyBuffer* buffer = get_if<PyBuffer>(target);
    if (buffer == nullptr) {
        return address_argument(target, "target") + distance;
    }
    if (distance > buffer->size() || buffer->size() - distance < size) {
        raise_error(PyExc_ValueError, "offset is " + std::to_string(distance) + ", expected " +
                                          std::to_string(size) + " bytes from there on inside " +
                                          "the buffer's " + std::to_string(buffer->size()));
    }
    return buffer->handle() + distance;
}

[[nodiscard]] std::size_t word_size(nb::handle bits) {
    const std::size_t count = size_argument(bits, "bits");
    if (count != 32 && count != 64) {
        raise_error(PyExc_ValueError, "bits is " + std::to_string(count) + ", expected 32 or 64");
    }
    return count / 8;
}

[[nodiscard]] std::uint64_t word_value(nb::handle value, std::size_t size) {
    if (PyIndex_Check(value.ptr()) == 0) {
        raise_error(PyExc_TypeError, "value must be an integer, got " + type_label(value));
    }
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) {
        throw nb::python_error();
    }
    int overflow = 0;
    const long long narrow = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    std::uint64_t word = static_cast<std::uint64_t>(narrow);
    if (overflow > 0) {
        word = PyLong_AsUnsignedLongLong(number.ptr());
    }
    const bool is_too_wide = PyErr_Occurred() != nullptr || overflow < 0;
    PyErr_Clear();
    const bool fits = size == sizeof(std::uint64_t)
                          ? !is_too_wide
                          : overflow == 0 && narrow >= std::numeric_limits<std::int32_t>::min() &&
                                narrow <= std::numeric_limits<std::uint32_t>::max();
    if (!fits) {
        raise_error(PyExc_ValueError, "value is " + repr_text(number) + ", expected a number of " +
                                          std::to_string(size * 8) + " bits");
    }
    return word;
}

void add_values(Class<PyStream>& type) {
    type.method("write_value", [](const PyStream& self, nb::handle target, nb::handle value,
                                  nb::handle offset, nb::handle bits, bool memory_barrier) {
        const std::size_t size = word_size(bits);
        const CUdeviceptr address = word_address(target, offset, size);
        const std::uint64_t word = word_value(value, size);
        const nb::gil_scoped_release unlocked;
        if (size == sizeof(std::uint64_t)) {
            self.write_value(address, word, {.memory_barrier = memory_barrier});
        } else {
            self.write_value(address, static_cast<std::uint32_t>(word),
                             {.memory_barrier = memory_barrier});
        }
    });
    type.method("wait_value", [](const PyStream& self, nb::handle target, nb::handle value,
                                 nb::handle offset, nb::handle bits, nb::handle condition,
                                 bool flush) {
        const std::size_t size = word_size(bits);
        const CUdeviceptr address = word_address(target, offset, size);
        const std::uint64_t word = word_value(value, size);
        const WaitValueOptions how{.condition = WAIT_CONDITIONS.parse(condition, "condition"),
                                   .flush = flush};
        const nb::gil_scoped_release unlocked;
        if (size == sizeof(std::uint64_t)) {
            self.wait_value(address, word, how);
        } else {
            self.wait_value(address, static_cast<std::uint32_t>(word), how);
        }
    });
}

void add_attributes(Class<PyStream>& type) {
    type.method<&PyStream::set_priority>("set_priority", RELEASES_GIL);
    choice_property<&Stream::synchronization_policy, &Stream::set_synchronization_policy>(
        type, "synchronization_policy", SYNCHRONIZATION_POLICIES);
    choice_property<&Stream::memory_sync_domain, &Stream::set_memory_sync_domain>(
        type, "memory_sync_domain", MEMORY_SYNC_DOMAINS);
    type.property(
        "memory_sync_domain_map",
        [](const PyStream& self) {
            const MemorySyncDomainMap map =
                without_gil([&] { return self.memory_sync_domain_map(); });
            return nb::make_tuple(map.default_domain, map.remote_domain);
        },
        [](const PyStream& self, std::pair<unsigned char, unsigned char> map) {
            const nb::gil_scoped_release unlocked;
            self.set_memory_sync_domain_map({map.first, map.second});
        });
    type.property(
        "access_policy_window",
        [](const PyStream& self) -> nb::object {
            const AccessPolicyWindow window =
                without_gil([&] { return self.access_policy_window(); });
            if (window.bytes == 0) {
                return nb::none();
            }
            return nb::module_::import_("cuprum._types")
                .attr("AccessPolicyWindow")(window.base, window.bytes, window.hit_ratio,
                                            ACCESS_PROPERTIES.member(window.hit),
                                            ACCESS_PROPERTIES.member(window.miss));
        },
        [](const PyStream& self, nb::handle given) {
            AccessPolicyWindow window;
            if (!given.is_none()) {
                for (const char* member : {"base", "bytes", "hit_ratio", "hit", "miss"}) {
                    if (!nb::hasattr(given, member)) {
                        raise_error(PyExc_TypeError,
                                    "access_policy_window must be None or have base, bytes, "
                                    "hit_ratio, hit and miss, as AccessPolicyWindow does, got " +
                                        type_label(given));
                    }
                }
                window = {.base = address_argument(nb::object(given.attr("base")), "base"),
                          .bytes = size_argument(nb::object(given.attr("bytes")), "bytes"),
                          .hit_ratio = nb::cast<float>(nb::object(given.attr("hit_ratio"))),
                          .hit = ACCESS_PROPERTIES.parse(nb::object(given.attr("hit")), "hit"),
                          .miss = ACCESS_PROPERTIES.parse(nb::object(given.attr("miss")), "miss")};
            }
            const nb::gil_scoped_release unlocked;
            self.set_access_policy_window(window);
        });
    type.method("copy_attributes_from", [](const PyStream& self, const PyStream& other) {
        const nb::gil_scoped_release unlocked;
        self.copy_attributes_from(other);
    });
}

} // namespace

void add_stream_operations(Class<PyStream>& type) {
    type.property("id", &PyStream::id, RELEASES_GIL);
    type.property("resources", [](const PyStream& self) {
        auto resources = without_gil([&] { return self.resources(); });
        return make<DeviceResources>(std::move(resources));
    });
    type.method("create_graph_builder", [](nb::handle self) {
        const auto& stream = held_by<PyStream>(self);
        return builder_object(GraphBuilder::create(stream), nb::borrow(self));
    });
    type.method<launch_host>("launch_host");
    add_values(type);
    add_attributes(type);
}

} // namespace cuprum::python
