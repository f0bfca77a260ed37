// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

namespace cuprum::detail {

/// The one way to the private parts of the public classes, for the library and its bindings.
///
/// Every class that shares a state names it as a friend. The public headers only declare it and the
/// installed package leaves this header out, so programs cannot depend on what it reaches.
struct Access {
    /// Returns the state that an object shares. It is null once the object is closed.
    template <typename T>
    [[nodiscard]] static const auto& state(const T& object) noexcept {
        return object.state_;
    }

    /// Returns the node that a place in a graph means. It is null for a whole graph.
    template <typename T>
    [[nodiscard]] static const auto& node(const T& place) noexcept {
        return place.node_;
    }

    /// Creates an object through a private constructor, usually from its state.
    template <typename T, typename... Arguments>
    [[nodiscard]] static T make(Arguments&&... arguments) {
        return T(std::forward<Arguments>(arguments)...);
    }

    /// Says what the memory of a tensor map's source is: how many bytes follow the address, and
    /// which device uses it.
    template <typename Source, typename Bytes>
    static void set_memory(Source& source, bool is_device_accessible, Bytes bytes,
                           int device_id) noexcept {
        source.is_device_accessible_ = is_device_accessible;
        source.bytes_ = bytes;
        source.device_id_ = device_id;
    }

    /// Returns a kernel's parameters, or null if the driver cannot report them.
    template <typename Kernel>
    [[nodiscard]] static auto plan(const Kernel& kernel) {
        return kernel.plan();
    }

    /// Returns a kernel that the code looked up before, without a driver call.
    template <typename ObjectCode, typename Name>
    [[nodiscard]] static auto known_kernel(const ObjectCode& code, const Name& name) {
        return code.known_kernel(name);
    }

    /// Returns what a cache holds under a key, without another copy.
    template <typename Cache, typename Key>
    [[nodiscard]] static auto load(Cache& cache, const Key& key) {
        return cache.load(key);
    }
};

} // namespace cuprum::detail
