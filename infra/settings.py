"""What the environment decides: addresses, secrets, folders. Read here and nowhere else."""

from functools import lru_cache
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Environment variables ``PRIVASIS_*``; none is needed on a laptop."""

    model_config = SettingsConfigDict(env_prefix="PRIVASIS_", frozen=True)

    cache: Path = Field(default=Path.home() / ".cache" / "privasis", description="assembled model files live here")
    scratch: Path | None = Field(
        default=None, description="what an object store does not have yet; else a folder of the cache"
    )
    ray_address: str | None = Field(default=None, description="an existing Ray cluster; none starts a local one")
    home: Path = Field(
        default=Path.home() / ".local" / "share" / "privasis", description="the local stack: database, secrets, logs"
    )
    database_url: SecretStr | None = Field(default=None, description="PostgreSQL for the stack's Prefect server")
    root: str = Field(
        default="data", description="folder of the data sets, for runs of deployments that do not say another"
    )
    run_files: Path = Field(
        default=Path("deploy/runs"), description="folder of the run files that deployments may name"
    )
    metrics_port: int = Field(default=0, ge=0, le=65535, description="where a run answers Prometheus; 0 takes any free")

    @property
    def scratch_folder(self) -> Path:
        """Where this machine keeps journals before an object store has all of them."""
        return self.scratch or self.cache / "journals"


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings, read once per process."""
    return Settings()
