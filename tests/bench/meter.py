"""Run a command and print what it cost, as JSON, on the last line of stdout.

    python meter.py COMMAND...

A process of its own, for a child counts as its own the memory of the process that it was forked from.
"""

import json
import os
import sys
import time


def main() -> None:
    """Wall and CPU seconds of the command and all its children, and the most memory that one of them held."""
    begin = time.perf_counter()
    child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - begin
    unit = 1 if sys.platform == "darwin" else 1024
    cost = {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * unit}
    print("\n" + json.dumps(cost | {"code": os.waitstatus_to_exitcode(status)}))


if __name__ == "__main__":
    main()
