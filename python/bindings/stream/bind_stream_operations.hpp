// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "stream/stream_objects.hpp"
#include "support/class.hpp"

namespace cuprum::python {

/// Adds host functions, values in memory and attributes to Stream.
void add_stream_operations(Class<PyStream>& type);

/// Adds how subclasses of Stream, and programs for cuda.core, make one.
void add_stream_making(Class<PyStream>& type);

/// Adds what shares an event with other processes to Event.
void add_event_sharing(Class<PyEvent>& type);

} // namespace cuprum::python
