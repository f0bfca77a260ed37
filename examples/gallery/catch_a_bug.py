# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Find a bug that a GPU hides: a sum over a block that lacks one barrier.

On many GPUs this kernel returns the right sum, because the warps happen to run in a good order. The
emulated device checks every access, and names the two lines that race.

python catch_a_bug.py [PICTURE.svg]
"""

import os
import subprocess
import sys
from pathlib import Path

THREADS = 256
SOURCE = """\
extern "C" __global__ void sum(const int* values, int* result) {
    __shared__ int partial[256];
    const int thread = threadIdx.x;
    partial[thread] = values[thread];
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (thread < stride) {
            partial[thread] += partial[thread + stride];
        }
        BARRIER
    }
    if (thread == 0) *result = partial[0];
}
"""


def run(barrier):
    """Compile the kernel, run it and return the sum of the numbers from 0 to 255."""
    import numpy as np

    import cuprum

    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    options = cuprum.ProgramOptions(name="sum.cu", lineinfo=True)
    program = cuprum.Program(SOURCE.replace("BARRIER", barrier), "c++", options)
    kernel = program.compile("ptx").get_kernel("sum")
    values = np.arange(THREADS, dtype=np.int32)
    result = np.zeros(1, dtype=np.int32)
    source = device.allocate(values.nbytes, stream=stream)
    target = device.allocate(result.nbytes, stream=stream)
    source.copy_from_host(values, stream=stream)
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=THREADS), kernel, source, target)
    target.copy_to_host(result, stream=stream)
    stream.sync()
    return int(result[0])


def run_checked(barrier):
    """Run the kernel in a process of its own, with all checks."""
    environment = {
        **os.environ,
        "CUPRUM_DRIVER": "emulated",
        "CUPRUM_EMULATOR_CHECK": "all",
    }
    return subprocess.run(
        [sys.executable, __file__, "--run", barrier],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def report_in(text):
    """Return the first report of the emulated device, with paths from this folder on."""
    report = text.split("cuprum emulator: error: ", 1)[1].split("\nTraceback", 1)[0]
    for folder in (Path(__file__).resolve().parent, Path.cwd()):
        report = report.replace(f"{folder}/", "")
    return report


def main():
    if sys.argv[1:2] == ["--run"]:
        print("the sum is", run(sys.argv[2]))
        return
    buggy = run_checked("")  # a barrier is missing
    report = report_in(buggy.stderr)
    print("without the barrier:\n", report, sep="")
    assert buggy.returncode != 0
    assert report.startswith("race:")
    assert report.count("sum.cu:8") == 2  # the line that reads, and the line that writes

    fixed = run_checked("__syncthreads();")
    print("with the barrier:", fixed.stdout.strip())
    assert fixed.returncode == 0, fixed.stderr
    assert fixed.stdout.strip() == f"the sum is {sum(range(THREADS))}"

    if len(sys.argv) > 1:
        from pictures import write_terminal

        command = (
            "$ CUPRUM_DRIVER=emulated CUPRUM_EMULATOR_CHECK=all python catch_a_bug.py --run ''\n"
        )
        write_terminal(sys.argv[1], command + report, marks=["sum.cu", "race:"])


if __name__ == "__main__":
    main()
