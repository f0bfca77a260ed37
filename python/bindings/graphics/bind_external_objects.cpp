// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "graphics/graphics_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "support/arguments.hpp"
#include "support/fast_method.hpp"
#include "support/python_objects.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <cuprum/graphics/external_memory.hpp>
#include <cuprum/graphics/external_semaphore.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] nb::object memory_from_fd(nb::handle cls, nb::handle descriptor, nb::handle size,
                                        nb::handle handle_type, nb::handle dedicated);
[[nodiscard]] nb::object map_memory(const PyExternalMemory& self, nb::handle offset,
                                    nb::handle size);
[[nodiscard]] nb::object map_mipmapped_array(const PyExternalMemory& self, nb::handle options,
                                             nb::handle offset);
[[nodiscard]] nb::object semaphore_from_fd(nb::handle cls, nb::handle descriptor,
                                           nb::handle handle_type);
void signal(const PyExternalSemaphore& self, nb::handle value, nb::handle stream);
void wait(const PyExternalSemaphore& self, nb::handle value, nb::handle stream);
[[nodiscard]] std::optional<std::uint64_t> value_argument(nb::handle value);

/// Binds what both classes have.
template <typename Held, typename Core>
void bind_common(nb::class_<Held>& type, const char* class_name, const char* handle_name) {
    const std::string refusal = std::string(class_name) +
                                " objects cannot be instantiated directly. Use " + class_name +
                                ".from_fd()";
    type.def(
        "__init__",
        [refusal](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, refusal);
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    type.def_prop_ro(
        "handle", [](const Held& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        (std::string("Return the driver's ``") + handle_name + "`` as an int.").c_str());
    type.def_prop_ro("is_closed", &Held::is_closed, "Return whether ``close`` was called.");
    type.def_prop_ro(
        "context", [](const Held& self) { return context_object(self.context()); },
        nb::sig("def context(self) -> Context"), "Return the context that it was imported into.");
    type.def_prop_ro(
        "device", [](const Held& self) { return device_object(self.context().device()); },
        nb::sig("def device(self) -> Device"), "Return the device that it was imported into.");
    type.def(
        "__enter__", [](nb::handle self) { return nb::borrow(self); },
        nb::sig((std::string("def __enter__(self) -> ") + class_name).c_str()));
    type.def(
        "__exit__", [](Held& self, const nb::args&) { self.drop(); },
        nb::sig("def __exit__(self, *exception: object) -> None"));
    type.def(
        "__eq__",
        [](const Held& self, const Held& other) {
            return static_cast<const Core&>(self) == static_cast<const Core&>(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const Held& self) { return std::hash<Core>{}(self); });
    type.def("__repr__",
             [](const Held& self) { return to_string(static_cast<const Core&>(self)); });
}

void bind_memory(nb::module_& module) {
    nb::class_<PyExternalMemory> type(module, "ExternalMemory", nb::is_weak_referenceable(),
                                      R"(Memory of another API, such as Vulkan, that CUDA can map.

Made by ``from_fd``. The import ends when the object and all buffers mapped from it are closed or
dropped. The APIs see each other's writes once an ``ExternalSemaphore`` orders them.

Examples
--------
>>> memory = cuprum.ExternalMemory.from_fd(fd, size)  # doctest: +SKIP
>>> buffer = memory.map()  # doctest: +SKIP)");
    note_type<PyExternalMemory>(type);
    bind_common<PyExternalMemory, ExternalMemory>(type, "ExternalMemory", "CUexternalMemory");
    fast_class_method<memory_from_fd>(
        type,
        "def from_fd(cls, fd: int | object, size: int, *, handle_type: str = \"opaque_fd\", "
        "dedicated: bool = False) -> ExternalMemory",
        R"(Import memory into the current context.

Parameters
----------
fd : int or object with fileno()
    A file descriptor of the memory. The caller keeps it; the driver gets a duplicate.
size : int
    In bytes: the size of the whole allocation.
handle_type : str
    ``"opaque_fd"`` for memory that Vulkan exported as ``OPAQUE_FD`` or that CUDA exported;
    ``"dma_buf_fd"`` for a DMA-BUF, which few drivers import.
dedicated : bool
    Whether Vulkan made it as a dedicated allocation of one image or buffer.

Returns
-------
ExternalMemory
    The imported memory.

Raises
------
ValueError
    If the descriptor is not open, the size is 0 or the type is unknown.
CUDAError
    If the driver does not take this memory.)");
    fast_method<map_memory>(type,
                            "def map(self, offset: int = 0, size: int | None = None) -> Buffer",
                            R"(Map a part of the memory, or all of it.

Parameters
----------
offset : int
    In bytes.
size : int, optional
    In bytes; all from `offset` on if not given.

Returns
-------
Buffer
    The mapped part.

Raises
------
ValueError
    If the part is empty or does not lie in the memory.)");
    fast_method<map_mipmapped_array>(
        type,
        "def map_mipmapped_array(self, options: cuprum._texture_options.MipmappedArrayOptions | "
        "dict, offset: int = 0) -> MipmappedArray",
        R"(Map an image in the memory as a mipmapped array.

Parameters
----------
options : MipmappedArrayOptions or dict
    What the image is: size, format, channels and levels.
offset : int
    In bytes: where the image begins.

Returns
-------
MipmappedArray
    The mapped image.

Raises
------
ValueError
    If the options describe no array, or the image does not begin in the memory.
CUDAError
    If the image does not fit into the memory, or the driver cannot map it.)");
    type.def_prop_ro("size", &PyExternalMemory::size, "Return the size in bytes.");
    type.def_prop_ro(
        "handle_type",
        [](const PyExternalMemory& self) { return EXTERNAL_MEMORY_TYPES.member(self.type()); },
        nb::sig("def handle_type(self) -> cuprum.typing.ExternalMemoryHandleType"),
        "Return what the file descriptor stood for.");
    type.def(
        "close", [](PyExternalMemory& self) { self.drop(); },
        "Release this object's share of the memory. Calling it again does nothing.");
}

void bind_semaphore(nb::module_& module) {
    nb::class_<PyExternalSemaphore> type(
        module, "ExternalSemaphore", nb::is_weak_referenceable(),
        R"(A semaphore of another API, such as Vulkan, that streams signal and wait for.

Made by ``from_fd``. The import ends with the object, but not before the signals and waits that it
enqueued are done. A graph that captured them keeps it alive as well. If other code uses
``handle``, keep the object until that work is done.

Examples
--------
>>> semaphore = cuprum.ExternalSemaphore.from_fd(fd)  # doctest: +SKIP
>>> semaphore.wait(stream=stream)  # doctest: +SKIP)");
    note_type<PyExternalSemaphore>(type);
    bind_common<PyExternalSemaphore, ExternalSemaphore>(type, "ExternalSemaphore",
                                                        "CUexternalSemaphore");
    fast_class_method<semaphore_from_fd>(
        type,
        "def from_fd(cls, fd: int | object, *, handle_type: str = \"opaque_fd\") -> "
        "ExternalSemaphore",
        R"(Import a semaphore into the current context.

Parameters
----------
fd : int or object with fileno()
    A file descriptor of the semaphore. The caller keeps it; the driver gets a duplicate.
handle_type : str
    ``"opaque_fd"`` for a binary semaphore, ``"timeline_fd"`` for a timeline semaphore.

Returns
-------
ExternalSemaphore
    The imported semaphore.

Raises
------
ValueError
    If the descriptor is not open or the type is unknown.
CUDAError
    If the driver does not take this semaphore.)");
    fast_method<signal>(
        type, "def signal(self, value: int | None = None, *, stream: Stream) -> None",
        R"(Signal the semaphore after the work that a stream holds now. Return at once.

Parameters
----------
value : int, optional
    What a timeline semaphore is raised to. A binary semaphore has none.
stream : Stream
    The stream that signals.

Raises
------
ValueError
    If a timeline semaphore gets no value, or a binary one gets one.)");
    fast_method<wait>(type, "def wait(self, value: int | None = None, *, stream: Stream) -> None",
                      R"(Hold back later work of a stream until the semaphore is signalled.

Parameters
----------
value : int, optional
    What a timeline semaphore must have reached. A binary semaphore has none; the wait takes it.
stream : Stream
    The stream that waits.

Raises
------
ValueError
    If a timeline semaphore gets no value, or a binary one gets one.)");
    type.def_prop_ro(
        "handle_type",
        [](const PyExternalSemaphore& self) {
            return EXTERNAL_SEMAPHORE_TYPES.member(self.type());
        },
        nb::sig("def handle_type(self) -> cuprum.typing.ExternalSemaphoreHandleType"),
        "Return what the file descriptor stood for.");
    type.def(
        "close", [](PyExternalSemaphore& self) { self.drop(); },
        R"(Release this object's share of the semaphore. Calling it again does nothing.

Does not wait. If signals or waits are still enqueued, a later synchronisation ends the import.)");
}

} // namespace

void bind_external_objects(nb::module_& module) {
    bind_memory(module);
    bind_semaphore(module);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

nb::object memory_from_fd(nb::handle cls, nb::handle descriptor, nb::handle size,
                          nb::handle handle_type, nb::handle dedicated) {
    const int number = descriptor_argument(descriptor, "fd");
    const std::size_t bytes = size_argument(size, "size");
    ExternalMemoryOptions options;
    if (!handle_type.is_none()) {
        options.type = EXTERNAL_MEMORY_TYPES.parse(handle_type, "handle_type");
    }
    options.is_dedicated = !dedicated.is_none() && bool_argument(dedicated, "dedicated");
    const Context context = current_context_for("importing external memory");
    ExternalMemory memory = [&] {
        const nb::gil_scoped_release unlocked;
        return ExternalMemory::from_fd(context, number, bytes, options);
    }();
    return make_as<PyExternalMemory>(cls, std::move(memory));
}

nb::object map_memory(const PyExternalMemory& self, nb::handle offset, nb::handle size) {
    const std::size_t first = offset.is_none() ? 0 : size_argument(offset, "offset");
    const std::size_t whole = self.size();
    if (size.is_none() && first >= whole) {
        raise_error(PyExc_ValueError, "offset is " + std::to_string(first) +
                                          ", but the ExternalMemory has " + std::to_string(whole) +
                                          " bytes");
    }
    const std::size_t bytes = size.is_none() ? whole - first : size_argument(size, "size");
    Buffer buffer = [&] {
        const nb::gil_scoped_release unlocked;
        return self.ExternalMemory::map(first, bytes);
    }();
    return make<PyBuffer>(std::move(buffer), nb::object(), nb::object());
}

nb::object map_mipmapped_array(const PyExternalMemory& self, nb::handle options,
                               nb::handle offset) {
    const nb::object given =
        texture_options_argument(options, "MipmappedArrayOptions", "Mipmapped array options");
    MipmappedArrayOptions how{.array = array_options(given)};
    const nb::object levels = given.attr("num_levels");
    if (!levels.is_none()) {
        const std::size_t count = size_argument(levels, "num_levels");
        how.num_levels = static_cast<unsigned>(std::min<std::size_t>(count, 0xffffffffU));
    }
    const std::size_t first = offset.is_none() ? 0 : size_argument(offset, "offset");
    MipmappedArray array = [&] {
        const nb::gil_scoped_release unlocked;
        return self.ExternalMemory::map_mipmapped_array(first, how);
    }();
    return make<PyMipmappedArray>(std::move(array));
}

nb::object semaphore_from_fd(nb::handle cls, nb::handle descriptor, nb::handle handle_type) {
    const int number = descriptor_argument(descriptor, "fd");
    const ExternalSemaphoreType type =
        handle_type.is_none() ? ExternalSemaphoreType::OpaqueFd
                              : EXTERNAL_SEMAPHORE_TYPES.parse(handle_type, "handle_type");
    const Context context = current_context_for("importing an external semaphore");
    ExternalSemaphore semaphore = [&] {
        const nb::gil_scoped_release unlocked;
        return ExternalSemaphore::from_fd(context, number, type);
    }();
    return make_as<PyExternalSemaphore>(cls, std::move(semaphore));
}

void signal(const PyExternalSemaphore& self, nb::handle value, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    const auto number = value_argument(value);
    const Brief unlocked;
    if (number) {
        self.ExternalSemaphore::signal(order, *number);
    } else {
        self.ExternalSemaphore::signal(order);
    }
}

void wait(const PyExternalSemaphore& self, nb::handle value, nb::handle stream) {
    const Stream& order = stream_argument(stream);
    const auto number = value_argument(value);
    const Brief unlocked;
    if (number) {
        self.ExternalSemaphore::wait(order, *number);
    } else {
        self.ExternalSemaphore::wait(order);
    }
}

std::optional<std::uint64_t> value_argument(nb::handle value) {
    return value.is_none() ? std::nullopt : std::optional(address_argument(value, "value"));
}

} // namespace

} // namespace cuprum::python
