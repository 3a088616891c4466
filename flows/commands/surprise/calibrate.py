"""``privasis surprise calibrate``: a frozen policy, its figures, and a picture of the trade-off."""

import json
import sys
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text
from typer import Exit

from flows.commands.errors import Code
from flows.commands.surprise.opening import material_for, open_labelled, report_of
from flows.commands.surprise.wanted import Wanted
from flows.config import ConfigError
from infra.shards import files
from infra.shards.location import Location
from tasks.surprise.calibrate import Point
from tasks.surprise.evaluation.calibration import Calibration, calibrated
from tasks.surprise.evaluation.material import combined, conditioning_of
from tasks.surprise.evaluation.terminal import render_calibration
from tasks.surprise.pictures import curves


def run(folder: Location, output: Path, labels: Path | None, wanted: Wanted, as_json: bool) -> None:
    """Calibrate on the scores in ``folder``, write the policy to ``output``, its figures and picture beside it.

    Raises:
        ConfigError: an option is misspelled, or the scores are not what it needs.
        Exit: there is no acceptable point; the reason was printed, and no policy written.
    """
    if output.suffix != ".json":  # or the picture or the report, named after it, could be written over it
        raise ConfigError(
            f"--output {output}: a policy is JSON: name it {output.with_suffix('.json').name}, for instance"
        )
    setting = wanted.setting()
    readings = wanted.readings() or (setting.reading,)
    data = open_labelled(folder, labels, whole_groups=setting.procedure.propagation is not None)
    try:
        conditioning = conditioning_of(data.first, readings)
        procedure = setting.procedure
        if wanted.features:
            procedure = combined(procedure, wanted.features, (piece.scored for piece in data), conditioning)
        corpus = data.materials(partial(material_for, procedure, conditioning))
        found = calibrated(corpus, procedure, setting.unit, setting.goal, data.first.reference, conditioning)
    except ConfigError:  # names its file already
        raise
    except ValueError as error:
        raise ConfigError(f"{folder}: {error}") from error
    _write(found, output)
    if as_json:
        sys.stdout.write(f"{json.dumps(found.json(), indent=2, allow_nan=False)}\n")
    else:
        _print(found, output)
    if found.policy is None:
        raise Exit(Code.USAGE)


def _write(found: Calibration, output: Path) -> None:
    if found.policy is not None:
        files.put(output, f"{found.policy.to_json()}\n".encode())
    files.put(report_of(output), f"{json.dumps(found.json(), indent=2, allow_nan=False)}\n".encode())
    if found.scores is not None and found.curve.targets and found.curve.others:
        chosen = found.chosen if isinstance(found.chosen, Point) else None
        picture = curves.calibration(found.curve, found.scores, found.operating, chosen, found.procedure.rule)
        files.put(output.with_suffix(".png"), picture)


def _print(found: Calibration, output: Path) -> None:
    console = Console()
    console.print(render_calibration(found))
    written = [output.with_suffix(".png"), report_of(output)]
    if found.policy is not None:
        written.insert(0, output)
    names = ", ".join(str(path) for path in written if path.exists())
    console.print(Text(f"\nWritten: {names}"), soft_wrap=True)
    if found.policy is None and output.exists():
        console.print(Text(f"{output} is of an earlier calibration, and stays as it was."), soft_wrap=True)
