// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Contexts that we make: plain and green ones, and the primary one made anew.

#include "device/context_flags.hpp"
#include "device/device_state.hpp"
#include "device/resource_state.hpp"
#include "driver/current.hpp"
#include "driver/explanations.hpp"
#include "driver/handle.hpp"
#include "support/quiet_lock.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>

#include <mutex>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

std::vector<CUdevResource> checked_resources(const Device& device, const ContextOptions& options);

} // namespace

Context Context::create(const Device& device, const ContextFlags& flags) {
    auto state = std::make_shared<detail::ContextState>();
    state->device = &detail::device_state(device.handle());
    // The driver makes a new context current; what was current before is so again afterwards.
    CUcontext handle = nullptr;
    call(table().cuCtxCreate, &handle, nullptr, detail::flag_bits(flags), device.handle());
    state->handle = handle;
    state->is_owned = true;
    CUcontext popped = nullptr;
    call(table().cuCtxPopCurrent, &popped);
    detail::note_context(state);
    return Context(std::move(state));
}

Context Device::create_context(const ContextOptions& options) const {
    std::vector<CUdevResource> resources = checked_resources(*this, options);
    CUdevResourceDesc description = nullptr;
    call(table().cuDevResourceGenerateDesc, &description, resources.data(),
         static_cast<unsigned>(resources.size()));
    auto state = std::make_shared<detail::ContextState>();
    state->device = state_;
    call(table().cuGreenCtxCreate, &state->green, description, state_->handle,
         unsigned{CU_GREEN_CTX_DEFAULT_STREAM});
    state->is_owned = true;
    CUcontext handle = nullptr;
    call(table().cuCtxFromGreenCtx, &handle, state->green);
    state->handle = handle;
    detail::note_context(state);
    return detail::Access::make<Context>(std::move(state));
}

PrimaryContextState Device::primary_context_state() const {
    unsigned bits = 0;
    int is_active = 0;
    call(table().cuDevicePrimaryCtxGetState, state_->handle, &bits, &is_active);
    return {.is_active = is_active != 0, .flags = detail::flags_from_bits(bits)};
}

void Device::set_primary_context_flags(const ContextFlags& flags) const {
    call(table().cuDevicePrimaryCtxSetFlags, state_->handle, detail::flag_bits(flags));
}

void Device::reset_primary_context() const {
    static std::mutex one_at_a_time; // so that every life of the context is retained once
    const detail::QuietLock lock(one_at_a_time);
    const auto* primary = state_->primary.peek();
    if (primary != nullptr) {
        // Before the driver destroys anything: no thread may use or release an object that is about
        // to go. The count is odd during the reset, so that objects made meanwhile are lost as
        // well.
        (*primary)->reset_count.fetch_add(1);
        driver::detail::process_flags.was_reset.store(true);
    }
    const auto end = [primary](bool is_reset) {
        if (primary != nullptr) { // after a failed reset, the earlier objects still exist
            (*primary)->reset_count.fetch_add(is_reset ? 1U : ~0U);
        }
    };
    const auto& reset = table().cuDevicePrimaryCtxReset;
    CUresult status = CUDA_ERROR_UNKNOWN;
    try {
        status = reset(state_->handle);
    } catch (...) { // the first call of an entry looks it up, which can fail
        end(false);
        throw;
    }
    end(status == CUDA_SUCCESS);
    if (status != CUDA_SUCCESS) {
        driver::raise(status, reset.name);
    }
    driver::forget_fault();
    if (primary != nullptr) {
        // The context stays ours but is inactive until somebody retains it once more.
        CUcontext renewed = nullptr;
        call(table().cuDevicePrimaryCtxRetain, &renewed, state_->handle);
        (*primary)->handle = renewed;
        ++state_->retained;
    }
}

int Device::p2p_attribute(P2PAttribute attribute, const Device& peer) const {
    if (peer == *this) {
        throw std::invalid_argument("peer is device " + std::to_string(ordinal()) +
                                    " itself, expected another device");
    }
    int value = 0;
    call(table().cuDeviceGetP2PAttribute, &value, static_cast<CUdevice_P2PAttribute>(attribute),
         state_->handle, peer.state_->handle);
    return value;
}

void Device::enable_peer_access(const Device& peer) const {
    if (peer == *this) {
        return;
    }
    const CUcontext other = detail::primary_context(*peer.state_)->handle;
    const driver::Current current(detail::primary_context(*state_)->handle);
    const auto& entry = table().cuCtxEnablePeerAccess;
    const CUresult status = entry(other, 0U);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        driver::raise(status, entry.name);
    }
    driver::note_peer_access();
}

void Device::disable_peer_access(const Device& peer) const {
    if (peer == *this) {
        return;
    }
    const CUcontext other = detail::primary_context(*peer.state_)->handle;
    const driver::Current current(detail::primary_context(*state_)->handle);
    const auto& entry = table().cuCtxDisablePeerAccess;
    const CUresult status = entry(other);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) {
        driver::raise(status, entry.name);
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::vector<CUdevResource> checked_resources(const Device& device, const ContextOptions& options) {
    std::vector<CUdevResource> resources;
    bool has_multiprocessors = false;
    for (const auto& resource : options.resources) {
        const detail::ResourceState& state = *std::visit(
            [](const auto& held) { return detail::Access::state(held).get(); }, resource);
        has_multiprocessors = has_multiprocessors || std::holds_alternative<SMResource>(resource);
        if (!state.is_usable) {
            throw std::invalid_argument("resources holds a dry-run SMResource, which only shows "
                                        "sizes; split without dry_run to use it");
        }
        if (state.device != device) {
            throw std::invalid_argument(
                "resources holds one of device " + std::to_string(state.device.ordinal()) +
                ", expected those of device " + std::to_string(device.ordinal()));
        }
        resources.push_back(state.resource);
    }
    if (!has_multiprocessors) {
        throw std::invalid_argument("resources must hold at least one SMResource; "
                                    "Device::resources().sm() has all multiprocessors");
    }
    return resources;
}

} // namespace

} // namespace cuprum
