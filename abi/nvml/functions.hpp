// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of NVML as function types. Each has the name of the exported symbol, version suffix
// included, because older libraries lack the newer versions.
//
//     using Count = nvml_abi::functions::nvmlDeviceGetCount_v2;
//     auto* count = reinterpret_cast<Count*>(dlsym(library, "nvmlDeviceGetCount_v2"));

#pragma once

#include "structs.hpp"

namespace nvml_abi::functions {

// ---- Library ----

using nvmlErrorString = const char*(nvmlReturn_t result);
using nvmlInit = nvmlReturn_t();
using nvmlInit_v2 = nvmlReturn_t();
using nvmlInitWithFlags = nvmlReturn_t(unsigned int flags);
using nvmlShutdown = nvmlReturn_t();

// ---- System ----

using nvmlSystemEventSetCreate = nvmlReturn_t(nvmlSystemEventSetCreateRequest_t* request);
using nvmlSystemEventSetFree = nvmlReturn_t(nvmlSystemEventSetFreeRequest_t* request);
using nvmlSystemEventSetWait = nvmlReturn_t(nvmlSystemEventSetWaitRequest_t* request);
using nvmlSystemGetCudaDriverVersion = nvmlReturn_t(int* cuda_driver_version);
using nvmlSystemGetCudaDriverVersion_v2 = nvmlReturn_t(int* cuda_driver_version);
using nvmlSystemGetDriverBranch = nvmlReturn_t(nvmlSystemDriverBranchInfo_t* branch_info,
                                               unsigned int length);
using nvmlSystemGetDriverVersion = nvmlReturn_t(char* version, unsigned int length);
using nvmlSystemGetNvlinkBwMode = nvmlReturn_t(unsigned int* nvlink_bw_mode);
using nvmlSystemGetNVMLVersion = nvmlReturn_t(char* version, unsigned int length);
using nvmlSystemGetProcessName = nvmlReturn_t(unsigned int pid, char* name, unsigned int length);
using nvmlSystemGetTopologyGpuSet = nvmlReturn_t(unsigned int cpu_number, unsigned int* count,
                                                 nvmlDevice_t* device_array);
using nvmlSystemRegisterEvents = nvmlReturn_t(nvmlSystemRegisterEventRequest_t* request);
using nvmlSystemSetNvlinkBwMode = nvmlReturn_t(unsigned int nvlink_bw_mode);
using nvmlUnitGetCount = nvmlReturn_t(unsigned int* unit_count);

// ---- Events ----

using nvmlDeviceGetSupportedEventTypes = nvmlReturn_t(nvmlDevice_t device,
                                                      unsigned long long* event_types);
using nvmlDeviceRegisterEvents = nvmlReturn_t(nvmlDevice_t device, unsigned long long event_types,
                                              nvmlEventSet_t set);
using nvmlEventSetCreate = nvmlReturn_t(nvmlEventSet_t* set);
using nvmlEventSetFree = nvmlReturn_t(nvmlEventSet_t set);
using nvmlEventSetWait = nvmlReturn_t(nvmlEventSet_t set, nvmlEventData_t* data,
                                      unsigned int timeout_ms);
using nvmlEventSetWait_v2 = nvmlReturn_t(nvmlEventSet_t set, nvmlEventData_t* data,
                                         unsigned int timeout_ms);

// ---- Changes to a device ----

using nvmlDeviceClearCpuAffinity = nvmlReturn_t(nvmlDevice_t device);
using nvmlDeviceClearEccErrorCounts = nvmlReturn_t(nvmlDevice_t device,
                                                   nvmlEccCounterType_t counter_type);
using nvmlDeviceClearFieldValues = nvmlReturn_t(nvmlDevice_t device, int values_count,
                                                nvmlFieldValue_t* values);
using nvmlDeviceFreezeNvLinkUtilizationCounter = nvmlReturn_t(nvmlDevice_t device,
                                                              unsigned int link,
                                                              unsigned int counter,
                                                              nvmlEnableState_t freeze);
using nvmlDeviceModifyDrainState = nvmlReturn_t(nvmlPciInfo_t* pci_info,
                                                nvmlEnableState_t new_state);
using nvmlDeviceResetApplicationsClocks = nvmlReturn_t(nvmlDevice_t device);
using nvmlDeviceResetGpuLockedClocks = nvmlReturn_t(nvmlDevice_t device);
using nvmlDeviceResetMemoryLockedClocks = nvmlReturn_t(nvmlDevice_t device);
using nvmlDeviceResetNvLinkErrorCounters = nvmlReturn_t(nvmlDevice_t device, unsigned int link);
using nvmlDeviceResetNvLinkUtilizationCounter = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                             unsigned int counter);
using nvmlDeviceSetAPIRestriction = nvmlReturn_t(nvmlDevice_t device, nvmlRestrictedAPI_t api_type,
                                                 nvmlEnableState_t is_restricted);
using nvmlDeviceSetApplicationsClocks = nvmlReturn_t(nvmlDevice_t device,
                                                     unsigned int memory_clock_mhz,
                                                     unsigned int graphics_clock_mhz);
using nvmlDeviceSetAutoBoostedClocksEnabled = nvmlReturn_t(nvmlDevice_t device,
                                                           nvmlEnableState_t enabled);
using nvmlDeviceSetClockOffsets = nvmlReturn_t(nvmlDevice_t device, nvmlClockOffset_t* info);
using nvmlDeviceSetComputeMode = nvmlReturn_t(nvmlDevice_t device, nvmlComputeMode_t mode);
using nvmlDeviceSetCpuAffinity = nvmlReturn_t(nvmlDevice_t device);
using nvmlDeviceSetDefaultAutoBoostedClocksEnabled = nvmlReturn_t(nvmlDevice_t device,
                                                                  nvmlEnableState_t enabled,
                                                                  unsigned int flags);
using nvmlDeviceSetDefaultFanSpeed_v2 = nvmlReturn_t(nvmlDevice_t device, unsigned int fan);
using nvmlDeviceSetDramEncryptionMode =
    nvmlReturn_t(nvmlDevice_t device, const nvmlDramEncryptionInfo_t* dram_encryption);
using nvmlDeviceSetEccMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t ecc);
using nvmlDeviceSetFanControlPolicy = nvmlReturn_t(nvmlDevice_t device, unsigned int fan,
                                                   nvmlFanControlPolicy_t policy);
using nvmlDeviceSetFanSpeed_v2 = nvmlReturn_t(nvmlDevice_t device, unsigned int fan,
                                              unsigned int speed);
using nvmlDeviceSetGpuLockedClocks = nvmlReturn_t(nvmlDevice_t device,
                                                  unsigned int min_gpu_clock_mhz,
                                                  unsigned int max_gpu_clock_mhz);
using nvmlDeviceSetGpuOperationMode = nvmlReturn_t(nvmlDevice_t device,
                                                   nvmlGpuOperationMode_t mode);
using nvmlDeviceSetMemoryLockedClocks = nvmlReturn_t(nvmlDevice_t device,
                                                     unsigned int min_memory_clock_mhz,
                                                     unsigned int max_memory_clock_mhz);
using nvmlDeviceSetMigMode = nvmlReturn_t(nvmlDevice_t device, unsigned int mode,
                                          nvmlReturn_t* activation_status);
using nvmlDeviceSetNvlinkBwMode = nvmlReturn_t(nvmlDevice_t device,
                                               nvmlNvlinkSetBwMode_t* set_bw_mode);
using nvmlDeviceSetNvLinkUtilizationControl = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                           unsigned int counter,
                                                           nvmlNvLinkUtilizationControl_t* control,
                                                           unsigned int reset);
using nvmlDeviceSetPersistenceMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t mode);
using nvmlDeviceSetPowerManagementLimit = nvmlReturn_t(nvmlDevice_t device, unsigned int limit);
using nvmlDeviceSetPowerManagementLimit_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                          nvmlPowerValue_v2_t* power_value);
using nvmlDeviceSetTemperatureThreshold = nvmlReturn_t(nvmlDevice_t device,
                                                       nvmlTemperatureThresholds_t threshold_type,
                                                       int* temperature);
using nvmlDeviceValidateInforom = nvmlReturn_t(nvmlDevice_t device);

// ---- Queries of a device ----

using nvmlDeviceDiscoverGpus = nvmlReturn_t(nvmlPciInfo_t* pci_info);
using nvmlDeviceGetAdaptiveClockInfoStatus = nvmlReturn_t(nvmlDevice_t device,
                                                          unsigned int* adaptive_clock_status);
using nvmlDeviceGetAddressingMode = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlDeviceAddressingMode_t* mode);
using nvmlDeviceGetAPIRestriction = nvmlReturn_t(nvmlDevice_t device, nvmlRestrictedAPI_t api_type,
                                                 nvmlEnableState_t* is_restricted);
using nvmlDeviceGetApplicationsClock = nvmlReturn_t(nvmlDevice_t device, nvmlClockType_t clock_type,
                                                    unsigned int* clock_mhz);
using nvmlDeviceGetArchitecture = nvmlReturn_t(nvmlDevice_t device, nvmlDeviceArchitecture_t* arch);
using nvmlDeviceGetAttributes = nvmlReturn_t(nvmlDevice_t device,
                                             nvmlDeviceAttributes_t* attributes);
using nvmlDeviceGetAttributes_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                nvmlDeviceAttributes_t* attributes);
using nvmlDeviceGetAutoBoostedClocksEnabled = nvmlReturn_t(nvmlDevice_t device,
                                                           nvmlEnableState_t* is_enabled,
                                                           nvmlEnableState_t* default_is_enabled);
using nvmlDeviceGetBAR1MemoryInfo = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlBAR1Memory_t* bar1_memory);
using nvmlDeviceGetBoardId = nvmlReturn_t(nvmlDevice_t device, unsigned int* board_id);
using nvmlDeviceGetBoardPartNumber = nvmlReturn_t(nvmlDevice_t device, char* part_number,
                                                  unsigned int length);
using nvmlDeviceGetBrand = nvmlReturn_t(nvmlDevice_t device, nvmlBrandType_t* type);
using nvmlDeviceGetBridgeChipInfo = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlBridgeChipHierarchy_t* bridge_hierarchy);
using nvmlDeviceGetBusType = nvmlReturn_t(nvmlDevice_t device, nvmlBusType_t* type);
using nvmlDeviceGetC2cModeInfoV = nvmlReturn_t(nvmlDevice_t device,
                                               nvmlC2cModeInfo_v1_t* c2c_mode_info);
using nvmlDeviceGetCapabilities = nvmlReturn_t(nvmlDevice_t device, nvmlDeviceCapabilities_t* caps);
using nvmlDeviceGetClkMonStatus = nvmlReturn_t(nvmlDevice_t device, nvmlClkMonStatus_t* status);
using nvmlDeviceGetClock = nvmlReturn_t(nvmlDevice_t device, nvmlClockType_t clock_type,
                                        nvmlClockId_t clock_id, unsigned int* clock_mhz);
using nvmlDeviceGetClockInfo = nvmlReturn_t(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned int* clock);
using nvmlDeviceGetClockOffsets = nvmlReturn_t(nvmlDevice_t device, nvmlClockOffset_t* info);
using nvmlDeviceGetComputeInstanceId = nvmlReturn_t(nvmlDevice_t device, unsigned int* id);
using nvmlDeviceGetComputeMode = nvmlReturn_t(nvmlDevice_t device, nvmlComputeMode_t* mode);
using nvmlDeviceGetComputeRunningProcesses = nvmlReturn_t(nvmlDevice_t device,
                                                          unsigned int* info_count,
                                                          nvmlProcessInfo_v1_t* infos);
using nvmlDeviceGetComputeRunningProcesses_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                             unsigned int* info_count,
                                                             nvmlProcessInfo_v2_t* infos);
using nvmlDeviceGetComputeRunningProcesses_v3 = nvmlReturn_t(nvmlDevice_t device,
                                                             unsigned int* info_count,
                                                             nvmlProcessInfo_t* infos);
using nvmlDeviceGetCoolerInfo = nvmlReturn_t(nvmlDevice_t device, nvmlCoolerInfo_t* cooler_info);
using nvmlDeviceGetCount = nvmlReturn_t(unsigned int* device_count);
using nvmlDeviceGetCount_v2 = nvmlReturn_t(unsigned int* device_count);
using nvmlDeviceGetCpuAffinity = nvmlReturn_t(nvmlDevice_t device, unsigned int cpu_set_size,
                                              unsigned long* cpu_set);
using nvmlDeviceGetCpuAffinityWithinScope = nvmlReturn_t(nvmlDevice_t device,
                                                         unsigned int cpu_set_size,
                                                         unsigned long* cpu_set,
                                                         nvmlAffinityScope_t scope);
using nvmlDeviceGetCudaComputeCapability = nvmlReturn_t(nvmlDevice_t device, int* major,
                                                        int* minor);
using nvmlDeviceGetCurrentClockFreqs =
    nvmlReturn_t(nvmlDevice_t device, nvmlDeviceCurrentClockFreqs_t* current_clock_freqs);
using nvmlDeviceGetCurrentClocksEventReasons =
    nvmlReturn_t(nvmlDevice_t device, unsigned long long* clocks_event_reasons);
using nvmlDeviceGetCurrentClocksThrottleReasons =
    nvmlReturn_t(nvmlDevice_t device, unsigned long long* clocks_throttle_reasons);
using nvmlDeviceGetCurrPcieLinkGeneration = nvmlReturn_t(nvmlDevice_t device,
                                                         unsigned int* curr_link_gen);
using nvmlDeviceGetCurrPcieLinkWidth = nvmlReturn_t(nvmlDevice_t device,
                                                    unsigned int* curr_link_width);
using nvmlDeviceGetDecoderUtilization = nvmlReturn_t(nvmlDevice_t device, unsigned int* utilization,
                                                     unsigned int* sampling_period_us);
using nvmlDeviceGetDefaultApplicationsClock = nvmlReturn_t(nvmlDevice_t device,
                                                           nvmlClockType_t clock_type,
                                                           unsigned int* clock_mhz);
using nvmlDeviceGetDefaultEccMode = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlEnableState_t* default_mode);
using nvmlDeviceGetDetailedEccErrors = nvmlReturn_t(nvmlDevice_t device,
                                                    nvmlMemoryErrorType_t error_type,
                                                    nvmlEccCounterType_t counter_type,
                                                    nvmlEccErrorCounts_t* ecc_counts);
using nvmlDeviceGetDeviceHandleFromMigDeviceHandle = nvmlReturn_t(nvmlDevice_t mig_device,
                                                                  nvmlDevice_t* device);
using nvmlDeviceGetDisplayActive = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t* is_active);
using nvmlDeviceGetDisplayMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t* display);
using nvmlDeviceGetDramEncryptionMode = nvmlReturn_t(nvmlDevice_t device,
                                                     nvmlDramEncryptionInfo_t* current,
                                                     nvmlDramEncryptionInfo_t* pending);
using nvmlDeviceGetDynamicPstatesInfo =
    nvmlReturn_t(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t* dynamic_pstates_info);
using nvmlDeviceGetEccMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t* current,
                                          nvmlEnableState_t* pending);
using nvmlDeviceGetEncoderCapacity = nvmlReturn_t(nvmlDevice_t device,
                                                  nvmlEncoderType_t encoder_query_type,
                                                  unsigned int* encoder_capacity);
using nvmlDeviceGetEncoderStats = nvmlReturn_t(nvmlDevice_t device, unsigned int* session_count,
                                               unsigned int* average_fps,
                                               unsigned int* average_latency);
using nvmlDeviceGetEncoderUtilization = nvmlReturn_t(nvmlDevice_t device, unsigned int* utilization,
                                                     unsigned int* sampling_period_us);
using nvmlDeviceGetEnforcedPowerLimit = nvmlReturn_t(nvmlDevice_t device, unsigned int* limit);
using nvmlDeviceGetFanControlPolicy_v2 = nvmlReturn_t(nvmlDevice_t device, unsigned int fan,
                                                      nvmlFanControlPolicy_t* policy);
using nvmlDeviceGetFanSpeed = nvmlReturn_t(nvmlDevice_t device, unsigned int* speed);
using nvmlDeviceGetFanSpeed_v2 = nvmlReturn_t(nvmlDevice_t device, unsigned int fan,
                                              unsigned int* speed);
using nvmlDeviceGetFanSpeedRPM = nvmlReturn_t(nvmlDevice_t device, nvmlFanSpeedInfo_t* fan_speed);
using nvmlDeviceGetFieldValues = nvmlReturn_t(nvmlDevice_t device, int values_count,
                                              nvmlFieldValue_t* values);
using nvmlDeviceGetGpuFabricInfo = nvmlReturn_t(nvmlDevice_t device,
                                                nvmlGpuFabricInfo_t* gpu_fabric_info);
using nvmlDeviceGetGpuFabricInfoV = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlGpuFabricInfoV_t* gpu_fabric_info);
using nvmlDeviceGetGpuInstanceId = nvmlReturn_t(nvmlDevice_t device, unsigned int* id);
using nvmlDeviceGetGpuMaxPcieLinkGeneration = nvmlReturn_t(nvmlDevice_t device,
                                                           unsigned int* max_link_gen_device);
using nvmlDeviceGetGpuOperationMode = nvmlReturn_t(nvmlDevice_t device,
                                                   nvmlGpuOperationMode_t* current,
                                                   nvmlGpuOperationMode_t* pending);
using nvmlDeviceGetGraphicsRunningProcesses = nvmlReturn_t(nvmlDevice_t device,
                                                           unsigned int* info_count,
                                                           nvmlProcessInfo_v1_t* infos);
using nvmlDeviceGetGraphicsRunningProcesses_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                              unsigned int* info_count,
                                                              nvmlProcessInfo_v2_t* infos);
using nvmlDeviceGetGraphicsRunningProcesses_v3 = nvmlReturn_t(nvmlDevice_t device,
                                                              unsigned int* info_count,
                                                              nvmlProcessInfo_t* infos);
using nvmlDeviceGetGridLicensableFeatures_v4 = nvmlReturn_t(nvmlDevice_t device,
                                                            nvmlGridLicensableFeatures_t* features);
using nvmlDeviceGetGspFirmwareMode = nvmlReturn_t(nvmlDevice_t device, unsigned int* is_enabled,
                                                  unsigned int* default_mode);
using nvmlDeviceGetGspFirmwareVersion = nvmlReturn_t(nvmlDevice_t device, char* version);
using nvmlDeviceGetHandleByIndex = nvmlReturn_t(unsigned int index, nvmlDevice_t* device);
using nvmlDeviceGetHandleByIndex_v2 = nvmlReturn_t(unsigned int index, nvmlDevice_t* device);
using nvmlDeviceGetHandleByPciBusId = nvmlReturn_t(const char* pci_bus_id, nvmlDevice_t* device);
using nvmlDeviceGetHandleByPciBusId_v2 = nvmlReturn_t(const char* pci_bus_id, nvmlDevice_t* device);
using nvmlDeviceGetHandleBySerial = nvmlReturn_t(const char* serial, nvmlDevice_t* device);
using nvmlDeviceGetHandleByUUID = nvmlReturn_t(const char* uuid, nvmlDevice_t* device);
using nvmlDeviceGetHandleByUUIDV = nvmlReturn_t(const nvmlUUID_t* uuid, nvmlDevice_t* device);
using nvmlDeviceGetIndex = nvmlReturn_t(nvmlDevice_t device, unsigned int* index);
using nvmlDeviceGetInforomConfigurationChecksum = nvmlReturn_t(nvmlDevice_t device,
                                                               unsigned int* checksum);
using nvmlDeviceGetInforomImageVersion = nvmlReturn_t(nvmlDevice_t device, char* version,
                                                      unsigned int length);
using nvmlDeviceGetInforomVersion = nvmlReturn_t(nvmlDevice_t device, nvmlInforomObject_t object,
                                                 char* version, unsigned int length);
using nvmlDeviceGetIrqNum = nvmlReturn_t(nvmlDevice_t device, unsigned int* irq_num);
using nvmlDeviceGetJpgUtilization = nvmlReturn_t(nvmlDevice_t device, unsigned int* utilization,
                                                 unsigned int* sampling_period_us);
using nvmlDeviceGetLastBBXFlushTime = nvmlReturn_t(nvmlDevice_t device,
                                                   unsigned long long* timestamp,
                                                   unsigned long* duration_us);
using nvmlDeviceGetMarginTemperature = nvmlReturn_t(nvmlDevice_t device,
                                                    nvmlMarginTemperature_t* margin);
using nvmlDeviceGetMaxClockInfo = nvmlReturn_t(nvmlDevice_t device, nvmlClockType_t type,
                                               unsigned int* clock);
using nvmlDeviceGetMaxCustomerBoostClock = nvmlReturn_t(nvmlDevice_t device,
                                                        nvmlClockType_t clock_type,
                                                        unsigned int* clock_mhz);
using nvmlDeviceGetMaxMigDeviceCount = nvmlReturn_t(nvmlDevice_t device, unsigned int* count);
using nvmlDeviceGetMaxPcieLinkGeneration = nvmlReturn_t(nvmlDevice_t device,
                                                        unsigned int* max_link_gen);
using nvmlDeviceGetMaxPcieLinkWidth = nvmlReturn_t(nvmlDevice_t device,
                                                   unsigned int* max_link_width);
using nvmlDeviceGetMemoryAffinity = nvmlReturn_t(nvmlDevice_t device, unsigned int node_set_size,
                                                 unsigned long* node_set,
                                                 nvmlAffinityScope_t scope);
using nvmlDeviceGetMemoryBusWidth = nvmlReturn_t(nvmlDevice_t device, unsigned int* bus_width);
using nvmlDeviceGetMemoryErrorCounter = nvmlReturn_t(nvmlDevice_t device,
                                                     nvmlMemoryErrorType_t error_type,
                                                     nvmlEccCounterType_t counter_type,
                                                     nvmlMemoryLocation_t location_type,
                                                     unsigned long long* count);
using nvmlDeviceGetMemoryInfo = nvmlReturn_t(nvmlDevice_t device, nvmlMemory_t* memory);
using nvmlDeviceGetMemoryInfo_v2 = nvmlReturn_t(nvmlDevice_t device, nvmlMemory_v2_t* memory);
using nvmlDeviceGetMigDeviceHandleByIndex = nvmlReturn_t(nvmlDevice_t device, unsigned int index,
                                                         nvmlDevice_t* mig_device);
using nvmlDeviceGetMigMode = nvmlReturn_t(nvmlDevice_t device, unsigned int* current_mode,
                                          unsigned int* pending_mode);
using nvmlDeviceGetMinMaxClockOfPState = nvmlReturn_t(nvmlDevice_t device, nvmlClockType_t type,
                                                      nvmlPstates_t pstate,
                                                      unsigned int* min_clock_mhz,
                                                      unsigned int* max_clock_mhz);
using nvmlDeviceGetMinMaxFanSpeed = nvmlReturn_t(nvmlDevice_t device, unsigned int* min_speed,
                                                 unsigned int* max_speed);
using nvmlDeviceGetMinorNumber = nvmlReturn_t(nvmlDevice_t device, unsigned int* minor_number);
using nvmlDeviceGetModuleId = nvmlReturn_t(nvmlDevice_t device, unsigned int* module_id);
using nvmlDeviceGetMPSComputeRunningProcesses = nvmlReturn_t(nvmlDevice_t device,
                                                             unsigned int* info_count,
                                                             nvmlProcessInfo_v1_t* infos);
using nvmlDeviceGetMPSComputeRunningProcesses_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                                unsigned int* info_count,
                                                                nvmlProcessInfo_v2_t* infos);
using nvmlDeviceGetMPSComputeRunningProcesses_v3 = nvmlReturn_t(nvmlDevice_t device,
                                                                unsigned int* info_count,
                                                                nvmlProcessInfo_t* infos);
using nvmlDeviceGetMultiGpuBoard = nvmlReturn_t(nvmlDevice_t device, unsigned int* is_multi_gpu);
using nvmlDeviceGetName = nvmlReturn_t(nvmlDevice_t device, char* name, unsigned int length);
using nvmlDeviceGetNumaNodeId = nvmlReturn_t(nvmlDevice_t device, unsigned int* node);
using nvmlDeviceGetNumFans = nvmlReturn_t(nvmlDevice_t device, unsigned int* num_fans);
using nvmlDeviceGetNumGpuCores = nvmlReturn_t(nvmlDevice_t device, unsigned int* num_cores);
using nvmlDeviceGetNvlinkBwMode = nvmlReturn_t(nvmlDevice_t device,
                                               nvmlNvlinkGetBwMode_t* get_bw_mode);
using nvmlDeviceGetNvLinkCapability = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                   nvmlNvLinkCapability_t capability,
                                                   unsigned int* cap_result);
using nvmlDeviceGetNvLinkErrorCounter = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                     nvmlNvLinkErrorCounter_t counter,
                                                     unsigned long long* counter_value);
using nvmlDeviceGetNvLinkInfo = nvmlReturn_t(nvmlDevice_t device, nvmlNvLinkInfo_t* info);
using nvmlDeviceGetNvLinkRemoteDeviceType = nvmlReturn_t(
    nvmlDevice_t device, unsigned int link, nvmlIntNvLinkDeviceType_t* nv_link_device_type);
using nvmlDeviceGetNvLinkRemotePciInfo = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                      nvmlPciInfo_t* pci);
using nvmlDeviceGetNvLinkRemotePciInfo_v2 = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                         nvmlPciInfo_t* pci);
using nvmlDeviceGetNvLinkState = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                              nvmlEnableState_t* is_active);
using nvmlDeviceGetNvlinkSupportedBwModes =
    nvmlReturn_t(nvmlDevice_t device, nvmlNvlinkSupportedBwModes_t* supported_bw_mode);
using nvmlDeviceGetNvLinkUtilizationControl = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                           unsigned int counter,
                                                           nvmlNvLinkUtilizationControl_t* control);
using nvmlDeviceGetNvLinkUtilizationCounter = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                           unsigned int counter,
                                                           unsigned long long* rx_counter,
                                                           unsigned long long* tx_counter);
using nvmlDeviceGetNvLinkVersion = nvmlReturn_t(nvmlDevice_t device, unsigned int link,
                                                unsigned int* version);
using nvmlDeviceGetOfaUtilization = nvmlReturn_t(nvmlDevice_t device, unsigned int* utilization,
                                                 unsigned int* sampling_period_us);
using nvmlDeviceGetP2PStatus = nvmlReturn_t(nvmlDevice_t device1, nvmlDevice_t device2,
                                            nvmlGpuP2PCapsIndex_t p2p_index,
                                            nvmlGpuP2PStatus_t* p2p_status);
using nvmlDeviceGetPcieLinkMaxSpeed = nvmlReturn_t(nvmlDevice_t device, unsigned int* max_speed);
using nvmlDeviceGetPcieReplayCounter = nvmlReturn_t(nvmlDevice_t device, unsigned int* value);
using nvmlDeviceGetPcieSpeed = nvmlReturn_t(nvmlDevice_t device, unsigned int* pcie_speed);
using nvmlDeviceGetPcieThroughput = nvmlReturn_t(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                                 unsigned int* value);
using nvmlDeviceGetPciInfo = nvmlReturn_t(nvmlDevice_t device, nvmlPciInfo_t* pci);
using nvmlDeviceGetPciInfo_v2 = nvmlReturn_t(nvmlDevice_t device, nvmlPciInfo_t* pci);
using nvmlDeviceGetPciInfo_v3 = nvmlReturn_t(nvmlDevice_t device, nvmlPciInfo_t* pci);
using nvmlDeviceGetPciInfoExt = nvmlReturn_t(nvmlDevice_t device, nvmlPciInfoExt_t* pci);
using nvmlDeviceGetPdi = nvmlReturn_t(nvmlDevice_t device, nvmlPdi_t* pdi);
using nvmlDeviceGetPerformanceModes = nvmlReturn_t(nvmlDevice_t device,
                                                   nvmlDevicePerfModes_t* perf_modes);
using nvmlDeviceGetPerformanceState = nvmlReturn_t(nvmlDevice_t device, nvmlPstates_t* pstate);
using nvmlDeviceGetPersistenceMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t* mode);
using nvmlDeviceGetPlatformInfo = nvmlReturn_t(nvmlDevice_t device,
                                               nvmlPlatformInfo_t* platform_info);
using nvmlDeviceGetPowerManagementDefaultLimit = nvmlReturn_t(nvmlDevice_t device,
                                                              unsigned int* default_limit);
using nvmlDeviceGetPowerManagementLimit = nvmlReturn_t(nvmlDevice_t device, unsigned int* limit);
using nvmlDeviceGetPowerManagementLimitConstraints = nvmlReturn_t(nvmlDevice_t device,
                                                                  unsigned int* min_limit,
                                                                  unsigned int* max_limit);
using nvmlDeviceGetPowerManagementMode = nvmlReturn_t(nvmlDevice_t device, nvmlEnableState_t* mode);
using nvmlDeviceGetPowerSource = nvmlReturn_t(nvmlDevice_t device, nvmlPowerSource_t* power_source);
using nvmlDeviceGetPowerState = nvmlReturn_t(nvmlDevice_t device, nvmlPstates_t* pstate);
using nvmlDeviceGetPowerUsage = nvmlReturn_t(nvmlDevice_t device, unsigned int* power);
using nvmlDeviceGetProcessesUtilizationInfo =
    nvmlReturn_t(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t* utilization_info);
using nvmlDeviceGetProcessUtilization = nvmlReturn_t(nvmlDevice_t device,
                                                     nvmlProcessUtilizationSample_t* utilization,
                                                     unsigned int* process_samples_count,
                                                     unsigned long long last_seen_timestamp);
using nvmlDeviceGetRemappedRows = nvmlReturn_t(nvmlDevice_t device, unsigned int* corrected_rows,
                                               unsigned int* uncorrected_rows,
                                               unsigned int* is_pending,
                                               unsigned int* failure_occurred);
using nvmlDeviceGetRemappedRows_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                  nvmlRemappedRowsInfo_v2_t* info);
using nvmlDeviceGetRepairStatus = nvmlReturn_t(nvmlDevice_t device,
                                               nvmlRepairStatus_t* repair_status);
using nvmlDeviceGetRetiredPages = nvmlReturn_t(nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                                               unsigned int* page_count,
                                               unsigned long long* addresses);
using nvmlDeviceGetRetiredPages_v2 = nvmlReturn_t(nvmlDevice_t device,
                                                  nvmlPageRetirementCause_t cause,
                                                  unsigned int* page_count,
                                                  unsigned long long* addresses,
                                                  unsigned long long* timestamps);
using nvmlDeviceGetRetiredPagesPendingStatus = nvmlReturn_t(nvmlDevice_t device,
                                                            nvmlEnableState_t* is_pending);
using nvmlDeviceGetRowRemapperHistogram = nvmlReturn_t(nvmlDevice_t device,
                                                       nvmlRowRemapperHistogramValues_t* values);
using nvmlDeviceGetRunningProcessDetailList = nvmlReturn_t(nvmlDevice_t device,
                                                           nvmlProcessDetailList_t* list);
using nvmlDeviceGetSamples = nvmlReturn_t(nvmlDevice_t device, nvmlSamplingType_t type,
                                          unsigned long long last_seen_timestamp,
                                          nvmlValueType_t* sample_type, unsigned int* sample_count,
                                          nvmlSample_t* samples);
using nvmlDeviceGetSerial = nvmlReturn_t(nvmlDevice_t device, char* serial, unsigned int length);
using nvmlDeviceGetSramEccErrorStatus = nvmlReturn_t(nvmlDevice_t device,
                                                     nvmlEccSramErrorStatus_t* status);
using nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts =
    nvmlReturn_t(nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_t* error_counts);
using nvmlDeviceGetSupportedClocksEventReasons =
    nvmlReturn_t(nvmlDevice_t device, unsigned long long* supported_clocks_event_reasons);
using nvmlDeviceGetSupportedClocksThrottleReasons =
    nvmlReturn_t(nvmlDevice_t device, unsigned long long* supported_clocks_throttle_reasons);
using nvmlDeviceGetSupportedGraphicsClocks = nvmlReturn_t(nvmlDevice_t device,
                                                          unsigned int memory_clock_mhz,
                                                          unsigned int* count,
                                                          unsigned int* clocks_mhz);
using nvmlDeviceGetSupportedMemoryClocks = nvmlReturn_t(nvmlDevice_t device, unsigned int* count,
                                                        unsigned int* clocks_mhz);
using nvmlDeviceGetSupportedPerformanceStates = nvmlReturn_t(nvmlDevice_t device,
                                                             nvmlPstates_t* pstates,
                                                             unsigned int size);
using nvmlDeviceGetTargetFanSpeed = nvmlReturn_t(nvmlDevice_t device, unsigned int fan,
                                                 unsigned int* target_speed);
using nvmlDeviceGetTemperature = nvmlReturn_t(nvmlDevice_t device,
                                              nvmlTemperatureSensors_t sensor_type,
                                              unsigned int* temperature);
using nvmlDeviceGetTemperatureThreshold = nvmlReturn_t(nvmlDevice_t device,
                                                       nvmlTemperatureThresholds_t threshold_type,
                                                       unsigned int* temperature);
using nvmlDeviceGetTemperatureV = nvmlReturn_t(nvmlDevice_t device, nvmlTemperature_t* temperature);
using nvmlDeviceGetThermalSettings = nvmlReturn_t(nvmlDevice_t device, unsigned int sensor_index,
                                                  nvmlGpuThermalSettings_t* thermal_settings);
using nvmlDeviceGetTopologyCommonAncestor = nvmlReturn_t(nvmlDevice_t device1, nvmlDevice_t device2,
                                                         nvmlGpuTopologyLevel_t* path_info);
using nvmlDeviceGetTopologyNearestGpus = nvmlReturn_t(nvmlDevice_t device,
                                                      nvmlGpuTopologyLevel_t level,
                                                      unsigned int* count,
                                                      nvmlDevice_t* device_array);
using nvmlDeviceGetTotalEccErrors = nvmlReturn_t(nvmlDevice_t device,
                                                 nvmlMemoryErrorType_t error_type,
                                                 nvmlEccCounterType_t counter_type,
                                                 unsigned long long* ecc_counts);
using nvmlDeviceGetTotalEnergyConsumption = nvmlReturn_t(nvmlDevice_t device,
                                                         unsigned long long* energy);
using nvmlDeviceGetUtilizationRates = nvmlReturn_t(nvmlDevice_t device,
                                                   nvmlUtilization_t* utilization);
using nvmlDeviceGetUUID = nvmlReturn_t(nvmlDevice_t device, char* uuid, unsigned int length);
using nvmlDeviceGetVbiosVersion = nvmlReturn_t(nvmlDevice_t device, char* version,
                                               unsigned int length);
using nvmlDeviceGetVirtualizationMode = nvmlReturn_t(nvmlDevice_t device,
                                                     nvmlGpuVirtualizationMode_t* mode);
using nvmlDeviceGetViolationStatus = nvmlReturn_t(nvmlDevice_t device,
                                                  nvmlPerfPolicyType_t perf_policy_type,
                                                  nvmlViolationTime_t* violation_time);
using nvmlDeviceIsMigDeviceHandle = nvmlReturn_t(nvmlDevice_t device, unsigned int* is_mig_device);
using nvmlDeviceOnSameBoard = nvmlReturn_t(nvmlDevice_t device1, nvmlDevice_t device2,
                                           int* on_same_board);
using nvmlDeviceQueryDrainState = nvmlReturn_t(nvmlPciInfo_t* pci_info,
                                               nvmlEnableState_t* current_state);

} // namespace nvml_abi::functions
