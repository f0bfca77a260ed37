// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The binary interface of NVML (libnvidia-ml.so.1): the names, values and layouts that a client and
// a library must agree on.
//
// `core/` includes it as a client, `emulator/` as the library. Neither needs NVIDIA's nvml.h, and
// the namespace keeps these names apart from it. Where nvml.h is installed, the test `nvml_abi`
// compares every name below with it.
//
// Left out, because nobody here uses them: vGPU, confidential computing, units (S-class chassis),
// GPM, power smoothing, workload power profiles, accounting, and creating MIG instances.

#pragma once

#include "constants.hpp"
#include "enums.hpp"
#include "field_ids.hpp"
#include "functions.hpp"
#include "structs.hpp"
