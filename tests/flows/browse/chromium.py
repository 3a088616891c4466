"""A headless Chromium, driven by its own protocol: enough of it to press keys, look at a page and take its picture."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MISSING = "no Chromium here: `apt-get install chromium`"
PATIENCE_S = 180  # for a page: how long it takes says how busy the machine is
_CODES = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39, "Tab": 9}


@dataclass
class Tab:
    """One page.

    Attributes:
        said: what the page has said on its console, errors among them.
    """

    socket: ClientConnection
    said: list[str] = field(default_factory=list)
    _asked: int = 0
    _loaded: list[str] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser and wait for its answer."""
        self._asked += 1
        self.socket.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE_S))
            self._note(message)
            if message.get("id") == self._asked:
                assert "error" not in message, message["error"]
                return dict(message["result"])

    def go(self, address: str) -> None:
        """Open an address and wait until it is there."""
        loader = self.call("Page.navigate", url=address)["loaderId"]
        while loader not in self._loaded:
            self._note(json.loads(self.socket.recv(timeout=PATIENCE_S)))

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Wait, after what leads to another page, until that is there."""
        before = len(self._loaded)
        yield
        while len(self._loaded) == before:
            self._note(json.loads(self.socket.recv(timeout=PATIENCE_S)))

    def run(self, script: str) -> Any:
        """Return what a script's last expression is."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str, seconds: float = 20) -> None:
        """Wait until an expression is true."""
        until = time.monotonic() + seconds
        while True:
            found = self.call("Runtime.evaluate", expression=condition, returnByValue=True)
            if found["result"].get("value"):
                return
            assert time.monotonic() < until, f"{condition} never came true at {self.run('location.href')}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press and release a key."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = _CODES.get(key, 0)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        self.call("Input.insertText", text=text)

    def look(self, *, width: int, height: int, dark: bool) -> None:
        """Set the window's size and which theme the system asks for."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save a picture of what is seen, or of the whole page."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(taken["data"]))

    def _note(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Page.lifecycleEvent" if parameters["name"] == "load":
                self._loaded.append(parameters["loaderId"])
            case "Runtime.exceptionThrown":
                self.said.append(str(parameters["exceptionDetails"]))
            case "Log.entryAdded":
                self.said.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
            case "Runtime.consoleAPICalled":
                self.said.append(str([argument.get("value") for argument in parameters["args"]]))


@contextmanager
def chromium(profile: Path) -> Iterator[Tab]:
    """Start a browser with a profile of its own, and end it."""
    assert BROWSER is not None
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0")
    process = subprocess.Popen(
        [BROWSER, *flags, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with connect(_page(profile, process), max_size=None) as socket:
            tab = Tab(socket)
            for domain in ("Page", "Runtime", "Log"):
                tab.call(f"{domain}.enable")
            tab.call("Page.setLifecycleEventsEnabled", enabled=True)
            tab.call("Emulation.setFocusEmulationEnabled", enabled=True)
            yield tab
    finally:
        process.terminate()
        process.wait(20)


def _page(profile: Path, process: "subprocess.Popen[bytes]") -> str:
    """Return the address under which the first page takes commands."""
    import httpx

    told = profile / "DevToolsActivePort"
    until = time.monotonic() + 60
    while not (told.exists() and "\n" in told.read_text()):
        assert process.poll() is None, f"{BROWSER} ended with {process.returncode}"
        assert time.monotonic() < until, "Chromium did not start within a minute"
        time.sleep(0.1)
    port = told.read_text().split("\n")[0]
    while True:
        pages = [page for page in httpx.get(f"http://127.0.0.1:{port}/json").json() if page["type"] == "page"]
        if pages:
            return str(pages[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
