// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Defines a memory resource that keeps freed memory for the next allocation of the same size.

#include <cuprum/cuprum.hpp>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace {

/// A memory resource that keeps freed memory by size. The memory comes from a pool and returns to
/// it when the cache is destroyed.
///
/// Reuse is ordered on one stream only. To use several streams, add events between them.
class Cache final : public cuprum::MemoryResource {
public:
    explicit Cache(std::shared_ptr<cuprum::MemoryResource> upstream)
        : upstream_(std::move(upstream)) {}

    CUdeviceptr allocate_bytes(std::size_t bytes, const cuprum::Stream& stream) override {
        const std::lock_guard lock(mutex_);
        std::vector<cuprum::Buffer>& kept = free_[bytes];
        const bool is_hit = !kept.empty();
        cuprum::Buffer inner = is_hit ? kept.back() : upstream_->allocate(bytes, stream);
        if (is_hit) {
            kept.pop_back();
            ++hits_;
        }
        const CUdeviceptr address = inner.handle();
        lent_.emplace(address, std::move(inner));
        return address;
    }

    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes,
                          const cuprum::Stream& stream) override {
        const std::lock_guard lock(mutex_);
        auto inner = lent_.extract(pointer);
        inner.mapped().set_deallocation_stream(stream);
        free_[bytes].push_back(std::move(inner.mapped()));
    }

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override { return upstream_->device_id(); }

    [[nodiscard]] int hits() const noexcept { return hits_; }

private:
    std::shared_ptr<cuprum::MemoryResource> upstream_;
    std::mutex mutex_; // any thread may free a buffer
    std::map<std::size_t, std::vector<cuprum::Buffer>> free_;
    std::map<CUdeviceptr, cuprum::Buffer> lent_;
    int hits_ = 0;
};

} // namespace

int main() {
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();
    const auto cache = std::make_shared<Cache>(device.memory_resource());
    std::set<CUdeviceptr> addresses;
    for (int i = 0; i < 5; ++i) {
        const cuprum::Buffer buffer = cache->allocate(4096, stream);
        buffer.fill(std::uint8_t{1}, stream);
        addresses.insert(buffer.handle());
    }
    stream.sync();
    std::printf("5 allocations, %d of them from the cache\n", cache->hits());
    return addresses.size() == 1 && cache->hits() == 4 ? 0 : 1;
}
