// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// Marks what the shared library offers; everything else is hidden.
#if defined(_WIN32)
#define CUPRUM_API
#else
#define CUPRUM_API __attribute__((visibility("default")))
#endif
