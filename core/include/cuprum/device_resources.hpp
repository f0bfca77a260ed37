// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a green context is made of: multiprocessors and work queues.

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace cuprum {

namespace detail {
struct Access;
struct ContextState;
struct ResourceState;
} // namespace detail

/// One group of multiprocessors that a split should make.
struct SMGroup {
    std::optional<unsigned> count = {};                // none: the driver chooses
    std::optional<unsigned> coscheduled_sm_count = {}; // how many can run one cluster together
    std::optional<unsigned> preferred_coscheduled_sm_count = {}; // like it, if the driver can
    bool backfill = false; // complete the group with multiprocessors that are not co-scheduled
};

struct SMSplit;

/// A set of multiprocessors of one device. It reserves nothing until a context uses it.
///
/// @code
/// const cuprum::SMResource all = device.resources().sm();
/// const cuprum::SMSplit parts = all.split({{.count = all.min_partition_size()}});
/// const cuprum::Context context = device.create_context({.resources = {parts.groups.front()}});
/// const cuprum::Stream part = cuprum::Stream::create(context); // runs on that part of the device
/// @endcode
class CUPRUM_API SMResource {
public:
    /// Returns how many multiprocessors there are.
    [[nodiscard]] unsigned sm_count() const;
    /// Returns the smallest number of multiprocessors that a group can have.
    [[nodiscard]] unsigned min_partition_size() const;
    /// Returns the granularity: the driver rounds the size of a group up to a multiple of it.
    [[nodiscard]] unsigned coscheduled_alignment() const;
    /// Returns the driver's flags of the set.
    [[nodiscard]] unsigned flags() const;
    /// Returns the device that the multiprocessors belong to.
    [[nodiscard]] Device device() const;
    /// Returns whether a context can use it. The result of a dry run cannot be used.
    [[nodiscard]] bool is_usable() const;

    /// Splits the set into groups and a remainder. This object does not change.
    ///
    /// Groups of different sizes and co-scheduling need a driver for CUDA 13.1. A dry run returns
    /// the sizes only.
    /// @throws CUDAError with CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION if the device does not
    /// support this split.
    [[nodiscard]] SMSplit split(std::span<const SMGroup> groups, bool is_dry_run = false) const;
    /// Splits the set into groups given in braces.
    [[nodiscard]] SMSplit split(std::initializer_list<SMGroup> groups,
                                bool is_dry_run = false) const;

    /// Returns the driver's description, a CUdevResource. It lives as long as this object.
    [[nodiscard]] const CUdevResource_st* handle() const;

private:
    friend struct detail::Access;

    explicit SMResource(std::shared_ptr<detail::ResourceState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ResourceState> state_;
};

/// The result of a split.
struct SMSplit {
    std::vector<SMResource> groups; // the groups, in the order of the request
    SMResource remainder;           // the multiprocessors that are in no group
};

/// Which contexts share work queues.
enum class WorkqueueSharingScope {
    DeviceContext = 0,        // all contexts of the device
    GreenContextBalanced = 1, // each green context has its own queues while there are enough
};

/// Changes to work queues. Unset members keep their value.
struct WorkqueueResourceOptions {
    std::optional<WorkqueueSharingScope> sharing_scope = {}; // which contexts share queues
    std::optional<unsigned> concurrency_limit = {}; // streams that should run independently
};

/// The work queues of a device or context. Needs a driver for CUDA 13.1.
///
/// Copies share one description, which `configure` changes.
///
/// @code
/// const cuprum::WorkqueueResource queues = device.resources().workqueue();
/// queues.configure({.sharing_scope = cuprum::WorkqueueSharingScope::GreenContextBalanced});
/// @endcode
class CUPRUM_API WorkqueueResource {
public:
    /// Returns which contexts share the queues.
    [[nodiscard]] WorkqueueSharingScope sharing_scope() const;
    /// Returns how many streams should run independently.
    [[nodiscard]] unsigned concurrency_limit() const;
    /// Returns the device that the queues belong to.
    [[nodiscard]] Device device() const;
    /// Changes the description. It applies to contexts created from it afterwards.
    /// @throws std::invalid_argument if the limit is 0.
    void configure(const WorkqueueResourceOptions& options) const;

    /// Returns the driver's description, a CUdevResource. It lives as long as this object.
    [[nodiscard]] const CUdevResource_st* handle() const;

private:
    friend struct detail::Access;

    explicit WorkqueueResource(std::shared_ptr<detail::ResourceState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ResourceState> state_;
};

/// The resources of a device or of one of its contexts. Every call asks the driver again.
///
/// @code
/// const cuprum::DeviceResources resources = device.resources();
/// std::printf("%u multiprocessors\n", resources.sm().sm_count());
/// @endcode
class CUPRUM_API DeviceResources {
public:
    /// @throws NotSupportedError if the driver is older than CUDA 12.4.
    [[nodiscard]] SMResource sm() const;
    /// @throws NotSupportedError if the driver is older than CUDA 13.1.
    [[nodiscard]] WorkqueueResource workqueue() const;

    /// Returns the device that they belong to.
    [[nodiscard]] const Device& device() const noexcept { return device_; }

private:
    friend class Context;
    friend class Device;
    friend class Stream;

    /// Without a context it answers for the device as a whole.
    DeviceResources(const Device& device, std::shared_ptr<detail::ContextState> context) noexcept
        : device_(device), context_(std::move(context)) {}

    Device device_;
    std::shared_ptr<detail::ContextState> context_;
};

/// The resources of a green context: at least one set of multiprocessors.
struct ContextOptions {
    std::vector<std::variant<SMResource, WorkqueueResource>> resources; // what the context may use
};

} // namespace cuprum
