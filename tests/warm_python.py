"""Stands in for an environment's Python: `python -I -c PROGRAM …` is forked from the warm process at ADDRESS.

It waits for its child, hands signals on to it, and ends as it ends. Anything else is done by the real one.
"""

import json
import os
import signal
import socket
import struct
import sys

ADDRESS, REAL, *WORDS = sys.argv[1:]
NUMBER = struct.Struct("!i")

if WORDS[:2] != ["-I", "-c"] or os.environ.get("LANG") != "C.UTF-8":
    os.execv(REAL, [REAL, *WORDS])
ORDER = {
    "program": WORDS[2], "words": WORDS[3:], "env": {**os.environ}, "leads": False, "isolated": True,
    "cwd": os.getcwd(),  # noqa: PTH109 (pathlib would take longer than all the rest)
}  # fmt: skip
text = json.dumps(ORDER).encode()
line = socket.socket(socket.AF_UNIX)
line.connect(ADDRESS)
socket.send_fds(line, [NUMBER.pack(len(text))], [0, 1, 2])
line.sendall(text)
(child,) = NUMBER.unpack(line.recv(NUMBER.size, socket.MSG_WAITALL))
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: os.kill(child, number))
(status,) = NUMBER.unpack(line.recv(NUMBER.size, socket.MSG_WAITALL))
code = os.waitstatus_to_exitcode(status)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)
sys.exit(code)
