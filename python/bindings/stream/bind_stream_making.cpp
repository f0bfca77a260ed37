// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams whose class is a subclass of Stream. cuda.core has these factories, private but reached
// for by libraries that derive from its Stream.

#include "stream/bind_stream_operations.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"
#include "support/lent_owner.hpp"

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object init(nb::handle type, nb::handle object, nb::handle options,
                              nb::handle device_id) {
    if (!object.is_none()) {
        return stream_of(type, object, options);
    }
    const StreamOptions how = stream_options(options);
    const Device device = device_id.is_none() ? Device() : device_argument(device_id, "device_id");
    auto stream = without_gil([&] { return device.create_stream(how); });
    return make_as<PyStream>(type, std::move(stream));
}

} // namespace

void add_stream_making(Class<PyStream>& type) {
    type.class_method<init>("_init");
    type.class_method("_legacy_default", [](nb::handle cls) {
        return make_as<PyStream>(cls, Stream::legacy_default());
    });
    type.class_method("_per_thread_default", [](nb::handle cls) {
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
    if (PyDict_Check(object.ptr()) != 0) {
        raise_error(PyExc_TypeError, "obj must be a stream, got dict; pass options by name, as in "
                                     "create_stream(options=" +
                                         repr_text(object) + ")");
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
