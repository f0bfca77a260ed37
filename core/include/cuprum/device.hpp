// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context_settings.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

namespace detail {
struct DeviceState;
}

class Buffer;
class Context;
class DeviceResources;
class Event;
class GraphBuilder;
class MemoryResource;
class MipmappedArray;
class OpaqueArray;
class ResourceDescriptor;
class Stream;
class SurfaceObject;
class TextureObject;
class TimedEvent;
template <typename T>
class TypedBuffer;

namespace system {
class Device;
}

struct ContextOptions;
struct EventOptions;
struct MipmappedArrayOptions;
struct OpaqueArrayOptions;
struct StreamOptions;
struct TextureObjectOptions;

/// A device's compute capability, such as 9.0.
struct ComputeCapability {
    int major = 0; // the number before the dot
    int minor = 0; // the number behind the dot
    friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// Free and total memory of a device, in bytes.
struct MemoryInfo {
    std::size_t free_bytes = 0;  // memory that is free
    std::size_t total_bytes = 0; // memory that the device has
};

/// A question about the link between two devices.
enum class P2PAttribute {
    PerformanceRank = 1,          // how fast the link is; 0 is the fastest
    AccessSupported = 2,          // whether one device can access the memory of the other
    NativeAtomicSupported = 3,    // whether atomics work over the link
    CudaArrayAccessSupported = 4, // whether arrays can be accessed over the link
};

/// The state of a device's primary context: whether it exists, and its flags.
struct PrimaryContextState {
    bool is_active = false;  // whether the primary context exists
    ContextFlags flags = {}; // the flags that it has, or will have
};

/// The attributes of one device. Values are cached, except the few that change.
///
/// Every attribute of the driver has a method with its lower-case name: `multiprocessor_count()`,
/// `max_threads_per_block()`... An attribute that the driver does not know raises CUDAError.
///
/// @code
/// std::printf("%d multiprocessors\n", device.properties().multiprocessor_count());
/// assert(device.properties().get("warp_size") == 32);
/// @endcode
class CUPRUM_API DeviceProperties {
public:
    /// Returns the value of an attribute by its number, a CUdevice_attribute.
    /// @throws CUDAError if the driver does not know the attribute.
    [[nodiscard]] int get(int attribute) const;
    /// Returns the value of an attribute by its lower-case name.
    /// @throws std::invalid_argument if there is no such name.
    [[nodiscard]] int get(std::string_view name) const;
    /// Returns the value, or `fallback` if the driver does not know the attribute.
    [[nodiscard]] int get(std::string_view name, int fallback) const;
    /// Returns whether the driver knows the attribute.
    [[nodiscard]] bool is_supported(std::string_view name) const;
    /// Returns the names of all attributes, in the driver's order.
    [[nodiscard]] static std::vector<std::string_view> names();

#define CUPRUM_INT_ATTRIBUTE(name, number)                                                         \
    [[nodiscard]] int name() const { return get(number); }
#define CUPRUM_BOOL_ATTRIBUTE(name, number)                                                        \
    [[nodiscard]] bool name() const { return get(number) != 0; }
#include <cuprum/detail/device_attributes.def>
#undef CUPRUM_INT_ATTRIBUTE
#undef CUPRUM_BOOL_ATTRIBUTE

private:
    friend class Device;

    explicit DeviceProperties(detail::DeviceState& device) noexcept : device_(&device) {}

    detail::DeviceState* device_;
};

/// One GPU, or the emulated one. A plain value that owns nothing.
///
/// Creating a Device initialises the driver but no context. Methods act on this device, whichever
/// context is current: in the current context if it belongs to this device, else in the primary
/// context. They leave the current context as it was.
///
/// @code
/// const cuprum::Device device(0);
/// const cuprum::Stream stream = device.create_stream();
/// const auto numbers = device.allocate<float>(1024, stream);
/// std::printf("%s has %zu bytes free\n", device.name().c_str(), device.memory_info().free_bytes);
/// @endcode
class CUPRUM_API Device {
public:
    /// Selects the device of the current context, or device 0 if no context is current.
    Device();
    /// Selects a device by ordinal.
    /// @throws std::invalid_argument if the ordinal is out of range; the text shows the range.
    explicit Device(int ordinal);

    /// Returns all devices, in order.
    [[nodiscard]] static std::vector<Device> all();
    /// Returns the device of the context that is current on the calling thread, or nothing if no
    /// context is current. `Device()` falls back to device 0 instead.
    [[nodiscard]] static std::optional<Device> current();

    /// Returns the number of the device, counted from 0.
    [[nodiscard]] int ordinal() const noexcept;
    /// Returns the driver's `CUdevice`.
    [[nodiscard]] CUdevice handle() const noexcept;
    /// Returns the name of the device, such as "NVIDIA H200".
    [[nodiscard]] const std::string& name() const;
    /// Returns the UUID as 8-4-4-4-12 hexadecimal digits. It changes if a checkpoint of this
    /// process is restored onto another device.
    [[nodiscard]] std::string uuid() const;
    /// Returns the PCI address, "0000:65:00.0". It changes with the UUID.
    [[nodiscard]] std::string pci_bus_id() const;
    /// Returns the compute capability, which decides what code the device runs.
    [[nodiscard]] ComputeCapability compute_capability() const;
    /// Returns the capability as NVRTC names it, "90".
    [[nodiscard]] std::string arch() const;
    /// Returns whether this is the emulated device.
    [[nodiscard]] bool is_emulated() const;
    /// Returns the attributes of the device, each read from the driver when it is asked for.
    [[nodiscard]] DeviceProperties properties() const noexcept;
    /// Returns how much memory the device has, and how much of it is free.
    [[nodiscard]] MemoryInfo memory_info() const;
    /// Returns the size of the device's memory in bytes. Needs no context, unlike memory_info().
    [[nodiscard]] std::size_t total_memory() const;
    /// Returns what the whole device offers to green contexts.
    [[nodiscard]] DeviceResources resources() const;
    /// Returns the same device as the management library knows it: temperature, power, processes...
    /// Include <cuprum/system/device.hpp>.
    /// @throws LibraryNotFoundError without NVML, NVMLError if NVML does not see the device.
    [[nodiscard]] system::Device to_system_device() const;
    /// Returns whether kernels on this device can access the memory of `peer`; true for itself.
    [[nodiscard]] bool can_access_peer(const Device& peer) const;

    /// Returns a property of the link to another device.
    /// @throws std::invalid_argument if `peer` is this device.
    [[nodiscard]] int p2p_attribute(P2PAttribute attribute, const Device& peer) const;
    /// Lets kernels in this device's primary context access memory of `peer`'s primary context.
    /// Enabling access twice is harmless, and so is enabling it for the device itself.
    void enable_peer_access(const Device& peer) const;
    /// Withdraws this access. Disabling access twice is harmless.
    void disable_peer_access(const Device& peer) const;

    /// Makes this device's primary context current on the calling thread.
    void set_current() const;
    /// Makes `context` current on the calling thread and returns the one it replaces.
    /// @throws std::invalid_argument if it belongs to another device.
    std::optional<Context> set_current(const Context& context) const;
    /// Returns the primary context. The first call retains it until the process ends.
    [[nodiscard]] Context primary_context() const;
    /// Returns whether the primary context exists, and its flags.
    [[nodiscard]] PrimaryContextState primary_context_state() const;
    /// Changes the flags of the primary context, even if it exists already.
    void set_primary_context_flags(const ContextFlags& flags) const;
    /// Destroys everything in the primary context: streams, events, memory and modules of all
    /// libraries in the process.
    ///
    /// After a reset, old streams, events and context memory raise ClosedError; closing them is
    /// fine. Memory of pools and virtual memory outlives the reset and is freed as usual.
    void reset_primary_context() const;
    /// Creates a green context, which has its own part of the device.
    /// @throws std::invalid_argument if `options` has no multiprocessors, those of another device,
    /// or the result of a dry run.
    [[nodiscard]] Context create_context(const ContextOptions& options) const;
    /// Returns a limit of the context that methods of this device act in.
    [[nodiscard]] std::size_t limit(Limit which) const;
    /// Sets a limit of that context. The driver may round the value up.
    void set_limit(Limit which, std::size_t value) const;
    /// Blocks until all work in that context is done.
    void sync() const;

    /// Creates a stream in the primary context with the default options.
    [[nodiscard]] Stream create_stream() const;
    /// Creates a stream in the primary context.
    [[nodiscard]] Stream create_stream(const StreamOptions& options) const;
    /// Creates an event without timing.
    [[nodiscard]] Event create_event() const;
    /// Creates an event.
    [[nodiscard]] Event create_event(const EventOptions& options) const;
    /// Returns a builder that makes a graph of what is enqueued on it, with a stream of its own.
    /// Include `cuprum/graph/graph_builder.hpp`.
    [[nodiscard]] GraphBuilder create_graph_builder() const;
    /// Creates an event that has a time.
    [[nodiscard]] TimedEvent create_timed_event() const;
    /// Returns the resource that `allocate` uses: a DeviceMemoryResource over the device's current
    /// pool or, for a device without pools, a SynchronousMemoryResource. Always the same object.
    ///
    /// The first call changes the pool for the whole process: if its release threshold is 0, the
    /// driver's default, it becomes the maximum. See DeviceMemoryResource::create.
    [[nodiscard]] const std::shared_ptr<MemoryResource>& memory_resource() const;
    /// Allocates device memory from memory_resource(), ordered on `stream`. The first call sets the
    /// release threshold of the device's pool, as memory_resource() does.
    [[nodiscard]] Buffer allocate(std::size_t bytes, const Stream& stream) const;
    /// Allocates `count` elements: `device.allocate<float>(1024, stream)`. Include
    /// <cuprum/typed_buffer.hpp>.
    template <typename T>
    [[nodiscard]] TypedBuffer<T> allocate(std::size_t count, const Stream& stream) const;
    /// Creates an array for textures and surfaces. Include <cuprum/texture/opaque_array.hpp>.
    [[nodiscard]] OpaqueArray create_opaque_array(const OpaqueArrayOptions& options) const;
    /// Creates an array with levels. Include <cuprum/texture/mipmapped_array.hpp>.
    [[nodiscard]] MipmappedArray create_mipmapped_array(const MipmappedArrayOptions& options) const;
    /// Creates a texture. Include <cuprum/texture/texture_object.hpp>.
    /// @throws std::invalid_argument also if the resource lies on another device.
    [[nodiscard]] TextureObject create_texture_object(const ResourceDescriptor& resource,
                                                      const TextureObjectOptions& options) const;
    /// Creates a surface. Include <cuprum/texture/surface_object.hpp>.
    [[nodiscard]] SurfaceObject create_surface_object(const ResourceDescriptor& resource) const;

    friend bool operator==(const Device&, const Device&) = default;

private:
    friend class Context;

    explicit Device(detail::DeviceState* state) noexcept : state_(state) {}

    detail::DeviceState* state_; // lives as long as the process
};

/// Returns the ordinal for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Device& device);
/// Returns major and minor number, "9.0".
[[nodiscard]] CUPRUM_API std::string to_string(ComputeCapability capability);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Device> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Device& device) const noexcept;
};
