// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "graphics/graphics_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "support/class.hpp"
#include "texture/texture_objects.hpp"
#include "texture/texture_options.hpp"

#include <cuprum/graphics/external_memory.hpp>
#include <cuprum/graphics/external_semaphore.hpp>

namespace cuprum::python {

namespace {

/// Binds what both classes have.
template <typename Held, typename Core>
void bind_common(Class<Held>& type, const char* class_name) {
    type.refuse_construction(std::string(class_name) +
                             " objects cannot be instantiated directly. Use " + class_name +
                             ".from_fd()");
    type.property("handle",
                  [](const Held& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); });
    type.property("is_closed", &Held::is_closed);
    type.property("context", [](const Held& self) { return context_object(self.context()); });
    type.property("device",
                  [](const Held& self) { return device_object(self.context().device()); });
    type.method("__enter__", [](nb::handle self) { return nb::borrow(self); });
    type.method("__exit__", [](Held& self, const nb::args&) { self.drop(); });
    type.method("__eq__", [](const Held& self, const Held& other) {
        return static_cast<const Core&>(self) == static_cast<const Core&>(other);
    });
    type.method("__hash__", [](const Held& self) { return std::hash<Core>{}(self); });
    type.method("__repr__",
                [](const Held& self) { return to_string(static_cast<const Core&>(self)); });
}

[[nodiscard]] nb::object map_memory(const PyExternalMemory& self, nb::handle offset,
                                    nb::handle size) {
    const std::size_t first = offset.is_none() ? 0 : size_argument(offset, "offset");
    const std::size_t whole = self.size();
    if (size.is_none() && first >= whole) {
        raise_error(PyExc_ValueError, "offset is " + std::to_string(first) +
                                          ", but the ExternalMemory has " + std::to_string(whole) +
                                          " bytes");
    }
    const std::size_t bytes = size.is_none() ? whole - first : size_argument(size, "size");
    Buffer buffer = without_gil([&] { return self.ExternalMemory::map(first, bytes); });
    return make<PyBuffer>(std::move(buffer), nb::object(), nb::object());
}

[[nodiscard]] nb::object map_mipmapped_array(const PyExternalMemory& self, nb::handle options,
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
    MipmappedArray array =
        without_gil([&] { return self.ExternalMemory::map_mipmapped_array(first, how); });
    return make<PyMipmappedArray>(std::move(array));
}

[[nodiscard]] nb::object memory_from_fd(nb::handle cls, nb::handle descriptor, std::size_t bytes,
                                        nb::handle handle_type, nb::handle dedicated) {
    const int number = descriptor_argument(descriptor, "fd");
    ExternalMemoryOptions options;
    if (!handle_type.is_none()) {
        options.type = EXTERNAL_MEMORY_TYPES.parse(handle_type, "handle_type");
    }
    options.is_dedicated = !dedicated.is_none() && bool_argument(dedicated, "dedicated");
    const Context context = current_context_for("importing external memory");
    ExternalMemory memory =
        without_gil([&] { return ExternalMemory::from_fd(context, number, bytes, options); });
    return make_as<PyExternalMemory>(cls, std::move(memory));
}

void bind_memory(nb::module_& module) {
    Class<PyExternalMemory> type(module, "ExternalMemory", nb::is_weak_referenceable());
    bind_common<PyExternalMemory, ExternalMemory>(type, "ExternalMemory");
    type.class_method<memory_from_fd>("from_fd");
    type.method<map_memory>("map", HOT);
    type.method<map_mipmapped_array>("map_mipmapped_array", HOT);
    type.property("size", &PyExternalMemory::size);
    type.property("handle_type", [](const PyExternalMemory& self) {
        return EXTERNAL_MEMORY_TYPES.member(self.type());
    });
    type.method("close", [](PyExternalMemory& self) { self.drop(); });
}

[[nodiscard]] nb::object semaphore_from_fd(nb::handle cls, nb::handle descriptor,
                                           nb::handle handle_type) {
    const int number = descriptor_argument(descriptor, "fd");
    const ExternalSemaphoreType type =
        handle_type.is_none() ? ExternalSemaphoreType::OpaqueFd
                              : EXTERNAL_SEMAPHORE_TYPES.parse(handle_type, "handle_type");
    const Context context = current_context_for("importing an external semaphore");
    ExternalSemaphore semaphore =
        without_gil([&] { return ExternalSemaphore::from_fd(context, number, type); });
    return make_as<PyExternalSemaphore>(cls, std::move(semaphore));
}

[[nodiscard]] std::optional<std::uint64_t> value_argument(nb::handle value) {
    return value.is_none() ? std::nullopt : std::optional(address_argument(value, "value"));
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

void bind_semaphore(nb::module_& module) {
    Class<PyExternalSemaphore> type(module, "ExternalSemaphore", nb::is_weak_referenceable());
    bind_common<PyExternalSemaphore, ExternalSemaphore>(type, "ExternalSemaphore");
    type.class_method<semaphore_from_fd>("from_fd");
    type.method<signal>("signal", HOT);
    type.method<wait>("wait", HOT);
    type.property("handle_type", [](const PyExternalSemaphore& self) {
        return EXTERNAL_SEMAPHORE_TYPES.member(self.type());
    });
    type.method("close", [](PyExternalSemaphore& self) { self.drop(); });
}

} // namespace

void bind_external_objects(nb::module_& module) {
    bind_memory(module);
    bind_semaphore(module);
}

} // namespace cuprum::python
