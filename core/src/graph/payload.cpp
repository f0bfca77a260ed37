// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/payload.hpp"

#include <atomic>

namespace cuprum::detail {

namespace {

std::atomic<std::size_t> live_payloads = 0;

} // namespace

Payload::Payload(std::size_t count) noexcept : count_(static_cast<unsigned>(count)) {
    std::uninitialized_value_construct_n(begin(), count_);
    live_payloads.fetch_add(1, std::memory_order_relaxed);
}

Payload::~Payload() {
    std::destroy_n(begin(), count_);
    live_payloads.fetch_sub(1, std::memory_order_relaxed);
}

std::unique_ptr<Payload> Payload::make(std::size_t count) {
    return std::unique_ptr<Payload>(new (count) Payload(count));
}

std::unique_ptr<Payload> Payload::of(std::shared_ptr<void> first, std::shared_ptr<void> second) {
    // A share of a null pointer can still have something to release.
    if (first.use_count() == 0 && second.use_count() == 0) {
        return nullptr;
    }
    auto made = make(2);
    made->owners()[0] = std::move(first);
    made->owners()[1] = std::move(second);
    return made;
}

std::size_t Payload::live_count() noexcept {
    return live_payloads.load(std::memory_order_relaxed);
}

CUuserObject make_user_object(DeferredRelease* owned, unsigned references) {
    CUuserObject object = nullptr;
    driver::call(driver::table().cuUserObjectCreate, &object, static_cast<void*>(owned),
                 static_cast<CUhostFn>(&destroy_payload), references,
                 unsigned{CU_USER_OBJECT_NO_DESTRUCTOR_SYNC});
    return object;
}

RetainedPayload::RetainedPayload(CUgraph graph, std::unique_ptr<Payload> payload) : graph_(graph) {
    if (payload == nullptr) {
        return;
    }
    const CUuserObject object = make_user_object(payload.get(), 1);
    payload->object = object;
    payload_ = payload.release(); // the user object owns it
    const auto& retain = driver::table().cuGraphRetainUserObject;
    const CUresult status = retain(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        driver::release_now("what a graph keeps alive", driver::table().cuUserObjectRelease, object,
                            1U);
        release_payloads();
        driver::raise(status, retain.name);
    }
}

RetainedPayload::~RetainedPayload() {
    if (payload_ != nullptr) [[unlikely]] {
        release_payload(graph_, payload_);
        release_payloads();
    }
}

void release_payload(CUgraph graph, Payload* payload) noexcept {
    if (payload != nullptr) {
        release_or_defer("what a graph keeps alive", driver::table().cuGraphReleaseUserObject,
                         graph, payload->object, 1U);
    }
}

void destroy_payload(void* owned) noexcept {
    // NOTE: no call of the driver here, and no destructor of anything: see the top of payload.hpp.
    push_payload(std::unique_ptr<DeferredRelease>(static_cast<DeferredRelease*>(owned)));
}

} // namespace cuprum::detail
