// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/work.hpp"
#include "objects/process/waits.hpp"

namespace cuprum::emulator {

namespace {

class SemaphoreSignalWork final : public Work {
public:
    explicit SemaphoreSignalWork(SemaphoreSignals batch) : batch_(std::move(batch)) {}

    bool start(Schedule& /*schedule*/, std::uint32_t /*step*/) override {
        perform(batch_);
        return true;
    }

private:
    SemaphoreSignals batch_;
};

class SemaphoreWaitWork final : public Work {
public:
    explicit SemaphoreWaitWork(SemaphoreWaits batch) : batch_(std::move(batch)) {
        Waits::instance().start_thread();
    }

    bool start(Schedule& schedule, std::uint32_t step) override {
        next_ = 0;
        if (try_waits(batch_, next_)) {
            return true;
        }
        Waits::instance().add(
            [this, errors = schedule.launch().shared_errors()] {
                return errors->get() != CUDA_SUCCESS || try_waits(batch_, next_);
            },
            [&schedule, step] { schedule.complete(step); });
        return false;
    }

private:
    SemaphoreWaits batch_;
    std::size_t next_ = 0;
};

} // namespace

std::unique_ptr<Work> make_semaphore_work(const SemaphoreSignals& parameters) {
    return std::make_unique<SemaphoreSignalWork>(parameters);
}

std::unique_ptr<Work> make_semaphore_work(const SemaphoreWaits& parameters) {
    return std::make_unique<SemaphoreWaitWork>(parameters);
}

} // namespace cuprum::emulator
