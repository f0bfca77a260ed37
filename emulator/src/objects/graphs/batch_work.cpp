// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/work.hpp"
#include "objects/memory/memory_gate.hpp"
#include "objects/process/waits.hpp"
#include "objects/streams/memory_words.hpp"

#include <algorithm>
#include <cstddef>

namespace cuprum::emulator {

namespace {

/// Writes words of memory and waits for others, in order.
class BatchWork final : public Work {
public:
    explicit BatchWork(const BatchParameters& parameters) : items_(parameters.items) {
        if (std::ranges::any_of(items_, is_wait)) {
            Waits::instance().start_thread();
        }
    }

    bool start(Schedule& schedule, std::uint32_t step) override {
        next_ = 0;
        if (go_on()) {
            return true;
        }
        Waits::instance().add(
            [this, &schedule, step, errors = schedule.launch().shared_errors()] {
                bool is_over = true; // also if it fails
                if (errors->get() == CUDA_SUCCESS) {
                    schedule.attempt(step, [&] { is_over = go_on(); });
                }
                return is_over;
            },
            [&schedule, step] { schedule.complete(step); });
        return false;
    }

private:
    /// Performs operations up to one that has to wait. Returns whether all are done.
    bool go_on() {
        const auto pass = MemoryGate::instance().pass();
        while (next_ < items_.size() && (!is_wait(items_[next_]) || is_reached(items_[next_]))) {
            perform(items_[next_++]);
        }
        return next_ == items_.size();
    }

    std::vector<CUstreamBatchMemOpParams> items_;
    std::size_t next_ = 0;
};

} // namespace

std::unique_ptr<Work> make_batch_work(const BatchParameters& parameters) {
    return std::make_unique<BatchWork>(parameters);
}

} // namespace cuprum::emulator
