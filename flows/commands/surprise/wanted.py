"""What a person asks of a calibration on the command line, and the setting it comes to."""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from flows.config import ConfigError
from tasks.surprise.evaluation.features import reading_of
from tasks.surprise.evaluation.notation import Misspelled, Reading, goal_of, rule_of, score_of, unit_of, windows_of
from tasks.surprise.evaluation.presets import PRESETS, Setting
from tasks.surprise.procedure import FixedWindows, Procedure, Propagation
from tasks.surprise.rules import GlobalRule

_DEFAULT = Setting(
    "plain",
    Procedure(windows=FixedWindows(width=4), rule=GlobalRule()),
    "character",
    goal_of(None, False, None),
    "windows of four tokens, one threshold",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options of ``calibrate``; None where nothing was said."""

    preset: str | None = None
    windows: str | None = None
    score: str | None = None
    features: tuple[str, ...] = ()
    rule: str | None = None
    consensus: int | None = None
    propagate: int | None = None
    unit: str | None = None
    recall: float | None = None
    best_f1: bool = False
    collateral_cap: float | None = None

    def setting(self) -> Setting:
        """Lay what was asked for over the preset, or over windows of four tokens and one threshold.

        Raises:
            ConfigError: something is misspelled, or does not go together.
        """
        base = _preset(self.preset)
        try:
            reading, procedure = self._procedure(base)
            return Setting(
                reading,
                procedure,
                base.unit if self.unit is None else unit_of(self.unit),
                self._goal(base),
                base.about,
            )
        except Misspelled as error:
            raise ConfigError(str(error)) from error
        except ValidationError as error:
            faults = "; ".join(each["msg"] for each in error.errors(include_url=False, include_input=False))
            raise ConfigError(f"these options do not go together: {faults}") from error

    def readings(self) -> tuple[Reading, ...]:
        """The scores that the features read; empty where there are none.

        Raises:
            ConfigError: a feature is misspelled, or stands beside a score.
        """
        if self.features and self.score is not None:
            raise ConfigError("--feature averages scores, so --score has nothing to say: leave one of them out")
        try:
            return tuple(reading_of(name) for name in self.features)
        except Misspelled as error:
            raise ConfigError(str(error)) from error

    def _procedure(self, base: Setting) -> tuple[Reading, Procedure]:
        parts: dict[str, Any] = dict(base.procedure)
        reading = base.reading
        if self.windows is not None:
            parts["windows"] = windows_of(self.windows)
        if self.score is not None:
            choice = score_of(self.score)
            reading, parts["score"] = choice.reading, choice.kind
        if self.rule is not None:
            parts["rule"] = rule_of(self.rule)
        if self.consensus is not None:
            parts["consensus"] = self.consensus
        if self.propagate is not None:
            parts["propagation"] = Propagation(width=self.propagate) if self.propagate else None
        return reading, Procedure(**parts)

    def _goal(self, base: Setting) -> Any:  # noqa: ANN401 - one of three models
        if self.recall is None and not self.best_f1 and self.collateral_cap is None:
            return base.goal
        return goal_of(self.recall, self.best_f1, self.collateral_cap)


def _preset(name: str | None) -> Setting:
    if name is None:
        return _DEFAULT
    if name not in PRESETS:
        listed = "\n".join(f"  {known}: {setting.about}" for known, setting in PRESETS.items())
        raise ConfigError(f"--preset {name}: there are\n{listed}")
    return PRESETS[name]
