// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/work.hpp"
#include "objects/process/host_threads.hpp"
#include "objects/streams/memory_words.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace cuprum::emulator {

namespace {

/// Writes words of memory and waits for others, in order.
class BatchWork final : public Work {
public:
    explicit BatchWork(const BatchParameters& parameters)
        : items_(parameters.items), waits_(std::ranges::any_of(items_, is_wait)) {}

    bool start(Schedule& schedule, std::uint32_t step) override {
        if (!waits_) {
            std::ranges::for_each(items_, [](const auto& item) { perform(item); });
            return true;
        }
        HostThreads::instance().run([this, &schedule, step] {
            for (const CUstreamBatchMemOpParams& item : items_) {
                if (is_wait(item)) {
                    wait(item, schedule.launch().error_state());
                } else {
                    perform(item);
                }
            }
            schedule.complete(step);
        });
        return false;
    }

private:
    static void wait(const CUstreamBatchMemOpParams& item, const ErrorState& errors) {
        constexpr auto longest_nap = std::chrono::microseconds(200);
        auto nap = std::chrono::microseconds(1);
        while (!is_reached(item) && errors.get() == CUDA_SUCCESS) {
            std::this_thread::sleep_for(nap);
            nap = std::min(nap * 2, longest_nap);
        }
    }

    std::vector<CUstreamBatchMemOpParams> items_;
    bool waits_;
};

} // namespace

std::unique_ptr<Work> make_batch_work(const BatchParameters& parameters) {
    return std::make_unique<BatchWork>(parameters);
}

} // namespace cuprum::emulator
