"""Runs $TEST_SCRIPT at a terminal of its own and plays the user.

$TEST_DIALOGUE is a JSON list of [prompt, answer]. An answer is typed once its prompt was printed after the answer before.
What the terminal showed goes to standard output; the exit status is the script's, 128 + n after signal n.
"""

import json
import os
import pty
import select
import signal
import sys

dialogue = json.loads(os.environ.pop("TEST_DIALOGUE"))
script = os.environ.pop("TEST_SCRIPT")

child, terminal = pty.fork()
if child == 0:
    os.environ.pop("TEST_DRIVER")
    # A terminal's own program is not deaf to Ctrl-C, as what a background job or a thread of the test runner starts is.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.execv("/bin/bash", ["bash", "-c", script])

shown = b""
searched = 0
while True:
    readable, _, _ = select.select([terminal], [], [], 30)
    if not readable:
        sys.exit(f"no answer from the script; the terminal shows {shown!r}")
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # EIO: the last one closed the terminal
        break
    if not piece:
        break
    shown += piece
    while dialogue and (found := shown.find(dialogue[0][0].encode(), searched)) >= 0:
        searched = found + len(dialogue[0][0])
        os.write(terminal, dialogue.pop(0)[1].encode())

sys.stdout.buffer.write(shown)
sys.stdout.flush()
if dialogue:
    sys.exit(f"never asked: {dialogue[0][0]}")
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
