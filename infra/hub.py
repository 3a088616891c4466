"""The hub, as far as a data set is put there. ``HF_TOKEN`` says who does it; its library reads ``HF_ENDPOINT``."""

import os
from pathlib import Path

from infra.packages import PackageMissing

TOKEN = "HF_TOKEN"


class HubRefused(OSError):
    """The hub did not take a data set, or could not be asked to."""


def token() -> str:
    """Read the token from the environment.

    Raises:
        HubRefused: there is none.
    """
    found = os.environ.get(TOKEN, "").strip()
    if not found:
        raise HubRefused(f"set the environment variable {TOKEN} to a token of the hub that may write to the repository")
    return found


def push(folder: Path, repo: str, *, message: str, private: bool) -> str:
    """Upload ``folder`` as the whole content of the data set ``repo``, which is made if need be; return its address.

    Files of an earlier upload that are not in ``folder`` are removed in the same commit.

    Raises:
        HubRefused: there is no token, the hub says no, or nobody answers; the message has the reason.
        PackageMissing: ``huggingface_hub`` is not installed.
    """
    try:
        from httpx2 import HTTPError  # the client of huggingface_hub, which lets its errors through
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled
    except ModuleNotFoundError as error:
        raise PackageMissing("package huggingface_hub is not installed: run `pip install huggingface_hub`") from error
    api = HfApi(token=token(), library_name="privasis-factory")
    try:
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        api.upload_folder(
            repo_id=repo,
            folder_path=folder,
            repo_type="dataset",
            commit_message=message,
            delete_patterns=["data/*"],
        )
    except (HfHubHTTPError, OfflineModeIsEnabled, ValueError) as error:
        raise HubRefused(f"{repo}: {api.endpoint} does not take it: {_first_line(error)}") from error
    except HTTPError as error:
        raise HubRefused(f"{repo}: {api.endpoint} does not answer: {_first_line(error)}. Try again") from error
    return f"{api.endpoint}/datasets/{repo}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
