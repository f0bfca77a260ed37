# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Spread kernels over the workers of a Dask cluster, each with a GPU or emulated device of its own.

Here the cluster is three processes on this machine. For many machines, connect `Client` to their
scheduler: the functions stay the same. Code is compiled once, on the client.

python dask_cluster.py [PICTURE.png]
"""

import logging
import sys
import tempfile
from urllib.parse import urlsplit

from cluster_work import (
    BANDS,
    check,
    choose_device,
    coloured,
    compile_bands,
    run_band,
    run_power,
)
from dask.distributed import Client, Nanny, SpecCluster
from distributed import Scheduler

WORKERS = 3
HOST = "127.0.0.1"


def make_cluster():
    """Return a cluster whose workers see one device each.

    Workers run what they receive, so no other machine may reach them. A cluster of many machines
    needs the certificates of Dask's `Security`.
    """
    options = {"host": HOST, "nthreads": 1, "dashboard": False}
    workers = {
        number: {"cls": Nanny, "options": {**options, "env": choose_device(number)}}
        for number in range(WORKERS)
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "host": HOST}}
    return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.ERROR)


def main():
    with make_cluster() as cluster, Client(cluster) as client:
        client.wait_for_workers(WORKERS)
        for address, worker in client.scheduler_info(n_workers=-1)["workers"].items():
            assert {urlsplit(each).hostname for each in (address, worker["nanny"])} == {HOST}
        # One copy of the code goes to each worker, and stays there for all tasks.
        code = client.scatter(compile_bands(), broadcast=True)
        futures = client.map(run_band, [code] * len(BANDS), BANDS, pure=False)
        picture, owners = check(client.gather(futures))
        print(f"{len(BANDS)} tasks on {owners.max() + 1} of {WORKERS} workers, compiled once")

        with tempfile.TemporaryDirectory() as folder:
            exponents = [2, 3, 5] * 8
            futures = client.map(
                run_power, [folder] * len(exponents), exponents, [1.5] * len(exponents), pure=False
            )
            assert client.gather(futures) == [1.5**exponent for exponent in exponents]
            from cuprum.utils import FileStreamProgramCache

            entries = len(FileStreamProgramCache(folder))
            assert entries == 3
            print(f"{len(exponents)} tasks with three variants left {entries} entries in the cache")
    if len(sys.argv) > 1:
        from pictures import write_png

        write_png(sys.argv[1], coloured(picture, owners))


if __name__ == "__main__":
    main()
