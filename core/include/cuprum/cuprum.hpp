// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

/// Everything Cuprum offers.

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/checkpoint.hpp>
#include <cuprum/compiler.hpp>
#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/copy.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>
#include <cuprum/fault_injection.hpp>
#include <cuprum/graph/graph.hpp>
#include <cuprum/graph/graph_appender.hpp>
#include <cuprum/graph/graph_builder.hpp>
#include <cuprum/graph/graph_condition.hpp>
#include <cuprum/graph/graph_debug.hpp>
#include <cuprum/graph/graph_definition.hpp>
#include <cuprum/graph/graph_node.hpp>
#include <cuprum/graph/node_memory.hpp>
#include <cuprum/graph_memory_resource.hpp>
#include <cuprum/host.hpp>
#include <cuprum/host_memory.hpp>
#include <cuprum/ipc.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/libraries.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/location.hpp>
#include <cuprum/managed_buffer.hpp>
#include <cuprum/memory_pool.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/object_code.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>
#include <cuprum/region.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/stream_attributes.hpp>
#include <cuprum/strided_layout.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <cuprum/trace.hpp>
#include <cuprum/typed_buffer.hpp>
#include <cuprum/typed_kernel.hpp>
#include <cuprum/typed_view.hpp>
#include <cuprum/version.hpp>
#include <cuprum/virtual_memory_resource.hpp>
#include <cuprum/warning.hpp>
