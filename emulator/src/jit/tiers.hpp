// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// When a kernel is compiled, and where its compiled code is kept.
//
// A kernel starts interpreted. Once its launches have worked for a while, a background thread
// compiles it for the shape of their blocks. Blocks use the code from their next start on, and
// warps that run already from the next entry on.

#pragma once

#include "jit/compiled.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace cuprum::emulator::jit {

class ObjectCache;

enum class Mode : std::uint8_t {
    Off,
    Auto,   // in the background, once a kernel has worked for a while
    Always, // at the first launch, before the first block starts
};

/// Hears of kernels that are not compiled, and, as a detail, of those that are.
using Noting = void (*)(const std::string& text, bool is_detail);

/// Sets what the kernels of this process do from now on, and who hears of it.
void configure(Mode mode, Noting note) noexcept;

/// Ends the background thread. Kernels that it has not compiled stay interpreted.
void shutdown() noexcept;

/// Returns why no kernel is compiled here; empty if kernels are.
[[nodiscard]] std::string problem();

/// The compiled code of one kernel, for blocks of all shapes.
class CodeCache {
public:
    explicit CodeCache(const bytecode::Kernel& kernel) : kernel_(kernel) {}

    CodeCache(const CodeCache&) = delete;
    CodeCache& operator=(const CodeCache&) = delete;
    ~CodeCache();

    /// Returns the number of the shape of code that the blocks of such a launch run.
    [[nodiscard]] std::size_t shape_for(const std::uint32_t (&grid)[3],
                                        const std::uint32_t (&block)[3]);

    /// Returns the code of a shape, or null if there is none yet.
    [[nodiscard]] const Compiled* find(std::size_t shape);

    /// Notes that blocks of this shape have worked for so long. `kernel` keeps the kernel alive.
    void note_work(std::size_t shape, std::chrono::nanoseconds time,
                   const std::shared_ptr<const bytecode::Kernel>& kernel);

private:
    friend class Background;

    /// One for each Shape.
    struct Place {
        std::atomic<const Compiled*> code{nullptr};
        std::atomic<std::int64_t> worked_ns{0};
        std::atomic<bool> is_looked_up{false}; // on disk, soon
        std::atomic<bool> is_queued{false};    // to be compiled
        std::atomic<bool> is_done{false};      // there is code, or there will never be
    };

    static constexpr std::size_t SHAPES = 24;

    /// Takes the code of a shape from disk, or compiles it if that is wanted. `use` is
    /// Request::use.
    void make(std::size_t shape, bool may_compile, std::atomic<CompilerUse>* use);
    [[nodiscard]] std::unique_ptr<Compiled> compile(const Request& request, const Plugin& plugin,
                                                    ObjectCache* cache,
                                                    const std::string& key) const;

    const bytecode::Kernel& kernel_;
    std::array<Place, SHAPES> places_;
    std::mutex mutex_; // one compilation at a time
    std::atomic<bool> is_whole_warp_known_{false};
    std::atomic<bool> is_whole_warp_{false}; // lanes look at others: a gang is a warp
};

} // namespace cuprum::emulator::jit
