// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How busy the devices are.

#include "nvml_test.hpp"

#include <algorithm>

namespace cuprum::nvml::test {

namespace {

using namespace std::chrono_literals;

// A kernel that takes many seconds; the worker is killed before it ends.
constexpr const char* LONG_KERNEL = "start 1000000000000 64";

nvmlUtilization_t rates(nvmlDevice_t device) {
    nvmlUtilization_t utilization{};
    EXPECT_EQ(NVML(nvmlDeviceGetUtilizationRates)(device, &utilization), NVML_SUCCESS);
    return utilization;
}

/// Repeats a question until the answer is yes, for at most ten seconds.
template <typename Question>
bool becomes_true(const Question& question) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!question()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

} // namespace

class UtilizationTest : public NVMLTest {
protected:
    /// Starts a kernel that keeps all workers of device 1 busy.
    void make_busy(Worker& worker) {
        ASSERT_EQ(worker.run("use 1"), 0);
        ASSERT_EQ(worker.run(LONG_KERNEL), 0);
    }
};

TEST_F(UtilizationTest, a_running_kernel_shows_at_once_and_on_its_device_only) {
    EXPECT_EQ(rates(device(1)).gpu, 0U);
    Worker worker;
    make_busy(worker);
    // The rates are those of the last half second, so they grow.
    EXPECT_TRUE(becomes_true([&] { return rates(device(1)).gpu >= 90; }));
    EXPECT_LE(rates(device(1)).gpu, 100U);
    EXPECT_EQ(rates(device(0)).gpu, 0U);
    ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
    worker.end();
    EXPECT_EQ(rates(device(1)).gpu, 0U) << "time of processes that have ended does not count";
}

TEST_F(UtilizationTest, a_kernel_of_one_block_uses_one_worker) {
    Worker worker;
    ASSERT_EQ(worker.run("use 1"), 0);
    ASSERT_EQ(worker.run("start 1000000000000 1"), 0); // of two workers
    EXPECT_TRUE(becomes_true([&] { return rates(device(1)).gpu >= 45; }));
    std::this_thread::sleep_for(100ms);
    EXPECT_LE(rates(device(1)).gpu, 52U);
    ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
}

TEST_F(UtilizationTest, finished_kernels_count_for_a_while) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("spin 100000 64"), 0);
    EXPECT_GE(rates(device(0)).gpu, 1U);
    EXPECT_TRUE(becomes_true([&] { return rates(device(0)).gpu == 0; }));
}

TEST_F(UtilizationTest, processes_have_their_own_rates) {
    Worker busy;
    Worker idle;
    make_busy(busy);
    ASSERT_EQ(idle.run("use 1"), 0);
    EXPECT_TRUE(becomes_true([&] { return rates(device(1)).gpu >= 90; }));
    std::vector<nvmlProcessUtilizationSample_t> samples(4);
    auto count = static_cast<unsigned int>(samples.size());
    ASSERT_EQ(NVML(nvmlDeviceGetProcessUtilization)(device(1), samples.data(), &count, 0),
              NVML_SUCCESS);
    ASSERT_EQ(count, 2U);
    samples.resize(count);
    const unsigned long long stamp = samples[0].timeStamp;
    for (const auto& sample : samples) {
        EXPECT_EQ(sample.smUtil > 0, sample.pid == busy.pid()) << sample.smUtil;
        EXPECT_EQ(sample.timeStamp, stamp);
    }
    // Nothing is newer than the future.
    count = 4;
    samples.resize(4);
    EXPECT_EQ(NVML(nvmlDeviceGetProcessUtilization)(device(1), samples.data(), &count,
                                                    stamp + 3600ULL * 1000000),
              NVML_ERROR_NOT_FOUND);
    count = 1;
    EXPECT_EQ(NVML(nvmlDeviceGetProcessUtilization)(device(1), samples.data(), &count, 0),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(NVML(nvmlDeviceGetProcessUtilization)(device(1), nullptr, &count, 0),
              NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(NVML(nvmlDeviceGetProcessUtilization)(device(0), samples.data(), &count, 0),
              NVML_ERROR_NOT_FOUND);

    std::vector<nvmlProcessUtilizationInfo_v1_t> infos(4);
    nvmlProcessesUtilizationInfo_t info{};
    info.procUtilArray = infos.data();
    info.processSamplesCount = 4;
    EXPECT_EQ(NVML(nvmlDeviceGetProcessesUtilizationInfo)(device(1), &info),
              NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    info.version = nvmlProcessesUtilizationInfo_v1;
    ASSERT_EQ(NVML(nvmlDeviceGetProcessesUtilizationInfo)(device(1), &info), NVML_SUCCESS);
    EXPECT_EQ(info.processSamplesCount, 2U);
    ::kill(static_cast<pid_t>(busy.pid()), SIGKILL);
}

TEST_F(UtilizationTest, samples_are_the_history_of_the_last_second) {
    Worker worker;
    make_busy(worker);
    EXPECT_TRUE(becomes_true([&] { return rates(device(1)).gpu >= 90; }));
    nvmlValueType_t type{};
    unsigned int count = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count,
                                         nullptr),
              NVML_SUCCESS);
    EXPECT_EQ(type, NVML_VALUE_TYPE_UNSIGNED_INT);
    ASSERT_GE(count, 10U);
    std::vector<nvmlSample_t> samples(count);
    ASSERT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count,
                                         samples.data()),
              NVML_SUCCESS);
    EXPECT_EQ(count, samples.size());
    EXPECT_GE(samples.back().sampleValue.uiVal, 90U);
    EXPECT_TRUE(std::ranges::is_sorted(samples, {}, &nvmlSample_t::timeStamp));
    // Only what is newer than the last but one.
    const unsigned long long seen = samples[count - 3].timeStamp;
    unsigned int newer = count;
    ASSERT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_GPU_UTILIZATION_SAMPLES, seen, &type,
                                         &newer, samples.data()),
              NVML_SUCCESS);
    EXPECT_LT(newer, count);
    EXPECT_GT(samples[0].timeStamp, seen);
    EXPECT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_GPU_UTILIZATION_SAMPLES, ~0ULL, &type,
                                         &count, samples.data()),
              NVML_ERROR_NOT_FOUND);
    EXPECT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_TOTAL_POWER_SAMPLES, 0, &type, &count,
                                         samples.data()),
              NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(NVML(nvmlDeviceGetSamples)(device(1), NVML_SAMPLINGTYPE_COUNT, 0, &type, &count,
                                         samples.data()),
              NVML_ERROR_INVALID_ARGUMENT);
    ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
}

TEST_F(UtilizationTest, an_idle_device_says_so) {
    unsigned long long reasons = 0;
    ASSERT_EQ(NVML(nvmlDeviceGetCurrentClocksEventReasons)(device(1), &reasons), NVML_SUCCESS);
    EXPECT_EQ(reasons, nvmlClocksEventReasonGpuIdle);
    Worker worker;
    make_busy(worker);
    EXPECT_TRUE(becomes_true([&] {
        EXPECT_EQ(NVML(nvmlDeviceGetCurrentClocksThrottleReasons)(device(1), &reasons),
                  NVML_SUCCESS);
        return reasons == nvmlClocksEventReasonNone;
    }));
    ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
}

TEST_F(UtilizationTest, copies_are_traffic_and_use_memory) {
    Worker worker;
    ASSERT_EQ(worker.run("use 0"), 0);
    ASSERT_EQ(worker.run("allocate " + std::to_string(32 * MIB)), 0);
    ASSERT_EQ(worker.run("copy " + std::to_string(32 * MIB)), 0);
    EXPECT_GE(rates(device(0)).memory, 1U);
    nvmlFieldValue_t fields[2]{};
    fields[0].fieldId = NVML_FI_DEV_PCIE_COUNT_TX_BYTES;
    fields[1].fieldId = NVML_FI_DEV_PCIE_COUNT_RX_BYTES;
    ASSERT_EQ(NVML(nvmlDeviceGetFieldValues)(device(0), 2, fields), NVML_SUCCESS);
    for (const nvmlFieldValue_t& field : fields) {
        EXPECT_EQ(field.nvmlReturn, NVML_SUCCESS);
        EXPECT_EQ(field.value.ullVal, 32 * MIB);
    }
    unsigned int throughput = 99;
    ASSERT_EQ(NVML(nvmlDeviceGetPcieThroughput)(device(0), NVML_PCIE_UTIL_TX_BYTES, &throughput),
              NVML_SUCCESS);
    EXPECT_EQ(throughput, 0U) << "nothing is copied now";
    for (int copy = 0; copy < 40; ++copy) {
        worker.send("copy " + std::to_string(32 * MIB));
    }
    EXPECT_TRUE(becomes_true([&] {
        EXPECT_EQ(
            NVML(nvmlDeviceGetPcieThroughput)(device(0), NVML_PCIE_UTIL_RX_BYTES, &throughput),
            NVML_SUCCESS);
        return throughput > 0;
    }));
    EXPECT_EQ(NVML(nvmlDeviceGetPcieThroughput)(device(0), NVML_PCIE_UTIL_COUNT, &throughput),
              NVML_ERROR_INVALID_ARGUMENT);
    ::kill(static_cast<pid_t>(worker.pid()), SIGKILL);
}

} // namespace cuprum::nvml::test
