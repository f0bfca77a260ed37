// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "program/program_options.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/fast_paths.hpp"
#include "support/leaving.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/libraries.hpp>
#include <cuprum/version.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

NB_MODULE(_cuprum, module) {
    namespace nb = nanobind;
    using namespace cuprum::python;

    module.doc() = "The compiled part of cuprum. Import cuprum instead.";
    module.attr("VERSION") = cuprum::version();
    // They are separate wheels, and somebody may install only one of them anew.
    if (std::string_view(cuprum::version()) != CUPRUM_VERSION) {
        throw nb::import_error("cuprum " CUPRUM_VERSION " needs libcuprum in the same version, but "
                               "another is installed; run pip install libcuprum==" CUPRUM_VERSION);
    }

    // Some objects live as long as the process: devices, default streams, exception classes.
    nb::set_leak_warnings(false);

    bind_error(module);
    compatibility::bind(module);
    bind_device_resources(module);
    bind_context(module);
    bind_stream(module); // checks how objects lie in memory, before the first one is made
    bind_event(module);
    bind_memory_resource(module);
    bind_memory_pool(module);
    bind_host_memory(module);
    bind_graph_memory_resource(module);
    bind_virtual_memory_resource(module);
    bind_ipc(module);
    bind_buffer(module);
    bind_managed_buffer(module);
    bind_copy(module);
    bind_opaque_array(module);
    bind_mipmapped_array(module);
    bind_resource_descriptor(module);
    bind_texture_object(module);
    bind_device(module);
    bind_checkpoint(module);
    bind_object_code(module);
    bind_kernel(module);
    bind_program(module);
    bind_linker(module);
    bind_program_cache(module);
    bind_launch_config(module);
    bind_launch(module);
    bind_graph_node(module);
    bind_graph_definition(module);
    bind_graph(module);
    bind_graph_builder(module);
    bind_strided_layout(module);
    bind_strided_memory_view(module);
    bind_tensor_map(module);
    bind_graphics_resource(module);
    bind_external_objects(module);
    bind_system(module);
    bind_trace(module);

    function<&cuprum::driver_version>(module, "driver_version", RELEASES_GIL);
    function<&cuprum::driver_description>(module, "driver_description", RELEASES_GIL);

    Class<cuprum::LibraryInfo>(module, "LibraryInfo")
        .property("name", &cuprum::LibraryInfo::name)
        .property("path", &cuprum::LibraryInfo::path)
        .property("version", &cuprum::LibraryInfo::version)
        .property("problem", &cuprum::LibraryInfo::problem);
    function(module, "compiler_libraries", [] {
        note_search_paths();
        const nb::gil_scoped_release release;
        return cuprum::compiler_libraries();
    });

    bind_fast_paths(module);
    watch_for_forks();
    // From here on destructors leave the driver alone: it may be gone before the last object is.
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        close_python();
        cuprum::detail::mark_leaving();
    }));
}
