// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/device.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/host.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/system/device.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::table;

using driver::call;

struct AttributeName {
    std::string_view name;
    int number;
};

constexpr auto ATTRIBUTES = std::to_array<AttributeName>({
#define CUPRUM_INT_ATTRIBUTE(name, number) {#name, number},
#define CUPRUM_BOOL_ATTRIBUTE(name, number) {#name, number},
#include <cuprum/detail/device_attributes.def>
#undef CUPRUM_INT_ATTRIBUTE
#undef CUPRUM_BOOL_ATTRIBUTE
});

int attribute_number(std::string_view name) {
    const auto* place = std::find_if(ATTRIBUTES.begin(), ATTRIBUTES.end(),
                                     [&](const auto& entry) { return entry.name == name; });
    if (place == ATTRIBUTES.end()) {
        throw std::invalid_argument(
            "name is '" + std::string(name) +
            "', expected a device attribute such as "
            "'multiprocessor_count'; names() of DeviceProperties lists them");
    }
    return place->number;
}

/// Returns the device of the current context, or null if no context is current.
detail::DeviceState* current_device() {
    static_cast<void>(detail::devices()); // initialises the driver
    const auto& query = table().cuCtxGetDevice;
    CUdevice current = 0;
    const CUresult status = query(&current);
    if (status == CUDA_SUCCESS) {
        return &detail::device_state(current);
    }
    if (status != CUDA_ERROR_INVALID_CONTEXT) {
        driver::raise(status, query.name);
    }
    return nullptr;
}

/// Returns the device of the current context, or the first one if no context is current.
detail::DeviceState* default_device() {
    if (detail::DeviceState* const current = current_device()) {
        return current;
    }
    const detail::DeviceList& devices = detail::devices();
    if (devices.empty()) {
        driver::raise(CUDA_ERROR_NO_DEVICE, table().cuDeviceGetCount.name);
    }
    return devices.front().get();
}

detail::DeviceState* device_by_ordinal(int ordinal) {
    const detail::DeviceList& devices = detail::devices();
    if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= devices.size()) {
        std::string text = "ordinal is " + std::to_string(ordinal) + ", expected ";
        text += devices.empty() ? "nothing: the driver sees no device"
                                : "0 to " + std::to_string(devices.size() - 1) + " (" +
                                      std::to_string(devices.size()) + " in all)";
        if (ordinal > 0 && driver::is_emulated()) {
            text += "; CUPRUM_EMULATOR_DEVICES sets the number of emulated devices";
        }
        throw std::invalid_argument(text);
    }
    return devices[static_cast<std::size_t>(ordinal)].get();
}

std::string format_uuid(const CUuuid& uuid) {
    static constexpr std::string_view DIGITS = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            text += '-';
        }
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += DIGITS[byte >> 4U];
        text += DIGITS[byte & 15U];
    }
    return text;
}

} // namespace

Device::Device() : state_(default_device()) {}

Device::Device(int ordinal) : state_(device_by_ordinal(ordinal)) {}

std::vector<Device> Device::all() {
    std::vector<Device> all;
    for (const auto& state : detail::devices()) {
        all.push_back(Device(state.get()));
    }
    return all;
}

std::optional<Device> Device::current() {
    detail::DeviceState* const state = current_device();
    return state == nullptr ? std::nullopt : std::optional(Device(state));
}

int Device::ordinal() const noexcept {
    return state_->ordinal;
}

CUdevice Device::handle() const noexcept {
    return state_->handle;
}

const std::string& Device::name() const {
    return state_->name.get([&] {
        std::array<char, 256> text{};
        call(table().cuDeviceGetName, text.data(), static_cast<int>(text.size() - 1),
             state_->handle);
        return std::string(text.data());
    });
}

std::string Device::uuid() const {
    CUuuid uuid{};
    call(table().cuDeviceGetUuid, &uuid, state_->handle);
    return format_uuid(uuid);
}

std::string Device::pci_bus_id() const {
    std::array<char, 32> text{}; // the driver asks for at least 13
    call(table().cuDeviceGetPCIBusId, text.data(), static_cast<int>(text.size() - 1),
         state_->handle);
    return text.data();
}

ComputeCapability Device::compute_capability() const {
    return {detail::attribute(*state_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            detail::attribute(*state_, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

std::string Device::arch() const {
    const ComputeCapability capability = compute_capability();
    return std::to_string(capability.major) + std::to_string(capability.minor);
}

bool Device::is_emulated() const {
    return driver::is_emulated();
}

DeviceProperties Device::properties() const noexcept {
    return DeviceProperties(*state_);
}

MemoryInfo Device::memory_info() const {
    const auto context = detail::context_for(*state_);
    const driver::Current current(context->handle);
    MemoryInfo info;
    call(table().cuMemGetInfo, &info.free_bytes, &info.total_bytes);
    return info;
}

std::size_t Device::total_memory() const {
    std::size_t bytes = 0;
    call(table().cuDeviceTotalMem, &bytes, state_->handle);
    return bytes;
}

DeviceResources Device::resources() const {
    return {*this, nullptr};
}

system::Device Device::to_system_device() const {
    return system::Device::from_uuid(uuid());
}

bool Device::can_access_peer(const Device& peer) const {
    if (peer == *this) {
        return true;
    }
    int is_possible = 0;
    call(table().cuDeviceCanAccessPeer, &is_possible, state_->handle, peer.state_->handle);
    return is_possible != 0;
}

void Device::set_current() const {
    call(table().cuCtxSetCurrent, detail::primary_context(*state_)->handle.get());
}

std::optional<Context> Device::set_current(const Context& context) const {
    const detail::ContextState& next = detail::open(context);
    if (next.device != state_) {
        throw std::invalid_argument("context belongs to device " +
                                    std::to_string(next.device->ordinal) +
                                    ", expected one of device " + std::to_string(state_->ordinal) +
                                    "; call set_current() on the device it belongs to");
    }
    std::optional<Context> previous = Context::current();
    call(table().cuCtxSetCurrent, next.handle.get());
    return previous;
}

Context Device::primary_context() const {
    return detail::Access::make<Context>(detail::primary_context(*state_));
}

std::size_t Device::limit(Limit which) const {
    return detail::Access::make<Context>(detail::context_for(*state_)).limit(which);
}

void Device::set_limit(Limit which, std::size_t value) const {
    detail::Access::make<Context>(detail::context_for(*state_)).set_limit(which, value);
}

void Device::sync() const {
    const auto context = detail::context_for(*state_);
    const driver::Current current(context->handle);
    call(table().cuCtxSynchronize);
    detail::release_deferred();
}

std::string to_string(const Device& device) {
    return "<Device " + std::to_string(device.ordinal()) + ">";
}

std::string to_string(ComputeCapability capability) {
    return std::to_string(capability.major) + "." + std::to_string(capability.minor);
}

int DeviceProperties::get(int attribute) const {
    return detail::attribute(*device_, attribute);
}

int DeviceProperties::get(std::string_view name) const {
    return detail::attribute(*device_, attribute_number(name));
}

int DeviceProperties::get(std::string_view name, int fallback) const {
    return detail::find_attribute(*device_, attribute_number(name)).value_or(fallback);
}

bool DeviceProperties::is_supported(std::string_view name) const {
    return detail::find_attribute(*device_, attribute_number(name)).has_value();
}

std::vector<std::string_view> DeviceProperties::names() {
    std::vector<std::string_view> names;
    names.reserve(ATTRIBUTES.size());
    for (const AttributeName& attribute : ATTRIBUTES) {
        names.push_back(attribute.name);
    }
    return names;
}

} // namespace cuprum

std::size_t std::hash<cuprum::Device>::operator()(const cuprum::Device& device) const noexcept {
    return std::hash<int>()(device.ordinal());
}

namespace cuprum {

Host::Host(int numa_id) : numa_id_(numa_id) {
    if (numa_id < 0) {
        throw std::invalid_argument("numa_id must be a non-negative int, got " +
                                    std::to_string(numa_id));
    }
}

Host Host::numa_current() noexcept {
    Host host;
    host.is_numa_current_ = true;
    return host;
}

} // namespace cuprum
