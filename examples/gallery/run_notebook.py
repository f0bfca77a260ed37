# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Run a notebook in place, so that it is stored with its output.

python run_notebook.py NOTEBOOK.ipynb [TIMELINE.svg]    also keep the timeline that it shows
"""

import sys
from pathlib import Path

import nbclient
import nbformat


def main():
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell ran: it would differ every time
    nbformat.write(notebook, path)
    if len(sys.argv) > 2:
        outputs = (output for cell in notebook.cells for output in cell.get("outputs", []))
        pages = (output.get("data", {}).get("text/html", "") for output in outputs)
        timeline = next(page for page in pages if page.startswith("<svg "))
        Path(sys.argv[2]).write_text(timeline.split("<details>")[0] + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
