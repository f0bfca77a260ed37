// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// NVML's opaque handles, declared as nvml.h does. A handle from here becomes NVML's own type as
// `nvmlDevice_t{device.handle()}`.

#pragma once

// NOLINTBEGIN(readability-identifier-naming): the names are NVML's
struct nvmlDevice_st;
struct nvmlEventSet_st;
struct nvmlSystemEventSet_st;
// NOLINTEND(readability-identifier-naming)
