// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "program/code/packing.hpp"

#include <cuprum/object_code.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// A kernel's parameters. Drivers before 12.4 do not report them; arguments are then not checked.
using LaunchPlan = std::optional<std::vector<ParameterInfo>>;

struct KernelState;

/// Code, and the driver's library once it is loaded. Object codes and kernels share it; the last
/// one unloads it.
struct LibraryState : std::enable_shared_from_this<LibraryState> {

    /// Takes code; a path means that the file is read on first use.
    LibraryState(CodeType type, PaddedCode code, std::string path, std::string name,
                 SymbolMapping symbols, const JITOptions& jit = {});
    ~LibraryState();
    LibraryState(const LibraryState&) = delete;
    LibraryState& operator=(const LibraryState&) = delete;

    const CodeType type;
    const std::string path; // empty for code in memory
    const std::string name;
    const SymbolMapping symbols;
    const JITOptions jit;
    std::shared_ptr<const void> source_file; // for debuggers; set before the state is shared

    /// Returns the code, read from the file on first use. A NUL follows it.
    [[nodiscard]] std::span<const std::byte> code();

    /// Returns the driver's library, loaded on first use. The next caller retries after a failure.
    [[nodiscard]] CUlibrary handle();

    /// Leaves the driver's library loaded for good: others unload it, or use it until the end.
    void leave_loaded() noexcept { is_left_loaded_.store(true, std::memory_order_relaxed); }

    /// Returns the plan of a kernel of this library, whose name in the code is `symbol`, read on
    /// first use. It lives as long as this object.
    [[nodiscard]] const LaunchPlan& plan_of(CUkernel kernel, std::string_view symbol);

    /// Returns a kernel that was kept under a name, null if there is none. It lives as long as this
    /// object.
    [[nodiscard]] KernelState* find_kernel(std::string_view name);
    /// Keeps a kernel under its name and returns it, or the one that is there already.
    KernelState& keep_kernel(std::unique_ptr<KernelState> kernel);

    /// Returns the name or path of the code, for messages.
    [[nodiscard]] std::string description() const;

private:
    static constexpr std::size_t LOG_BYTES = 4096;

    [[nodiscard]] std::span<const std::byte> locked_code();
    [[nodiscard]] std::string_view locked_ptx();
    [[nodiscard]] CUlibrary load();
    [[noreturn]] void raise_load_failure(CUresult status, const char* call);

    std::mutex mutex_; // guards reading, loading and the plans
    std::map<CUkernel, LaunchPlan> plans_;
    // NOTE: not mutex_: finding a kernel must not wait while code is loaded.
    std::mutex kernels_mutex_;
    std::map<std::string, std::unique_ptr<KernelState>, std::less<>> kernels_;
    bool is_read_;
    PaddedCode code_;
    std::atomic<CUlibrary> handle_{nullptr};
    std::atomic<bool> is_left_loaded_{false};
    // The driver may compile PTX later, when a device first needs it, and writes to this log then.
    std::array<char, LOG_BYTES> error_log_{};
};

/// Returns the live state of a driver's library, null if Cuprum did not load it.
[[nodiscard]] std::shared_ptr<LibraryState> find_library(CUlibrary handle);

} // namespace cuprum::detail
