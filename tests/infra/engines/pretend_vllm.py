"""Stands in for vLLM in the tests of its supervisor: its addresses and metrics, none of its models.

Run as ``pretend_vllm.py STATE_FOLDER --port=N``. Files in the folder steer it: ``die_at_start`` ends it before it
answers; ``die_at_once`` in the midst of an answer; ``stall`` has it report a request in hand and no token moved,
``/health`` fine. It adds its pid to ``started``.
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    state = Path(sys.argv[1])
    port = int(next(each for each in sys.argv if each.startswith("--port=")).partition("=")[2])
    with (state / "started").open("a") as started:
        started.write(f"{os.getpid()}\n")
    if (state / "die_at_start").exists():
        sys.exit(7)
    served = 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            nonlocal served
            served += 1
            stalled = (state / "stall").exists()
            lines = [
                "# TYPE vllm:num_requests_running gauge",
                f'vllm:num_requests_running{{engine="0"}} {int(stalled)}',
                "# TYPE vllm:generation_tokens counter",
                f'vllm:generation_tokens_total{{engine="0"}} {0 if stalled else served}',
                "# TYPE vllm:request_success counter",
                f'vllm:request_success_total{{finished_reason="stop"}} {0 if stalled else served}',
            ]
            self.send_response(200)
            if (state / "die_at_once").exists():
                (state / "die_at_once").unlink()
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b"vllm:num_requests_runn")
                self.wfile.flush()
                os._exit(7)
            self.end_headers()
            self.wfile.write(("\n".join(lines) + "\n").encode())

        def log_message(self, format: str, *args: object) -> None:
            return

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
