// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/tiers.hpp"

#include "bytecode/forms.hpp"
#include "bytecode/readable_name.hpp"
#include "decode/decode.hpp"
#include "jit/plugin_loader.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <string_view>
#include <thread>

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::WARP_SIZE;

namespace {

/// How long the blocks of a kernel work before it is compiled.
constexpr std::chrono::nanoseconds WORK_BEFORE_COMPILING = std::chrono::milliseconds(2);

std::atomic<Mode> mode{Mode::Off};
std::atomic<void (*)(const std::string&)> note{nullptr};

void say(const std::string& text) {
    if (const auto noting = note.load()) {
        noting(text);
    }
}

/// Returns whether lanes look at other lanes of their warp, so that a gang must be a whole warp.
bool looks_at_lanes(const bytecode::Kernel& kernel) {
    return std::ranges::any_of(kernel.code, [](const bytecode::Instruction& at) {
        const bool is_fence =
            at.form.family() == Family::Warp && at.form.as<WarpForm>().op == WarpOp::Fence;
        return (at.form.family() == Family::Warp && !is_fence) ||
               at.form.family() == Family::Matrix || at.form.is(FixedOp::Rendezvous) ||
               (at.form.family() == Family::Move &&
                at.form.as<MoveForm>().op == MoveOp::ActiveMask);
    });
}

const std::string& level_name() {
    static const std::string name = [] {
        const std::string_view full = handler_level();
        const auto dash = full.rfind('v');
        return dash == std::string_view::npos ? std::string("isa_generic")
                                              : "isa_" + std::string(full.substr(dash));
    }();
    return name;
}

/// Returns how many lanes of 32 bits fit twice into a vector of this machine.
std::uint32_t preferred_lanes() {
    const std::string& level = level_name();
    return level == "isa_v4" ? 32 : level == "isa_v3" ? 16 : 8;
}

/// The shapes: lanes of 8, 16 and 32; each with whole rows, one row, or any.
Shape shape_of(std::size_t number) {
    Shape shape;
    shape.lanes = 8u << number / 3;
    shape.has_whole_rows = number % 3 == 0;
    shape.has_one_row = number % 3 == 1;
    return shape;
}

std::size_t number_of(const std::uint32_t (&block)[3], bool is_whole_warp) {
    const bool has_one_row = block[1] == 1 && block[2] == 1;
    std::uint32_t lanes = is_whole_warp ? WARP_SIZE : preferred_lanes();
    while (!is_whole_warp && !has_one_row && lanes > 8 && block[0] % lanes != 0) {
        lanes /= 2;
    }
    const std::size_t size = lanes == 8 ? 0 : lanes == 16 ? 1 : 2;
    return size * 3 + (has_one_row ? 1 : block[0] % lanes == 0 ? 0 : 2);
}

} // namespace

/// The background thread and its queue.
class Background {
public:
    static Background& instance() {
        static Background* const background = new Background; // never destroyed
        return *background;
    }

    /// Queues a kernel. Without memory or a thread it stays interpreted.
    void add(std::shared_ptr<const bytecode::Kernel> kernel, CodeCache& cache,
             std::size_t shape) noexcept {
        try {
            const std::lock_guard lock(mutex_);
            if (is_stopping_) {
                return;
            }
            queue_.push_back({std::move(kernel), &cache, shape});
            if (!thread_.joinable()) {
                thread_ = std::thread([this] { work(); });
                owner_.store(::getpid());
            }
            news_.notify_one();
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch)
        }
    }

    void stop() noexcept {
        if (owner_.load() != ::getpid()) {
            return; // no thread was started, or not in this process: it has forked
        }
        {
            const std::lock_guard lock(mutex_);
            is_stopping_ = true;
            queue_.clear();
            news_.notify_one();
        }
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    struct Job {
        std::shared_ptr<const bytecode::Kernel> kernel;
        CodeCache* cache; // of the kernel
        std::size_t shape;
    };

    void work() {
        for (;;) {
            Job job;
            {
                std::unique_lock lock(mutex_);
                news_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
                if (is_stopping_) {
                    return;
                }
                job = std::move(queue_.front());
                queue_.pop_front();
            }
            job.cache->compile(job.shape);
        }
    }

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Job> queue_;
    std::thread thread_;
    std::atomic<pid_t> owner_{0}; // the process that has the thread
    bool is_stopping_ = false;
};

void configure(Mode wanted, void (*noting)(const std::string& text)) noexcept {
    note.store(noting);
    mode.store(wanted);
}

void shutdown() noexcept {
    Background::instance().stop();
}

std::string problem() {
    if (mode.load() == Mode::Off) {
        return "CUPRUM_EMULATOR_JIT is off";
    }
    return plugin_problem();
}

CodeCache::~CodeCache() {
    for (Place& place : places_) {
        delete place.code.load();
    }
}

std::size_t CodeCache::shape_for(const std::uint32_t (&block)[3]) {
    if (!is_whole_warp_known_.load(std::memory_order_acquire)) {
        is_whole_warp_ = looks_at_lanes(kernel_);
        is_whole_warp_known_.store(true, std::memory_order_release);
    }
    return number_of(block, is_whole_warp_);
}

const Compiled* CodeCache::find(std::size_t shape) {
    const Mode now = mode.load(std::memory_order_relaxed);
    if (now == Mode::Off) {
        return nullptr;
    }
    Place& place = places_[shape];
    if (now == Mode::Always && !place.is_decided.load(std::memory_order_acquire)) {
        compile(shape);
    }
    return place.code.load(std::memory_order_acquire);
}

void CodeCache::note_work(const std::uint32_t (&block)[3], std::chrono::nanoseconds time,
                          const std::shared_ptr<const bytecode::Kernel>& kernel) {
    if (mode.load(std::memory_order_relaxed) != Mode::Auto) {
        return;
    }
    const std::size_t shape = shape_for(block);
    Place& place = places_[shape];
    const std::int64_t so_far = place.worked_ns.fetch_add(time.count()) + time.count();
    if (so_far > WORK_BEFORE_COMPILING.count() && !place.is_decided.exchange(true)) {
        Background::instance().add(kernel, *this, shape);
    }
}

void CodeCache::compile(std::size_t shape) {
    const std::lock_guard lock(mutex_);
    Place& place = places_[shape];
    if (place.code.load() != nullptr) {
        return;
    }
    const Plugin* const plugin = jit::plugin();
    static std::once_flag once;
    std::call_once(once, [&] {
        if (plugin == nullptr) {
            say("kernels are interpreted: " + plugin_problem());
        }
    });
    if (plugin == nullptr) {
        mode.store(Mode::Off);
    } else {
        const std::string& level = level_name();
        Object object;
        std::string why = plugin->compile({.kernel = &kernel_,
                                           .shape = shape_of(shape),
                                           .level = level.c_str(),
                                           .is_thorough = false},
                                          object);
        std::unique_ptr<Compiled> compiled;
        if (why.empty()) {
            compiled = make_compiled(kernel_, std::move(object), *plugin, why);
        }
        if (compiled != nullptr) {
            place.code.store(compiled.release(), std::memory_order_release);
        } else {
            say("kernel " + bytecode::readable_name(kernel_.name) + " stays interpreted: " + why);
        }
    }
    place.is_decided.store(true, std::memory_order_release);
}

} // namespace cuprum::emulator::jit
