// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_state.hpp"

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/library.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/shared_library.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

constinit std::atomic<const DeviceList*> device_list{nullptr};

namespace {

constinit std::mutex making_list;

/// Keeps a state as long as the process lives and returns it as a pointer that counts nothing:
/// nearly every object holds its primary context, and counting would cost as much as some driver
/// calls.
std::shared_ptr<ContextState> share_for_good(std::unique_ptr<ContextState> state) {
    static constinit std::mutex keeping;
    static NeverDestroyed<std::vector<std::unique_ptr<ContextState>>> kept;
    const std::lock_guard lock(keeping);
    kept->push_back(std::move(state));
    return {std::shared_ptr<void>(), kept->back().get()};
}

DeviceList read_devices() {
    int count = 0;
    driver::call(driver::table().cuDeviceGetCount, &count);
    DeviceList list;
    list.reserve(static_cast<std::size_t>(count));
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        CUdevice handle = 0;
        driver::call(driver::table().cuDeviceGet, &handle, ordinal);
        list.push_back(std::make_unique<DeviceState>(handle, ordinal));
    }
    return list;
}

/// Returns whether an attribute's value can change between two reads.
bool can_change(int attribute) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: // a restore onto another device changes these
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        return true;
    default:
        return false;
    }
}

} // namespace

DeviceState::DeviceState(CUdevice device, int number) : handle(device), ordinal(number) {
    for (auto& slot : attributes) {
        slot.store(UNREAD, std::memory_order_relaxed);
    }
}

const DeviceList& list_devices() {
    driver::initialise();
    const QuietLock lock(making_list);
    const DeviceList* list = device_list.load(std::memory_order_relaxed);
    if (list == nullptr) {
        list = new DeviceList(read_devices());
        device_list.store(list, std::memory_order_release);
        driver::detail::process_flags.has_one_device.store(list->size() == 1,
                                                           std::memory_order_relaxed);
    }
    return *list;
}

DeviceState& device_state(CUdevice handle) {
    const DeviceList& list = devices();
    const auto place = std::find_if(list.begin(), list.end(),
                                    [&](const auto& device) { return device->handle == handle; });
    if (place == list.end()) {
        throw CUDAError(CUDA_ERROR_INVALID_DEVICE, "cuCtxGetDevice",
                        "the driver named device " + std::to_string(handle) +
                            ", which it did not list before");
    }
    return **place;
}

const std::shared_ptr<ContextState>& primary_context(DeviceState& device) {
    return device.primary.get([&] {
        auto state = std::make_unique<ContextState>();
        CUcontext handle = nullptr;
        driver::call(driver::table().cuDevicePrimaryCtxRetain, &handle, device.handle);
        state->handle = handle;
        ++device.retained;
        state->device = &device;
        state->is_primary = true;
        return share_for_good(std::move(state));
    });
}

std::shared_ptr<ContextState> context_for(DeviceState& device) {
    CUcontext current = nullptr;
    driver::call(driver::table().cuCtxGetCurrent, &current);
    if (current != nullptr) {
        const auto* primary = device.primary.peek();
        if (primary != nullptr && (*primary)->handle == current) {
            return *primary;
        }
        if (auto state = context_state(current); state->device == &device) {
            return state;
        }
    }
    return primary_context(device);
}

std::optional<int> find_attribute(DeviceState& device, int attribute) {
    const bool is_cached =
        attribute >= 0 && attribute < DeviceState::ATTRIBUTE_SLOTS && !can_change(attribute);
    if (is_cached) {
        const std::int64_t known =
            device.attributes[static_cast<std::size_t>(attribute)].load(std::memory_order_relaxed);
        if (known != DeviceState::UNREAD) {
            return static_cast<int>(known);
        }
    }
    int value = 0;
    const auto& query = driver::table().cuDeviceGetAttribute;
    // NOLINTNEXTLINE(*EnumCastOutOfRange): a driver may know attributes that our cuda.h does not.
    const auto name = static_cast<CUdevice_attribute>(attribute);
    const CUresult status = query(&value, name, device.handle);
    if (status == CUDA_ERROR_INVALID_VALUE) { // an answer: this driver has no such attribute
        return std::nullopt;
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, query.name);
    }
    if (is_cached) {
        device.attributes[static_cast<std::size_t>(attribute)].store(value,
                                                                     std::memory_order_relaxed);
    }
    return value;
}

int attribute(DeviceState& device, int attribute) {
    if (const std::optional<int> value = find_attribute(device, attribute)) {
        return *value;
    }
    throw CUDAError(CUDA_ERROR_INVALID_VALUE, driver::table().cuDeviceGetAttribute.name,
                    "this driver does not know device attribute number " +
                        std::to_string(attribute) +
                        "; ask is_supported() first, or get() with a fallback");
}

PriorityRange priority_range(DeviceState& device) {
    return device.priorities.get([&] {
        const driver::Current current(primary_context(device)->handle);
        PriorityRange range;
        driver::call(driver::table().cuCtxGetStreamPriorityRange, &range.lowest, &range.highest);
        return range;
    });
}

int checked_priority(DeviceState& device, const std::optional<int>& wanted, const char* name) {
    const PriorityRange range = priority_range(device);
    const int priority = wanted.value_or(range.lowest);
    if (priority > range.lowest || priority < range.highest) {
        throw std::invalid_argument(std::string(name) + " is " + std::to_string(priority) +
                                    ", expected " + std::to_string(range.highest) +
                                    " (runs first) to " + std::to_string(range.lowest) +
                                    " on device " + std::to_string(device.ordinal));
    }
    return priority;
}

void reset_devices() {
    const QuietLock lock(making_list);
    driver::detail::process_flags.has_one_device.store(false, std::memory_order_relaxed);
    const DeviceList* list = device_list.exchange(nullptr);
    if (list == nullptr) {
        return;
    }
    for (const auto& device : *list) {
        for (unsigned life = 0; life < device->retained; ++life) {
            release_or_defer("primary context", driver::table().cuDevicePrimaryCtxRelease,
                             device->handle);
        }
    }
    delete list;
}

} // namespace cuprum::detail

namespace cuprum::driver {

namespace {

/// Remembers that there is no driver. Searching for one takes longer than the rest of a lookup in a
/// program cache.
class FailedSearch {
public:
    /// Returns whether a search would fail again: no driver was loaded, and the settings are the
    /// same.
    [[nodiscard]] bool is_known() {
        const std::lock_guard lock(mutex_);
        return wish_.has_value() && !is_library_loaded() && *wish_ == current_wish();
    }

    void remember() {
        const std::lock_guard lock(mutex_);
        wish_ = current_wish();
    }

private:
    [[nodiscard]] static std::string current_wish() {
        using cuprum::detail::environment;
        return environment("CUPRUM_DRIVER") + '\n' + environment("CUPRUM_EMULATOR_LIBRARY");
    }

    std::mutex mutex_;
    std::optional<std::string> wish_;
};

} // namespace

bool is_device_emulated() {
    static cuprum::detail::NeverDestroyed<FailedSearch> failed; // objects may compile at exit
    if (failed->is_known()) {
        return false;
    }
    try {
        return is_emulated();
    } catch (const LibraryNotFoundError&) {
        failed->remember();
        return false; // compiling for another machine needs no driver
    } catch (const CUDAError&) {
        return false; // it needs no device either
    }
}

} // namespace cuprum::driver
