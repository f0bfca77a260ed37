// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <nanobind/nanobind.h>

#include <memory>

namespace cuprum::python {

namespace nb = nanobind;

/// The cache of a `cache` argument, for the length of a call.
///
/// Caches of our own are used as they are; other ProgramCacheResource objects are called, with the
/// GIL taken for each call.
class CacheArgument {
public:
    /// @throws TypeError if it is neither None nor a ProgramCacheResource.
    explicit CacheArgument(nb::handle cache);

    [[nodiscard]] ProgramCache* get() const noexcept { return cache_; }

private:
    ProgramCache* cache_ = nullptr;
    std::unique_ptr<ProgramCache> adapter_;
};

/// Checks, for programs that expect it, that there is a digest for options that name files.
/// @throws ValueError that names the option.
void check_as_reference(const ProgramOptions& options, SourceType language, bool has_extra_digest);

} // namespace cuprum::python
