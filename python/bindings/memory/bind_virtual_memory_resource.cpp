// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"
#include "support/collection.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/host.hpp>
#include <cuprum/location.hpp>
#include <cuprum/virtual_memory_resource.hpp>

#include <memory>

namespace cuprum::python {

namespace {

[[nodiscard]] VirtualMemoryResource& core_of(const PyVirtualMemoryResource& self) {
    return static_cast<VirtualMemoryResource&>(*self.core);
}

[[nodiscard]] nb::object config_argument(nb::handle config) {
    nb::object given = options_argument(config, "VirtualMemoryResourceOptions");
    if (!given.is_valid()) {
        given = nb::module_::import_("cuprum._options").attr("VirtualMemoryResourceOptions")();
    }
    return given;
}

/// One value of an option and the str that means it; null stands for None.
template <typename Value>
struct Spec {
    const char* name;
    Value value;
};

constexpr std::array<Spec<VirtualMemoryAccess>, 3> ACCESSES{
    {{nullptr, VirtualMemoryAccess::None},
     {"r", VirtualMemoryAccess::Read},
     {"rw", VirtualMemoryAccess::ReadWrite}}};

constexpr std::array<Spec<VirtualMemoryAllocation>, 2> ALLOCATIONS{
    {{"pinned", VirtualMemoryAllocation::Pinned}, {"managed", VirtualMemoryAllocation::Managed}}};

constexpr std::array<Spec<LocationKind>, 4> LOCATIONS{
    {{"device", LocationKind::Device},
     {"host", LocationKind::Host},
     {"host_numa", LocationKind::HostNuma},
     {"host_numa_current", LocationKind::HostNumaCurrent}}};

constexpr std::array<Spec<VirtualMemoryHandle>, 4> HANDLES{
    {{nullptr, VirtualMemoryHandle::None},
     {"posix_fd", VirtualMemoryHandle::PosixFileDescriptor},
     {"win32_kmt", VirtualMemoryHandle::Win32Kmt},
     {"fabric", VirtualMemoryHandle::Fabric}}};

constexpr std::array<Spec<VirtualMemoryGranularity>, 2> GRANULARITIES{
    {{"minimum", VirtualMemoryGranularity::Minimum},
     {"recommended", VirtualMemoryGranularity::Recommended}}};

[[nodiscard]] bool is_text(nb::handle value, const char* text) {
    return PyUnicode_Check(value.ptr()) != 0 &&
           PyUnicode_CompareWithASCIIString(value.ptr(), text) == 0;
}

/// Returns the value that a field of the options means.
/// @throws ValueError with `complaint` and the specs that are known.
template <typename Value, std::size_t Count>
[[nodiscard]] Value read(nb::handle config, const char* field,
                         const std::array<Spec<Value>, Count>& known, const char* complaint) {
    const nb::object given = config.attr(field);
    std::string expected;
    for (const Spec<Value>& spec : known) {
        if (spec.name == nullptr ? given.is_none() : is_text(given, spec.name)) {
            return spec.value;
        }
        expected += expected.empty() ? "" : ", ";
        expected += spec.name == nullptr ? "None" : "'" + std::string(spec.name) + "'";
    }
    raise_error(PyExc_ValueError, std::string(complaint) + ": " + repr_text(given) +
                                      ", expected one of [" + expected + "]");
}

/// Reads the fields of a Python VirtualMemoryResourceOptions.
[[nodiscard]] VirtualMemoryResourceOptions options_of(nb::handle config) {
    if (is_text(nb::object(config.attr("handle_type")), "win32")) {
        raise_error(PyExc_NotImplementedError,
                    "win32 is currently not supported as a handle_type; use 'win32_kmt'");
    }
    VirtualMemoryResourceOptions options;
    options.allocation_type =
        read(config, "allocation_type", ALLOCATIONS, "Unsupported allocation_type");
    options.location_type = read(config, "location_type", LOCATIONS, "Unsupported location_type");
    options.handle_type = read(config, "handle_type", HANDLES, "Unsupported handle_type");
    options.granularity = read(config, "granularity", GRANULARITIES, "Unsupported granularity");
    options.self_access = read(config, "self_access", ACCESSES, "Unknown access spec");
    options.peer_access = read(config, "peer_access", ACCESSES, "Unknown access spec");
    options.gpu_direct_rdma = is_true(config, "gpu_direct_rdma");
    if (const nb::object hint = config.attr("addr_hint"); !hint.is_none()) {
        options.addr_hint = address_argument(hint, "addr_hint");
    }
    if (const nb::object alignment = config.attr("addr_align"); !alignment.is_none()) {
        options.addr_align = size_argument(alignment, "addr_align");
    }
    const nb::object peers = config.attr("peers");
    if (!nb::isinstance<nb::iterable>(peers)) {
        raise_error(PyExc_TypeError,
                    "peers must be an iterable of Devices or ordinals, got " + type_label(peers));
    }
    for (nb::handle peer : peers) {
        options.peers.push_back(device_argument(peer, "peers"));
    }
    return options;
}

[[nodiscard]] nb::object modify_allocation(nb::handle self, nb::handle buffer, nb::handle size,
                                           nb::handle config) {
    auto& resource = held_by<PyVirtualMemoryResource>(self);
    const PyBuffer* old = get_if<PyBuffer>(buffer);
    if (old == nullptr) {
        raise_error(PyExc_TypeError, "buf must be a Buffer, got " + type_label(buffer));
    }
    const std::size_t bytes = size_argument(size, "new_size");
    nb::object given = config.is_none() ? resource.config : config_argument(config);
    const VirtualMemoryResourceOptions how = options_of(given);
    Buffer grown =
        without_gil([&] { return core_of(resource).modify_allocation(*old, bytes, how); });
    resource.config = std::move(given);
    if (detail::Access::state(grown) == detail::Access::state(*old)) {
        return nb::borrow(buffer);
    }
    nb::object moved = make<PyBuffer>(std::move(grown), nb::borrow(self), nb::object());
    if (old->kept.is_valid()) {
        keep_also(moved, old->kept);
    }
    if (old->freed_on.is_valid()) {
        show_foreign_stream(moved, old->freed_on);
    }
    return moved;
}

} // namespace

void bind_virtual_memory_resource(nb::module_& module) {
    Class<PyVirtualMemoryResource, PyNativeResource> type(
        module, "VirtualMemoryResource", nb::is_weak_referenceable(),
        nb::type_slots(
            MemberSlots<PyVirtualMemoryResource, &PyVirtualMemoryResource::config>::slots));
    type.constructor([](PyVirtualMemoryResource* self, const Device& device, nb::handle config) {
        nb::object given = config_argument(config);
        const VirtualMemoryResourceOptions how = options_of(given);
        new (self)
            PyVirtualMemoryResource(VirtualMemoryResource::create(device, how), std::move(given));
    });
    type.method("allocate", [](nb::handle self, std::size_t bytes, nb::handle stream) {
        const auto order = optional_stream_argument(stream);
        auto& core = core_of(held_by<PyVirtualMemoryResource>(self));
        auto buffer = without_gil(
            [&] { return order ? core.allocate(bytes, *order) : core.allocate(bytes); });
        nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(self), nb::object());
        if (order) {
            keep_foreign_stream(made, stream);
        }
        return made;
    });
    type.method("deallocate", [](const PyVirtualMemoryResource& self, nb::handle ptr,
                                 std::size_t bytes, nb::handle stream) {
        const CUdeviceptr pointer = address_argument(ptr, "ptr");
        const Stream order =
            optional_stream_argument(stream).value_or(detail::Access::make<Stream>(nullptr));
        const nb::gil_scoped_release unlocked;
        self.core->deallocate_bytes(pointer, bytes, order);
    });
    type.method<modify_allocation>("modify_allocation");
    type.property("config", [](const PyVirtualMemoryResource& self) { return self.config; });
    type.property("device", [](const PyVirtualMemoryResource& self) -> nb::object {
        const auto device = core_of(self).device();
        return device ? device_object(*device) : nb::none();
    });
    type.property("device_id",
                  [](const PyVirtualMemoryResource& self) { return self.core->device_id(); });
    type.property("granularity", [](const PyVirtualMemoryResource& self) {
        const nb::gil_scoped_release unlocked;
        return core_of(self).granularity();
    });
    type.property("is_device_accessible", [](const PyVirtualMemoryResource& self) {
        return self.core->is_device_accessible();
    });
    type.property("is_host_accessible", [](const PyVirtualMemoryResource& self) {
        return self.core->is_host_accessible();
    });
}

} // namespace cuprum::python
