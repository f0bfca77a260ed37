// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/user_object.hpp"

#include "objects/process/error.hpp"
#include "objects/process/host_threads.hpp"
#include "objects/process/log.hpp"

namespace cuprum::emulator {

std::shared_ptr<UserObject> UserObject::create(void* pointer, CUhostFn destroy,
                                               std::uint64_t count) {
    HostThreads::instance().start_thread();
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
        const std::string report = call_host_function([&] { destroy(pointer); });
        if (!report.empty()) {
            log(LogLevel::Error, "the destructor of a user object: " + report);
        }
    });
}

// ---- references --------------------------------------------------------------------------------

UserReferences::UserReferences(const UserReferences& other) {
    add(other);
}

UserReferences::~UserReferences() {
    for (const auto& [object, count] : all_.items()) {
        object->release_from_graph(count);
    }
}

void UserReferences::adopt(const std::shared_ptr<UserObject>& object, std::uint64_t count) {
    if (Reference* const found = all_.find(object.get())) {
        found->count += count;
    } else {
        all_.add({object, count});
    }
}

void UserReferences::add(const UserReferences& other) {
    for (const auto& [object, count] : other.all_.items()) {
        object->retain_for_graph(count);
        adopt(object, count);
    }
}

void UserReferences::release(const UserObject& object, std::uint64_t count) {
    Reference* const found = all_.find(&object);
    require(found != nullptr && found->count >= count,
            "the graph has fewer references to the user object");
    const auto kept = found->object;
    found->count -= count;
    if (found->count == 0) {
        all_.erase(&object);
    }
    kept->release_from_graph(count);
}

} // namespace cuprum::emulator
