// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// User objects: what a program wants to be told about when no graph needs it any more.

#pragma once

#include "objects/graphs/ordered_list.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace cuprum::emulator {

/// A pointer of the program with a count of references and a function to call when it reaches 0.
///
/// The function runs on an internal thread and may not call the driver.
class UserObject final : public Object, public std::enable_shared_from_this<UserObject> {
public:
    /// Makes an object with `count` references that the caller owns.
    [[nodiscard]] static std::shared_ptr<UserObject> create(void* pointer, CUhostFn destroy,
                                                            std::uint64_t count);

    void retain(std::uint64_t count);

    /// Gives up references of the program; throws INVALID_VALUE if it has fewer.
    void release(std::uint64_t count);

    /// Makes references of the program those of a graph; throws INVALID_VALUE if it has fewer.
    void move_to_graph(std::uint64_t count);

    void retain_for_graph(std::uint64_t count);
    void release_from_graph(std::uint64_t count) noexcept;

private:
    UserObject(void* pointer, CUhostFn destroy) : pointer_(pointer), destroy_(destroy) {}

    void end() noexcept;

    void* pointer_;
    CUhostFn destroy_;
    std::mutex mutex_;
    std::uint64_t by_program_ = 0;
    std::uint64_t by_graphs_ = 0;
};

/// References that a graph, or an executable one, holds. Copying retains, destroying releases.
class UserReferences {
public:
    UserReferences() = default;
    UserReferences(const UserReferences& other);

    UserReferences(UserReferences&& other) noexcept : all_(std::exchange(other.all_, {})) {}

    UserReferences& operator=(UserReferences other) noexcept {
        std::swap(all_, other.all_);
        return *this;
    }

    ~UserReferences();

    /// Takes over references that the caller has retained for a graph.
    void adopt(const std::shared_ptr<UserObject>& object, std::uint64_t count);

    /// Retains everything that `other` holds.
    void add(const UserReferences& other);

    /// Releases references; throws INVALID_VALUE if there are fewer.
    void release(const UserObject& object, std::uint64_t count);

private:
    struct Reference {
        std::shared_ptr<UserObject> object;
        std::uint64_t count = 0;
    };

    struct ObjectOf {
        const UserObject* operator()(const Reference& reference) const noexcept {
            return reference.object.get();
        }
    };

    OrderedList<Reference, ObjectOf> all_;
};

} // namespace cuprum::emulator
