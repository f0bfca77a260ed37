// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit/tiers.hpp"

#include "bytecode/forms.hpp"
#include "bytecode/readable_name.hpp"
#include "decode/decode.hpp"
#include "jit/object_cache.hpp"
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

/// How long the blocks of a kernel work before its code is looked up on disk, and before it is
/// compiled: the longer, the longer compiling takes.
constexpr std::chrono::nanoseconds WORK_BEFORE_LOOKING = std::chrono::microseconds(200);
constexpr std::chrono::nanoseconds WORK_BEFORE_COMPILING = std::chrono::milliseconds(2);
constexpr std::chrono::nanoseconds WORK_PER_INSTRUCTION = std::chrono::microseconds(100);

std::atomic<Mode> mode{Mode::Off};
std::atomic<Noting> note{nullptr};

void say(const std::string& text, bool is_detail = false) {
    if (const Noting noting = note.load()) {
        noting(text, is_detail);
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
    static const std::string* const name = [] { // never destroyed: a thread may still compile
        const std::string_view full = handler_level();
        const auto dash = full.rfind('v');
        return new std::string(dash == std::string_view::npos
                                   ? std::string("isa_generic")
                                   : "isa_" + std::string(full.substr(dash)));
    }();
    return *name;
}

/// Returns how many lanes of 32 bits fit twice into a vector of this machine.
std::uint32_t preferred_lanes() {
    const std::string& level = level_name();
    return level == "isa_v4" ? 32 : level == "isa_v3" ? 16 : 8;
}

/// The shapes: each bit of the number, and lanes of 8, 16 and 32.
Shape shape_of(std::size_t number) {
    Shape shape;
    shape.lanes = 8u << number / 8;
    shape.has_whole_rows = (number & 1) != 0;
    shape.has_one_row = (number & 2) != 0;
    shape.has_small_grid = (number & 4) != 0;
    return shape;
}

std::size_t number_of(const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                      bool is_whole_warp) {
    const bool has_one_row = block[1] == 1 && block[2] == 1;
    std::uint32_t lanes = is_whole_warp ? WARP_SIZE : preferred_lanes();
    while (!is_whole_warp && !has_one_row && lanes > 8 && block[0] % lanes != 0) {
        lanes /= 2;
    }
    const bool has_small_grid = std::uint64_t{std::ranges::max(grid)} * std::ranges::max(block) <=
                                (std::uint64_t{1} << 31) - MAX_BLOCK_SIZE;
    const std::size_t size = lanes == 8 ? 0 : lanes == 16 ? 1 : 2;
    return size * 8 + (block[0] % lanes == 0 ? 1 : 0) + (has_one_row ? 2 : 0) +
           (has_small_grid ? 4 : 0);
}

} // namespace

namespace {

/// Lets the interpreter run all kernels from now on, and says why, once.
void give_up(const std::string& why) {
    if (mode.exchange(Mode::Off) != Mode::Off) {
        say("kernels are interpreted: " + why);
    }
}

/// Returns where compiled kernels are kept; null if they are not.
ObjectCache* object_cache(const Plugin& plugin) {
    static ObjectCache* const cache = [&]() -> ObjectCache* { // never destroyed
        const std::string folder = object_cache_folder();
        if (folder.empty() || plugin_build().empty()) {
            return nullptr;
        }
        auto opened = std::make_unique<ObjectCache>(folder, plugin.digest);
        if (!opened->problem().empty()) {
            say("compiled kernels are not kept: " + opened->problem());
            return nullptr;
        }
        return opened.release();
    }();
    return cache;
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
    void add(std::shared_ptr<const bytecode::Kernel> kernel, CodeCache& cache, std::size_t shape,
             bool may_compile) noexcept {
        try {
            const std::lock_guard lock(mutex_);
            if (is_stopping_) {
                return;
            }
            queue_.push_back({std::move(kernel), &cache, shape, may_compile});
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
        std::unique_lock lock(mutex_);
        is_stopping_ = true;
        queue_.clear();
        news_.notify_all();
        for (;;) {
            // Compiling may take seconds: leave the thread in the compiler.
            auto inside = CompilerUse::Inside;
            if (use_.compare_exchange_strong(inside, CompilerUse::Abandoned)) {
                thread_.detach();
                return;
            }
            if (news_.wait_for(lock, std::chrono::milliseconds(1), [&] { return has_ended_; })) {
                lock.unlock();
                thread_.join();
                return;
            }
        }
    }

private:
    struct Job {
        std::shared_ptr<const bytecode::Kernel> kernel;
        CodeCache* cache; // of the kernel
        std::size_t shape;
        bool may_compile;
    };

    void work() {
        for (;;) {
            Job job;
            {
                std::unique_lock lock(mutex_);
                news_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
                if (is_stopping_) {
                    has_ended_ = true;
                    news_.notify_all();
                    return;
                }
                // Small kernels do not wait for large ones, and what is on disk is there at once.
                const auto next = std::ranges::min_element(queue_, {}, [](const Job& each) {
                    return each.may_compile ? each.kernel->code.size() : 0;
                });
                job = std::move(*next);
                queue_.erase(next);
            }
            job.cache->make(job.shape, job.may_compile, &use_);
        }
    }

    std::mutex mutex_;
    std::condition_variable news_;
    std::deque<Job> queue_;
    std::thread thread_;
    std::atomic<pid_t> owner_{0}; // the process that has the thread
    std::atomic<CompilerUse> use_{CompilerUse::Outside};
    bool is_stopping_ = false;
    bool has_ended_ = false; // the thread
};

void configure(Mode wanted, Noting noting) noexcept {
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

std::size_t CodeCache::shape_for(const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3]) {
    if (!is_whole_warp_known_.load(std::memory_order_acquire)) {
        is_whole_warp_ = looks_at_lanes(kernel_);
        is_whole_warp_known_.store(true, std::memory_order_release);
    }
    return number_of(grid, block, is_whole_warp_);
}

const Compiled* CodeCache::find(std::size_t shape) {
    const Mode now = mode.load(std::memory_order_relaxed);
    if (now == Mode::Off) {
        return nullptr;
    }
    Place& place = places_[shape];
    if (now == Mode::Always && !place.is_done.load(std::memory_order_acquire)) {
        make(shape, true, nullptr);
    }
    return place.code.load(std::memory_order_acquire);
}

void CodeCache::note_work(std::size_t shape, std::chrono::nanoseconds time,
                          const std::shared_ptr<const bytecode::Kernel>& kernel) {
    if (mode.load(std::memory_order_relaxed) != Mode::Auto) {
        return;
    }
    Place& place = places_[shape];
    const std::int64_t so_far = place.worked_ns.fetch_add(time.count()) + time.count();
    const std::chrono::nanoseconds worked(so_far);
    const auto count = static_cast<std::int64_t>(kernel_.code.size());
    if (worked > WORK_BEFORE_LOOKING && !place.is_looked_up.exchange(true)) {
        Background::instance().add(kernel, *this, shape, false);
    }
    if (worked > std::max(WORK_BEFORE_COMPILING, count * WORK_PER_INSTRUCTION) &&
        !place.is_queued.exchange(true)) {
        Background::instance().add(kernel, *this, shape, true);
    }
}

void CodeCache::make(std::size_t shape, bool may_compile, std::atomic<CompilerUse>* use) {
    const std::lock_guard lock(mutex_);
    Place& place = places_[shape];
    if (place.is_done.load()) {
        return;
    }
    const Plugin* const plugin = jit::plugin();
    if (plugin == nullptr) {
        give_up(plugin_problem());
        place.is_done.store(true, std::memory_order_release);
        return;
    }
    const Request request{.kernel = &kernel_,
                          .shape = shape_of(shape),
                          .level = level_name().c_str(),
                          .is_thorough = false,
                          .use = use};
    ObjectCache* const cache = object_cache(*plugin);
    const std::string key = cache == nullptr ? "" : key_of(request, plugin_build());
    std::unique_ptr<Compiled> compiled;
    std::string why;
    if (cache != nullptr) {
        if (std::optional<Object> object = cache->load(key, why)) {
            compiled = make_compiled(kernel_, std::move(*object), *plugin, why);
        }
        if (!why.empty()) {
            say(why);
        }
        if (compiled != nullptr) {
            say("kernel " + bytecode::readable_name(kernel_.name) + " was compiled before", true);
        }
    }
    if (compiled == nullptr && may_compile) {
        compiled = compile(request, *plugin, cache, key);
    }
    if (compiled != nullptr) {
        place.code.store(compiled.release(), std::memory_order_release);
        place.is_done.store(true, std::memory_order_release);
    } else if (may_compile) {
        place.is_done.store(true, std::memory_order_release);
    }
}

std::unique_ptr<Compiled> CodeCache::compile(const Request& request, const Plugin& plugin,
                                             ObjectCache* cache, const std::string& key) const {
    const std::string name = "kernel " + bytecode::readable_name(kernel_.name);
    const auto begin = std::chrono::steady_clock::now();
    Object object;
    std::string why = plugin.compile(request, object);
    if (!why.empty()) {
        say(name + " stays interpreted: " + why);
        return nullptr;
    }
    const auto time = std::chrono::steady_clock::now() - begin;
    say(name + " (" + std::to_string(kernel_.code.size()) + " instructions) was compiled in " +
            std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) +
            " ms",
        true);
    if (cache != nullptr) {
        if (const std::string problem = cache->store(key, object); !problem.empty()) {
            say("a compiled kernel is not kept: " + problem);
        }
    }
    auto compiled = make_compiled(kernel_, std::move(object), plugin, why);
    if (compiled == nullptr) {
        give_up(why);
    }
    return compiled;
}

} // namespace cuprum::emulator::jit
