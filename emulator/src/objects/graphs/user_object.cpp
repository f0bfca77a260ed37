// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/user_object.hpp"

#include "objects/process/error.hpp"
#include "objects/process/host_threads.hpp"
#include "objects/process/origin.hpp"

#include <algorithm>

namespace cuprum::emulator {

std::shared_ptr<UserObject> UserObject::create(void* pointer, CUhostFn destroy,
                                               std::uint64_t count) {
    std::shared_ptr<UserObject> object(new UserObject(pointer, destroy));
    object->by_program_ = count;
    HandleTable::instance().insert(HandleKind::UserObject, object);
    return object;
}

void UserObject::retain(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    by_program_ += count;
}

void UserObject::release(std::uint64_t count) {
    bool is_last = false;
    {
        const std::lock_guard lock(mutex_);
        require(count <= by_program_, "the program has fewer references to the user object");
        by_program_ -= count;
        is_last = by_program_ + by_graphs_ == 0;
    }
    if (is_last) {
        end();
    }
}

void UserObject::move_to_graph(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    require(count <= by_program_, "the program has fewer references to the user object");
    by_program_ -= count;
    by_graphs_ += count;
}

void UserObject::retain_for_graph(std::uint64_t count) {
    const std::lock_guard lock(mutex_);
    by_graphs_ += count;
}

void UserObject::release_from_graph(std::uint64_t count) noexcept {
    bool is_last = false;
    {
        const std::lock_guard lock(mutex_);
        by_graphs_ -= count;
        is_last = by_program_ + by_graphs_ == 0;
    }
    if (is_last) {
        end();
    }
}

void UserObject::end() noexcept {
    HandleTable::instance().erase(HandleKind::UserObject, handle_value());
    HostThreads::instance().run([pointer = pointer_, destroy = destroy_] {
        const HostCallScope scope;
        destroy(pointer);
    });
}

// ---- references --------------------------------------------------------------------------------

UserReferences::UserReferences(const UserReferences& other) {
    add(other);
}

UserReferences::~UserReferences() {
    for (const auto& [object, count] : all_) {
        object->release_from_graph(count);
    }
}

void UserReferences::adopt(const std::shared_ptr<UserObject>& object, std::uint64_t count) {
    const auto found =
        std::ranges::find_if(all_, [&](const auto& entry) { return entry.first == object; });
    if (found != all_.end()) {
        found->second += count;
    } else {
        all_.emplace_back(object, count);
    }
}

void UserReferences::add(const UserReferences& other) {
    for (const auto& [object, count] : other.all_) {
        object->retain_for_graph(count);
        adopt(object, count);
    }
}

void UserReferences::release(const UserObject& object, std::uint64_t count) {
    const auto found =
        std::ranges::find_if(all_, [&](const auto& entry) { return entry.first.get() == &object; });
    require(found != all_.end() && found->second >= count,
            "the graph has fewer references to the user object");
    const auto kept = found->first;
    found->second -= count;
    if (found->second == 0) {
        all_.erase(found);
    }
    kept->release_from_graph(count);
}

} // namespace cuprum::emulator
