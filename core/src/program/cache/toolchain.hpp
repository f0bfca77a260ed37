// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/compiler.hpp>

#include <string>

namespace cuprum::detail {

/// Returns a text that identifies the very build of the compiler for a language: its name, its
/// version and the build id of its file, or the file's size and time. A patch update changes it.
///
/// The files are read once per process.
[[nodiscard]] std::string toolchain_of(SourceType language);

} // namespace cuprum::detail
