// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams whose class is a subclass of Stream. cuda.core has these factories, private but reached
// for by libraries that derive from its Stream.

#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/arguments.hpp"
#include "support/gil.hpp"
#include "support/lent_owner.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

using namespace nb::literals;

namespace {

template <typename Function, typename... Extra>
void add_class_method(nb::class_<PyStream>& type, const char* name, Function function,
                      const Extra&... extra) {
    const nb::object made = nb::cpp_function(function, nb::name(name), "cls"_a, extra...);
    type.attr(name) = nb::steal(PyClassMethod_New(made.ptr()));
}

[[nodiscard]] nb::object init(nb::handle type, nb::handle object, nb::handle options,
                              nb::handle device_id) {
    if (!object.is_none()) {
        return stream_of(type, object, options);
    }
    const StreamOptions how = stream_options(options);
    const Device device = device_id.is_none() ? Device() : device_argument(device_id, "device_id");
    auto stream = [&] {
        const nb::gil_scoped_release unlocked;
        return device.create_stream(how);
    }();
    return make_as<PyStream>(type, std::move(stream));
}

} // namespace

void add_stream_making(nb::class_<PyStream>& type) {
    add_class_method(type, "_init", init, "obj"_a = nb::none(), "options"_a = nb::none(),
                     "device_id"_a = nb::none());
    add_class_method(type, "_legacy_default", [](nb::handle cls) {
        return make_as<PyStream>(cls, Stream::legacy_default());
    });
    add_class_method(type, "_per_thread_default", [](nb::handle cls) {
        return make_as<PyStream>(cls, Stream::per_thread_default());
    });
}

nb::object stream_of(nb::handle type, nb::handle object, nb::handle options) {
    note_python_in_driver();
    if (!options.is_none()) {
        raise_error(PyExc_ValueError, "obj and options cannot be both specified: a wrapped "
                                      "stream is made already, so it takes no options");
    }
    if (const PyStream* stream = get_if<PyStream>(object)) {
        return share_stream(type, *stream);
    }
    return wrap_stream(type, protocol_stream(object), object);
}

nb::object wrap_stream(nb::handle type, CUstream handle, nb::handle owner) {
    LentOwner lent(owner);
    Stream stream = Stream::from_handle(handle, lent.loan());
    return make_as<PyStream>(type, std::move(stream), std::move(lent));
}

nb::object share_stream(nb::handle type, const PyStream& stream) {
    // NOTE: a loan belongs to one object; any other share counts as one of the core.
    return stream.lent.owner().is_valid()
               ? wrap_stream(type, stream.handle(), stream.lent.owner())
               : make_as<PyStream>(type, Stream(static_cast<const Stream&>(stream)));
}

} // namespace cuprum::python
