# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The compiled part of cuprum. Import cuprum instead."""

from cuprum._cuprum.arrays import (
    StridedLayout as StridedLayout,
)
from cuprum._cuprum.arrays import (
    StridedMemoryView as StridedMemoryView,
)
from cuprum._cuprum.arrays import (
    TensorMapDescriptor as TensorMapDescriptor,
)
from cuprum._cuprum.device import (
    Context as Context,
)
from cuprum._cuprum.device import (
    CurrentContext as CurrentContext,
)
from cuprum._cuprum.device import (
    Device as Device,
)
from cuprum._cuprum.device import (
    DeviceProperties as DeviceProperties,
)
from cuprum._cuprum.device import (
    DeviceResources as DeviceResources,
)
from cuprum._cuprum.device import (
    Process as Process,
)
from cuprum._cuprum.device import (
    SMResource as SMResource,
)
from cuprum._cuprum.device import (
    WorkqueueResource as WorkqueueResource,
)
from cuprum._cuprum.device import (
    forget_initialized_devices as forget_initialized_devices,
)
from cuprum._cuprum.device import (
    has_current_context as has_current_context,
)
from cuprum._cuprum.driver import (
    VERSION as VERSION,
)
from cuprum._cuprum.driver import (
    LibraryInfo as LibraryInfo,
)
from cuprum._cuprum.driver import (
    compiler_libraries as compiler_libraries,
)
from cuprum._cuprum.driver import (
    driver_description as driver_description,
)
from cuprum._cuprum.driver import (
    driver_version as driver_version,
)
from cuprum._cuprum.driver import (
    fast_paths as fast_paths,
)
from cuprum._cuprum.driver import (
    follow_reference as follow_reference,
)
from cuprum._cuprum.graph import (
    AllocNode as AllocNode,
)
from cuprum._cuprum.graph import (
    ChildGraphNode as ChildGraphNode,
)
from cuprum._cuprum.graph import (
    ConditionalNode as ConditionalNode,
)
from cuprum._cuprum.graph import (
    EmptyNode as EmptyNode,
)
from cuprum._cuprum.graph import (
    EventRecordNode as EventRecordNode,
)
from cuprum._cuprum.graph import (
    EventWaitNode as EventWaitNode,
)
from cuprum._cuprum.graph import (
    ExecutableChildGraphNode as ExecutableChildGraphNode,
)
from cuprum._cuprum.graph import (
    ExecutableEventRecordNode as ExecutableEventRecordNode,
)
from cuprum._cuprum.graph import (
    ExecutableEventWaitNode as ExecutableEventWaitNode,
)
from cuprum._cuprum.graph import (
    ExecutableGraphNode as ExecutableGraphNode,
)
from cuprum._cuprum.graph import (
    ExecutableHostCallbackNode as ExecutableHostCallbackNode,
)
from cuprum._cuprum.graph import (
    ExecutableKernelNode as ExecutableKernelNode,
)
from cuprum._cuprum.graph import (
    ExecutableMemcpyNode as ExecutableMemcpyNode,
)
from cuprum._cuprum.graph import (
    ExecutableMemsetNode as ExecutableMemsetNode,
)
from cuprum._cuprum.graph import (
    FreeNode as FreeNode,
)
from cuprum._cuprum.graph import (
    Graph as Graph,
)
from cuprum._cuprum.graph import (
    GraphBuilder as GraphBuilder,
)
from cuprum._cuprum.graph import (
    GraphCondition as GraphCondition,
)
from cuprum._cuprum.graph import (
    GraphDefinition as GraphDefinition,
)
from cuprum._cuprum.graph import (
    GraphNode as GraphNode,
)
from cuprum._cuprum.graph import (
    HostCallbackNode as HostCallbackNode,
)
from cuprum._cuprum.graph import (
    IfElseNode as IfElseNode,
)
from cuprum._cuprum.graph import (
    IfNode as IfNode,
)
from cuprum._cuprum.graph import (
    KernelNode as KernelNode,
)
from cuprum._cuprum.graph import (
    MemcpyNode as MemcpyNode,
)
from cuprum._cuprum.graph import (
    MemsetNode as MemsetNode,
)
from cuprum._cuprum.graph import (
    SwitchNode as SwitchNode,
)
from cuprum._cuprum.graph import (
    WeakHandle as WeakHandle,
)
from cuprum._cuprum.graph import (
    WhileNode as WhileNode,
)
from cuprum._cuprum.graph import (
    _live_graph_nodes as _live_graph_nodes,
)
from cuprum._cuprum.graphics import (
    ExternalMemory as ExternalMemory,
)
from cuprum._cuprum.graphics import (
    ExternalSemaphore as ExternalSemaphore,
)
from cuprum._cuprum.graphics import (
    GraphicsResource as GraphicsResource,
)
from cuprum._cuprum.graphics import (
    gl_devices as gl_devices,
)
from cuprum._cuprum.launch import (
    Kernel as Kernel,
)
from cuprum._cuprum.launch import (
    KernelAttributes as KernelAttributes,
)
from cuprum._cuprum.launch import (
    KernelOccupancy as KernelOccupancy,
)
from cuprum._cuprum.launch import (
    LaunchConfig as LaunchConfig,
)
from cuprum._cuprum.launch import (
    launch as launch,
)
from cuprum._cuprum.memory import (
    Buffer as Buffer,
)
from cuprum._cuprum.memory import (
    DeviceMemoryResource as DeviceMemoryResource,
)
from cuprum._cuprum.memory import (
    GraphMemoryResource as GraphMemoryResource,
)
from cuprum._cuprum.memory import (
    GraphMemoryResourceAttributes as GraphMemoryResourceAttributes,
)
from cuprum._cuprum.memory import (
    IPCAllocationHandle as IPCAllocationHandle,
)
from cuprum._cuprum.memory import (
    LegacyPinnedMemoryResource as LegacyPinnedMemoryResource,
)
from cuprum._cuprum.memory import (
    ManagedBuffer as ManagedBuffer,
)
from cuprum._cuprum.memory import (
    ManagedMemoryResource as ManagedMemoryResource,
)
from cuprum._cuprum.memory import (
    MemoryPool as MemoryPool,
)
from cuprum._cuprum.memory import (
    MemoryPoolAttributes as MemoryPoolAttributes,
)
from cuprum._cuprum.memory import (
    MemoryResource as MemoryResource,
)
from cuprum._cuprum.memory import (
    PinnedMemoryResource as PinnedMemoryResource,
)
from cuprum._cuprum.memory import (
    SynchronousMemoryResource as SynchronousMemoryResource,
)
from cuprum._cuprum.memory import (
    VirtualMemoryResource as VirtualMemoryResource,
)
from cuprum._cuprum.memory import (
    _NativeResource as _NativeResource,
)
from cuprum._cuprum.memory import (
    copy_batch as copy_batch,
)
from cuprum._cuprum.memory import (
    discard_batch as discard_batch,
)
from cuprum._cuprum.memory import (
    discard_prefetch_batch as discard_prefetch_batch,
)
from cuprum._cuprum.memory import (
    prefetch_batch as prefetch_batch,
)
from cuprum._cuprum.memory import (
    register_host_memory as register_host_memory,
)
from cuprum._cuprum.memory import (
    reset_concurrent_access_warning as reset_concurrent_access_warning,
)
from cuprum._cuprum.observe import (
    FaultInjection as FaultInjection,
)
from cuprum._cuprum.observe import (
    begin_range as begin_range,
)
from cuprum._cuprum.observe import (
    end_range as end_range,
)
from cuprum._cuprum.observe import (
    is_tracing as is_tracing,
)
from cuprum._cuprum.observe import (
    start_trace as start_trace,
)
from cuprum._cuprum.observe import (
    stop_trace as stop_trace,
)
from cuprum._cuprum.program import (
    FileStreamCache as FileStreamCache,
)
from cuprum._cuprum.program import (
    InMemoryCache as InMemoryCache,
)
from cuprum._cuprum.program import (
    Linker as Linker,
)
from cuprum._cuprum.program import (
    ObjectCode as ObjectCode,
)
from cuprum._cuprum.program import (
    Program as Program,
)
from cuprum._cuprum.program import (
    ProgramCache as ProgramCache,
)
from cuprum._cuprum.program import (
    check_cache_options as check_cache_options,
)
from cuprum._cuprum.program import (
    compiler_version as compiler_version,
)
from cuprum._cuprum.program import (
    default_include_directories as default_include_directories,
)
from cuprum._cuprum.program import (
    nvjitlink_options as nvjitlink_options,
)
from cuprum._cuprum.program import (
    nvrtc_options as nvrtc_options,
)
from cuprum._cuprum.program import (
    nvvm_options as nvvm_options,
)
from cuprum._cuprum.program import (
    program_cache_key as program_cache_key,
)
from cuprum._cuprum.program import (
    ptx_options as ptx_options,
)
from cuprum._cuprum.program import (
    set_default_cache as set_default_cache,
)
from cuprum._cuprum.program import (
    supported_architectures as supported_architectures,
)
from cuprum._cuprum.stream import (
    LEGACY_DEFAULT_STREAM as LEGACY_DEFAULT_STREAM,
)
from cuprum._cuprum.stream import (
    PER_THREAD_DEFAULT_STREAM as PER_THREAD_DEFAULT_STREAM,
)
from cuprum._cuprum.stream import (
    Event as Event,
)
from cuprum._cuprum.stream import (
    Stream as Stream,
)
from cuprum._cuprum.system import (
    BAR1MemoryInfo as BAR1MemoryInfo,
)
from cuprum._cuprum.system import (
    ClockInfo as ClockInfo,
)
from cuprum._cuprum.system import (
    ClockOffsets as ClockOffsets,
)
from cuprum._cuprum.system import (
    CoolerInfo as CoolerInfo,
)
from cuprum._cuprum.system import (
    DeviceAttributes as DeviceAttributes,
)
from cuprum._cuprum.system import (
    DeviceEvents as DeviceEvents,
)
from cuprum._cuprum.system import (
    EccInfo as EccInfo,
)
from cuprum._cuprum.system import (
    EngineUtilization as EngineUtilization,
)
from cuprum._cuprum.system import (
    EventData as EventData,
)
from cuprum._cuprum.system import (
    FanInfo as FanInfo,
)
from cuprum._cuprum.system import (
    FieldValue as FieldValue,
)
from cuprum._cuprum.system import (
    FieldValues as FieldValues,
)
from cuprum._cuprum.system import (
    GpuDynamicPstatesInfo as GpuDynamicPstatesInfo,
)
from cuprum._cuprum.system import (
    GpuDynamicPstatesUtilization as GpuDynamicPstatesUtilization,
)
from cuprum._cuprum.system import (
    InforomInfo as InforomInfo,
)
from cuprum._cuprum.system import (
    MemoryInfo as MemoryInfo,
)
from cuprum._cuprum.system import (
    MigInfo as MigInfo,
)
from cuprum._cuprum.system import (
    NvlinkInfo as NvlinkInfo,
)
from cuprum._cuprum.system import (
    PciInfo as PciInfo,
)
from cuprum._cuprum.system import (
    PowerInfo as PowerInfo,
)
from cuprum._cuprum.system import (
    ProcessInfo as ProcessInfo,
)
from cuprum._cuprum.system import (
    ProcessUtilization as ProcessUtilization,
)
from cuprum._cuprum.system import (
    RegisteredSystemEvents as RegisteredSystemEvents,
)
from cuprum._cuprum.system import (
    RemappedRows as RemappedRows,
)
from cuprum._cuprum.system import (
    RepairStatus as RepairStatus,
)
from cuprum._cuprum.system import (
    Sample as Sample,
)
from cuprum._cuprum.system import (
    SystemDevice as SystemDevice,
)
from cuprum._cuprum.system import (
    SystemEvent as SystemEvent,
)
from cuprum._cuprum.system import (
    SystemEvents as SystemEvents,
)
from cuprum._cuprum.system import (
    Temperature as Temperature,
)
from cuprum._cuprum.system import (
    ThermalSensor as ThermalSensor,
)
from cuprum._cuprum.system import (
    ThermalSettings as ThermalSettings,
)
from cuprum._cuprum.system import (
    Utilization as Utilization,
)
from cuprum._cuprum.system import (
    explain_clock_event_reason as explain_clock_event_reason,
)
from cuprum._cuprum.system import (
    get_driver_branch as get_driver_branch,
)
from cuprum._cuprum.system import (
    get_kernel_mode_driver_version as get_kernel_mode_driver_version,
)
from cuprum._cuprum.system import (
    get_num_devices as get_num_devices,
)
from cuprum._cuprum.system import (
    get_nvml_path as get_nvml_path,
)
from cuprum._cuprum.system import (
    get_nvml_version as get_nvml_version,
)
from cuprum._cuprum.system import (
    get_p2p_status as get_p2p_status,
)
from cuprum._cuprum.system import (
    get_process_name as get_process_name,
)
from cuprum._cuprum.system import (
    get_topology_common_ancestor as get_topology_common_ancestor,
)
from cuprum._cuprum.system import (
    get_user_mode_driver_version as get_user_mode_driver_version,
)
from cuprum._cuprum.system import (
    initialize_nvml as initialize_nvml,
)
from cuprum._cuprum.system import (
    is_nvml_initialized as is_nvml_initialized,
)
from cuprum._cuprum.system import (
    register_events as register_events,
)
from cuprum._cuprum.texture import (
    MipmappedArray as MipmappedArray,
)
from cuprum._cuprum.texture import (
    OpaqueArray as OpaqueArray,
)
from cuprum._cuprum.texture import (
    ResourceDescriptor as ResourceDescriptor,
)
from cuprum._cuprum.texture import (
    SurfaceObject as SurfaceObject,
)
from cuprum._cuprum.texture import (
    TextureObject as TextureObject,
)
from cuprum._cuprum.texture import (
    _TextureSampling as _TextureSampling,
)
