// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/context_state.hpp"
#include "driver/handle.hpp"
#include "launch/encoded_config.hpp"
#include "program/kernel_state.hpp"
#include "stream/stream_state.hpp"
#include "support/readable_name.hpp"

#include <cuprum/kernel.hpp>
#include <cuprum/stream.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

/// The function asked for shared memory by block size, and what it threw. The driver's callback has
/// no argument of its own, but is called on the thread that asks.
struct SharedMemoryQuestion {
    const std::function<std::size_t(int)>* function = nullptr;
    std::exception_ptr thrown;
};

thread_local SharedMemoryQuestion* question = nullptr;

/// Makes a question the one of this thread, for a scope. The function may ask another one.
class AskedQuestion {
public:
    explicit AskedQuestion(SharedMemoryQuestion& asked) noexcept
        : before_(std::exchange(question, &asked)) {}

    ~AskedQuestion() { question = before_; }

    AskedQuestion(const AskedQuestion&) = delete;
    AskedQuestion& operator=(const AskedQuestion&) = delete;

private:
    SharedMemoryQuestion* before_;
};

std::size_t CUDA_CB ask(int block_size) {
    if (question->thrown != nullptr) {
        return 0;
    }
    try {
        return (*question->function)(block_size);
    } catch (...) { // the driver must not be unwound
        question->thrown = std::current_exception();
        return 0;
    }
}

CUfunction function_of(const Kernel& kernel) {
    return reinterpret_cast<CUfunction>(kernel.handle());
}

unsigned flags(bool disable_caching_override) {
    return disable_caching_override ? CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE : CU_OCCUPANCY_DEFAULT;
}

void check_at_least(const char* what, int value, int least) {
    if (value < least) {
        throw std::invalid_argument(std::string(what) + " is " + std::to_string(value) +
                                    "; expected at least " + std::to_string(least));
    }
}

template <typename Entry>
int ask_about_clusters(const Entry& entry, const Kernel& kernel, const LaunchConfig& config,
                       const Stream& stream) {
    const CUfunction function = function_of(kernel);
    const detail::StreamState& queue = detail::open(stream);
    detail::EncodedConfig encoded(config);
    const driver::Current current(detail::context_of(queue));
    const CUlaunchConfig& driver_config = encoded.on(queue.handle);
    int answer = 0;
    call(entry, &answer, function, &driver_config);
    return answer;
}

} // namespace

int KernelOccupancy::max_active_blocks_per_multiprocessor(int block_size,
                                                          std::size_t dynamic_shared_bytes,
                                                          bool disable_caching_override) const {
    const CUfunction function = function_of(kernel_);
    check_at_least("block_size", block_size, 1);
    if (disable_caching_override) {
        const detail::AnyContext context;
        int blocks = 0;
        call(table().cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &blocks, function,
             block_size, dynamic_shared_bytes, flags(true));
        return blocks;
    }
    detail::OccupancyQuestion asked{.block_size = block_size, .bytes = dynamic_shared_bytes};
    asked.changes = detail::occupancy_changes(); // before the driver is asked
    const auto& get_device = table().cuCtxGetDevice;
    const CUresult status = get_device(&asked.device);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_INVALID_CONTEXT) {
        driver::raise(status, get_device.name);
    }
    const bool has_context = status == CUDA_SUCCESS;
    if (const int known = has_context ? last_.find(asked) : -1; known >= 0) {
        return known;
    }
    const detail::AnyContext context;
    int blocks = 0;
    call(table().cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function, block_size,
         dynamic_shared_bytes);
    if (has_context) {
        last_.keep(asked, blocks);
    }
    return blocks;
}

PotentialBlockSize KernelOccupancy::max_potential_block_size(std::size_t dynamic_shared_bytes,
                                                             int block_size_limit,
                                                             bool disable_caching_override) const {
    const CUfunction function = function_of(kernel_);
    check_at_least("block_size_limit", block_size_limit, 0);
    const detail::AnyContext context;
    PotentialBlockSize best;
    call(table().cuOccupancyMaxPotentialBlockSizeWithFlags, &best.min_grid_size,
         &best.max_block_size, function, static_cast<CUoccupancyB2DSize>(nullptr),
         dynamic_shared_bytes, block_size_limit, flags(disable_caching_override));
    return best;
}

PotentialBlockSize KernelOccupancy::max_potential_block_size(
    const std::function<std::size_t(int)>& dynamic_shared_bytes, int block_size_limit,
    bool disable_caching_override) const {
    const CUfunction function = function_of(kernel_);
    check_at_least("block_size_limit", block_size_limit, 0);
    if (!dynamic_shared_bytes) {
        throw std::invalid_argument("dynamic_shared_bytes is an empty function");
    }
    const detail::AnyContext context;
    SharedMemoryQuestion asked{&dynamic_shared_bytes, nullptr};
    PotentialBlockSize best;
    const auto& query = table().cuOccupancyMaxPotentialBlockSizeWithFlags;
    const CUresult status = [&] {
        const AskedQuestion scope(asked);
        return query(&best.min_grid_size, &best.max_block_size, function, ask, 0, block_size_limit,
                     flags(disable_caching_override));
    }();
    if (asked.thrown != nullptr) {
        std::rethrow_exception(asked.thrown);
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, query.name);
    }
    return best;
}

std::size_t
KernelOccupancy::available_dynamic_shared_memory_per_block(int blocks_per_multiprocessor,
                                                           int block_size) const {
    const CUfunction function = function_of(kernel_);
    check_at_least("blocks_per_multiprocessor", blocks_per_multiprocessor, 1);
    check_at_least("block_size", block_size, 1);
    const detail::AnyContext context;
    std::size_t bytes = 0;
    call(table().cuOccupancyAvailableDynamicSMemPerBlock, &bytes, function,
         blocks_per_multiprocessor, block_size);
    return bytes;
}

int KernelOccupancy::max_potential_cluster_size(const LaunchConfig& config,
                                                const Stream& stream) const {
    return ask_about_clusters(table().cuOccupancyMaxPotentialClusterSize, kernel_, config, stream);
}

int KernelOccupancy::max_active_clusters(const LaunchConfig& config, const Stream& stream) const {
    return ask_about_clusters(table().cuOccupancyMaxActiveClusters, kernel_, config, stream);
}

LaunchConfig LaunchConfig::from_size(std::size_t elements, unsigned block) {
    if (elements == 0 || block == 0) {
        throw std::invalid_argument(std::string(elements == 0 ? "elements" : "block") +
                                    " is 0; expected at least 1");
    }
    const std::size_t blocks = (elements - 1) / block + 1;
    // Every device takes so many in the first dimension.
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    if (blocks > most) {
        throw std::invalid_argument("elements is " + std::to_string(elements) + ", which is " +
                                    std::to_string(blocks) + " blocks of " + std::to_string(block) +
                                    " threads; a grid has at most " + std::to_string(most) +
                                    "; let each thread work on several elements");
    }
    return {.grid = static_cast<unsigned>(blocks), .block = block};
}

LaunchConfig LaunchConfig::from_occupancy(const Kernel& kernel, std::optional<std::size_t> elements,
                                          std::size_t shmem_size, int block_size_limit) {
    const PotentialBlockSize best =
        kernel.occupancy().max_potential_block_size(shmem_size, block_size_limit);
    if (best.max_block_size < 1) {
        throw std::invalid_argument("shmem_size is " + std::to_string(shmem_size) +
                                    " bytes, with which no block of kernel \"" +
                                    detail::readable_name(kernel.name()) + "\" fits on the device");
    }
    LaunchConfig config{.grid = static_cast<unsigned>(std::max(best.min_grid_size, 1)),
                        .block = static_cast<unsigned>(best.max_block_size)};
    if (elements.has_value()) {
        config = from_size(*elements, config.block.x);
    }
    config.shmem_size = shmem_size;
    return config;
}

} // namespace cuprum
