// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/executable_state.hpp"

#include "driver/capture.hpp"
#include "graph/executables.hpp"
#include "stream/stream_state.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace cuprum::detail {

Payload* ExecutableOwners::find(CUgraphNode node) const noexcept {
    const auto place = current_.find(node);
    return place == current_.end() ? nullptr : place->second.get();
}

void ExecutableOwners::reserve(CUgraphNode node) {
    current_.try_emplace(node);
    if (replaced_.size() == replaced_.capacity()) {
        replaced_.reserve(std::max(FIRST_CROWD, replaced_.size() * 2));
    }
}

void ExecutableOwners::keep(CUgraphNode node, std::unique_ptr<Payload> payload) noexcept {
    auto& place = current_.find(node)->second;
    if (place != nullptr) {
        replaced_.push_back(std::move(place));
    }
    place = std::move(payload);
}

void ExecutableOwners::release_replaced(const std::optional<Stream>& last) noexcept {
    try {
        if (!last.has_value()) {
            replaced_.clear();
            return;
        }
        if (is_capturing(open(*last))) {
            crowd_ *= 2; // an event would become part of the capture and say nothing of launches
            return;
        }
        const driver::RelaxedCapture relaxed; // asking an event would end other captures
        if (mark_.has_value() && !mark_->is_done()) {
            crowd_ *= 2; // the device is behind
            return;
        }
        waiting_.clear();
        mark_ = last->record();
        waiting_.swap(replaced_);
        crowd_ = FIRST_CROWD;
    } catch (const std::exception&) {
        crowd_ *= 2; // the stream is closed, or the device failed: keep it all
    }
}

SharedOwners SharedOwners::make() {
    auto owners = std::make_unique<ExecutableOwners>();
    SharedOwners made;
    made.object_ = make_user_object(owners.get(), 2);
    made.owners_ = owners.release();
    return made;
}

SharedOwners::~SharedOwners() {
    if (object_ != nullptr) {
        release_or_defer("what an executable graph keeps alive",
                         driver::table().cuUserObjectRelease, object_, 1U);
    }
}

LentOwners::LentOwners(CUgraph graph, const SharedOwners& owners)
    : graph_(graph), object_(owners.object()) {
    const auto& retain = driver::table().cuGraphRetainUserObject;
    const CUresult status = retain(graph, object_, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (status != CUDA_SUCCESS) {
        driver::release_now("what an executable graph keeps alive",
                            driver::table().cuUserObjectRelease, object_, 1U);
        driver::raise(status, retain.name);
    }
}

LentOwners::~LentOwners() {
    release_or_defer("what an executable graph keeps alive",
                     driver::table().cuGraphReleaseUserObject, graph_, object_, 1U);
}

ExecutableState::~ExecutableState() {
    if (handle != nullptr) {
        forget_executable(handle);
        release_or_defer("executable graph", driver::table().cuGraphExecDestroy, handle);
    }
    owners = SharedOwners();
    release_payloads();
}

} // namespace cuprum::detail
