// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context_settings.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>

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
class MemoryResource;
class Stream;
class TimedEvent;
struct ContextOptions;
struct EventOptions;
struct StreamOptions;

/// A device's compute capability, such as 9.0.
struct ComputeCapability {
    int major = 0;
    int minor = 0;
    friend auto operator<=>(const ComputeCapability&, const ComputeCapability&) = default;
};

/// Free and total memory of a device, in bytes.
struct MemoryInfo {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
};

/// How two devices reach each other's memory.
enum class P2PAttribute {
    PerformanceRank = 1,          // of the link, 0 is the fastest
    AccessSupported = 2,          // whether it is possible at all
    NativeAtomicSupported = 3,    // whether atomics work over the link
    CudaArrayAccessSupported = 4, // whether arrays can be accessed over it
};

/// Whether a device's primary context exists, and how it behaves.
struct PrimaryContextState {
    bool is_active = false;
    ContextFlags flags = {};
};

/// Reads the attributes of one device, by name. Values are cached, except the few that change.
///
/// Every attribute of the driver has a method of its lower-case name: `multiprocessor_count()`,
/// `max_threads_per_block()`... An attribute that the driver does not know raises, it does not read
/// as 0.
class CUPRUM_API DeviceProperties {
public:
    /// Returns the value of an attribute, by number (a CUdevice_attribute).
    /// @throws CUDAError if the driver does not know it.
    [[nodiscard]] int get(int attribute) const;
    /// Returns the value of an attribute, by its lower-case name.
    /// @throws std::invalid_argument if there is no such name.
    [[nodiscard]] int get(std::string_view name) const;
    /// Returns the value, or `fallback` if the driver does not know the attribute.
    [[nodiscard]] int get(std::string_view name, int fallback) const;
    /// Tells whether the driver knows the attribute.
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

/// Names one CUDA device. A plain value: copying it costs nothing and it owns nothing.
///
/// Making one initialises the driver, not a context. Methods act on their own device whatever is
/// current, in its current context if that belongs to this device and in its primary context
/// otherwise, and leave the current context as it was.
class CUPRUM_API Device {
public:
    /// Names the device of the current context, or device 0 if there is none.
    Device();
    /// Names a device by ordinal.
    /// @throws std::invalid_argument if there is no such device; the text gives the range.
    explicit Device(int ordinal);

    /// Returns all devices, in order.
    [[nodiscard]] static std::vector<Device> all();

    [[nodiscard]] int ordinal() const noexcept;
    /// Returns the driver's CUdevice.
    [[nodiscard]] int handle() const noexcept;
    [[nodiscard]] const std::string& name() const;
    /// Returns the UUID as 8-4-4-4-12 hexadecimal digits.
    [[nodiscard]] const std::string& uuid() const;
    /// Returns the PCI address, "0000:65:00.0".
    [[nodiscard]] const std::string& pci_bus_id() const;
    [[nodiscard]] ComputeCapability compute_capability() const;
    /// Returns the capability as NVRTC names it, "90".
    [[nodiscard]] std::string arch() const;
    /// Tells whether this is the emulated device.
    [[nodiscard]] bool is_emulated() const;
    [[nodiscard]] DeviceProperties properties() const noexcept;
    [[nodiscard]] MemoryInfo memory_info() const;
    /// Returns the size of the device's memory in bytes. Needs no context, unlike memory_info().
    [[nodiscard]] std::size_t total_memory() const;
    /// Asks what the device as a whole has for green contexts.
    [[nodiscard]] DeviceResources resources() const;
    /// Tells whether kernels on this device may access `peer`'s memory; true for itself.
    [[nodiscard]] bool can_access_peer(const Device& peer) const;

    /// Tells about the link to another device. @throws std::invalid_argument for itself.
    [[nodiscard]] int p2p_attribute(P2PAttribute attribute, const Device& peer) const;
    /// Lets kernels in this device's primary context access memory of `peer`'s primary context.
    /// Does nothing if they may already, or `peer` is this device.
    void enable_peer_access(const Device& peer) const;
    /// Takes that back; does nothing if it was not allowed.
    void disable_peer_access(const Device& peer) const;

    /// Makes this device's primary context current on the calling thread.
    void set_current() const;
    /// Makes `context` current in place of the current one, which is returned.
    /// @throws std::invalid_argument if it belongs to another device.
    std::optional<Context> set_current(const Context& context) const;
    /// Returns the primary context, retained on first use and kept until the process ends.
    [[nodiscard]] Context primary_context() const;
    [[nodiscard]] PrimaryContextState primary_context_state() const;
    /// Changes how the primary context behaves, also if it exists already.
    void set_primary_context_flags(const ContextFlags& flags) const;
    /// Destroys everything in the primary context: streams, events, memory, modules, of all
    /// libraries in the process. The context itself starts anew. What was made in it before must
    /// not be used any more; dropping or closing it is fine. Pools, and virtual memory, outlive it:
    /// their buffers can still be read and are freed as ever.
    void reset_primary_context() const;
    /// Makes a green context: one that has its own part of the device.
    /// @throws std::invalid_argument if `options` names no multiprocessors, those of another
    /// device, or the result of a dry run.
    [[nodiscard]] Context create_context(const ContextOptions& options) const;
    /// Returns a limit of this device's context.
    [[nodiscard]] std::size_t limit(Limit which) const;
    /// Changes a limit of this device's context; the driver may round the value up.
    void set_limit(Limit which, std::size_t value) const;
    /// Blocks until all work of this device's context is done.
    void sync() const;

    [[nodiscard]] Stream create_stream() const;
    [[nodiscard]] Stream create_stream(const StreamOptions& options) const;
    [[nodiscard]] Event create_event() const;
    [[nodiscard]] Event create_event(const EventOptions& options) const;
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

    friend bool operator==(const Device&, const Device&) = default;

private:
    friend class Context;

    explicit Device(detail::DeviceState* state) noexcept : state_(state) {}

    detail::DeviceState* state_; // lives as long as the process
};

} // namespace cuprum
