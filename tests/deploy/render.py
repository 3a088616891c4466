"""Render the chart with each file of ``deploy/k8s/values``, by Helm itself: ``python tests/deploy/render.py FOLDER``.

Run by the interpreter of ``make setup-deploy``; imports nothing of ours. Secrets, made by chance, are left out.
"""

import sys
from pathlib import Path

import helm_python as helm
import yaml

K8S = Path(__file__).parents[2] / "deploy" / "k8s"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for values in sorted((K8S / "values").glob("*.yaml")):
        with helm.Chart.load(str(K8S / "chart")) as chart:
            files = chart.render(yaml.safe_load(values.read_text()), name="demo", namespace="privasis")
        objects = [
            each for name, text in sorted(files.items()) if name.endswith(".yaml") for each in yaml.safe_load_all(text)
        ]
        shown = [each for each in objects if each and each["kind"] != "Secret"]
        (folder / values.name).write_text(
            f"# Rendered from values/{values.name} by `make render`, to be read; install the chart, not this.\n"
            + yaml.safe_dump_all(shown, sort_keys=False, width=120)
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
