// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One function per group of classes; module.cpp calls them in order. Each is defined in the source
// that has its name.

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

void bind_error(nb::module_& module);
void bind_device(nb::module_& module);
void bind_device_properties(nb::module_& module);
void bind_context(nb::module_& module);
void bind_device_resources(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_event(nb::module_& module);
void bind_buffer(nb::module_& module);
void bind_memory_resource(nb::module_& module);
void bind_linker(nb::module_& module);
void bind_memory_pool(nb::module_& module);
void bind_host_memory(nb::module_& module);
void bind_graph_memory_resource(nb::module_& module);
void bind_virtual_memory_resource(nb::module_& module);
void bind_ipc(nb::module_& module);
void bind_managed_buffer(nb::module_& module);
void bind_copy(nb::module_& module);
void bind_program(nb::module_& module);
void bind_program_cache(nb::module_& module);
void bind_object_code(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_launch(nb::module_& module);
void bind_graph_node(nb::module_& module);
void bind_graph_definition(nb::module_& module);
void bind_graph(nb::module_& module);
void bind_graph_builder(nb::module_& module);
void bind_launch_config(nb::module_& module);
void bind_strided_layout(nb::module_& module);
void bind_strided_memory_view(nb::module_& module);
void bind_tensor_map(nb::module_& module);
void bind_opaque_array(nb::module_& module);
void bind_mipmapped_array(nb::module_& module);
void bind_resource_descriptor(nb::module_& module);
void bind_texture_object(nb::module_& module);
void bind_graphics_resource(nb::module_& module);
void bind_external_objects(nb::module_& module);
void bind_system(nb::module_& module);
void bind_trace(nb::module_& module);

void bind_fast_paths(nb::module_& module);

} // namespace cuprum::python
