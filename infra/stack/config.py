"""What a local stack is made of: its folder, its ports, its database."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

LOOPBACK = "127.0.0.1"


class StackConfig(BaseModel):
    """One local stack; secrets are not part of it, see ``infra.stack.folder``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(description="folder of the stack: database, secrets, logs, state")
    project: Path = Field(description="folder that deployments run in: the one that holds `flows`")
    deployments: Path | None = Field(default=None, description="a prefect.yaml whose deployments are registered")
    port: int = Field(default=4200, ge=1, le=65535, description="of the Prefect server")
    ray_port: int = Field(default=6379, ge=1, le=65535, description="of the Ray head")
    ray_dashboard_port: int = Field(default=8265, ge=1, le=65535)
    ray_address: str | None = Field(default=None, description="another cluster's head; then no Ray head is started")
    cpus: int | None = Field(default=None, ge=1, description="CPUs that the Ray head offers; None counts them")
    runs_at_once: int = Field(default=4, ge=1, description="flow runs that the worker has in hand at once")

    @model_validator(mode="after")
    def _has_ports_of_its_own(self) -> Self:
        if len(ports := self.ports()) != len(set(ports.values())):
            raise ValueError(f"two parts on one port: {', '.join(f'{name} {port}' for name, port in ports.items())}")
        return self

    def ports(self) -> dict[str, int]:
        """Return the ports that have to be free, by what listens there."""
        ports = {"the Prefect server": self.port}
        if self.ray_address is None:
            ports |= {"the Ray head": self.ray_port, "the Ray dashboard": self.ray_dashboard_port}
        return ports

    @property
    def url(self) -> str:
        """The Prefect server's pages."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def api_url(self) -> str:
        """The Prefect server's REST API."""
        return f"{self.url}/api"

    @property
    def ray_dashboard_url(self) -> str | None:
        """The pages of our Ray head, if it is ours."""
        return None if self.ray_address else f"http://{LOOPBACK}:{self.ray_dashboard_port}"

    @property
    def ray_head(self) -> str:
        """``host:port`` of the Ray head that runs attach to."""
        return self.ray_address or f"{LOOPBACK}:{self.ray_port}"
