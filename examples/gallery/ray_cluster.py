# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Spread kernels over the actors of a Ray cluster, each with a GPU or emulated device of its own.

Here the cluster is this machine. For many machines, pass their address to `ray.init`. Code is
compiled once, on the client, and travels to the actors through Ray's object store.

python ray_cluster.py [PICTURE.png]
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import ray
from cluster_work import (
    BANDS,
    check,
    choose_device,
    coloured,
    compile_bands,
    run_band,
    run_power,
)

WORKERS = 3


@ray.remote(num_cpus=0)
class Worker:
    """A process with a device of its own."""

    def bands(self, code, numbers):
        return [run_band(code, number) for number in numbers]

    def power(self, folder, exponent, value):
        return run_power(folder, exponent, value)


def make_workers():
    here = str(Path(__file__).resolve().parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
    return [
        Worker.options(
            runtime_env={"env_vars": {**choose_device(number), "PYTHONPATH": path}}
        ).remote()
        for number in range(WORKERS)
    ]


def main():
    # Workers run what they receive, so no other machine may reach them. Ray's own folder for
    # sockets and logs must have a short name.
    session = tempfile.mkdtemp(prefix="ray")
    ray.init(
        num_cpus=WORKERS,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        _temp_dir=session,
    )
    try:
        workers = make_workers()
        code = ray.put(compile_bands())
        parts = [
            worker.bands.remote(code, BANDS[number::WORKERS])
            for number, worker in enumerate(workers)
        ]
        picture, owners = check([result for part in ray.get(parts) for result in part])
        assert owners.max() + 1 == WORKERS
        print(f"{len(BANDS)} tasks on {WORKERS} workers, compiled once")

        with tempfile.TemporaryDirectory() as folder:
            exponents = [2, 3, 5] * 4
            values = ray.get(
                [
                    workers[number % WORKERS].power.remote(folder, exponent, 1.5)
                    for number, exponent in enumerate(exponents)
                ]
            )
            assert values == [1.5**exponent for exponent in exponents]
            from cuprum.utils import FileStreamProgramCache

            entries = len(FileStreamProgramCache(folder))
            assert entries == 3
            print(f"{len(exponents)} tasks with three variants left {entries} entries in the cache")
    finally:
        ray.shutdown()
        shutil.rmtree(session, ignore_errors=True)
    if len(sys.argv) > 1:
        from pictures import write_png

        write_png(sys.argv[1], coloured(picture, owners))


if __name__ == "__main__":
    main()
