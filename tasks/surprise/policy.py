"""A frozen policy: the procedure, its threshold, and what it was made from, as versioned JSON."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.surprise.bound import Bound, generation_bound
from tasks.surprise.calibrate import Goal, Point
from tasks.surprise.curve import Curve
from tasks.surprise.metrics import Counts
from tasks.surprise.procedure import Batch, Procedure
from tasks.surprise.rows import Bool
from tasks.surprise.rules import LocalRule

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Unit = Literal["token", "character", "line", "sentence", "segment", "completion"]
VERSION: Literal[1] = 1


class PolicyMismatch(ValueError):
    """The policy cannot be used: another version, or another model or tokenizer than it was calibrated with."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Reference(_Part):
    """The model whose scores the threshold is a threshold of."""

    model: str = Field(min_length=1, description="name, or path and hash, of the reference model with its revision")
    tokenizer_sha256: Sha256 = Field(description="hash of its tokenizer file")


class Unprompted(_Part):
    """The text alone."""

    kind: Literal["unprompted"] = "unprompted"


class Prompted(_Part):
    """The text after a prompt that describes what is wanted."""

    kind: Literal["prompted"] = "prompted"
    prompt: str = Field(min_length=1)


class Contrasted(_Part):
    """The text after each of two prompts; the score is the difference."""

    kind: Literal["contrast"] = "contrast"
    violating: str = Field(min_length=1)
    compliant: str = Field(min_length=1)


Conditioning = Annotated[Unprompted | Prompted | Contrasted, Field(discriminator="kind")]


class Achieved(_Part):
    """What the policy did on the validation data."""

    unit: Unit = Field(description="what was counted")
    counts: Counts
    recall: float = Field(description="share of the targets masked, TPR")
    collateral: float = Field(description="share of the other units masked, FPR")
    f1: float
    mask_everything_f1: float = Field(description="F1 of masking every unit, to compare with")
    auroc: float = Field(description="over those units, through the complete procedure")

    @classmethod
    def at(cls, point: Point, curve: Curve, unit: Unit) -> Self:
        """Describe a calibrated point of a validation curve."""
        counts = point.counts
        return cls(
            unit=unit,
            counts=counts,
            recall=counts.true_positives / counts.targets,
            collateral=counts.false_positives / counts.others,
            f1=2 * counts.true_positives / (counts.true_positives + counts.false_positives + counts.targets),
            mask_everything_f1=2 * counts.targets / (2 * counts.targets + counts.others),
            auroc=curve.auroc,
        )


class Policy(_Part):
    """Everything that a mask depends on, and where the threshold comes from."""

    version: Literal[1] = VERSION
    reference: Reference
    conditioning: Conditioning = Unprompted()
    procedure: Procedure
    threshold: float = Field(description="tau in nats (Global) or r_max in percent (Local)")
    goal: Goal = Field(description="what the threshold was chosen for")
    validation_sha256: Sha256 = Field(description="hash of the labelled validation data")
    achieved: Achieved

    @model_validator(mode="after")
    def _threshold_fits_the_rule(self) -> Self:
        if isinstance(self.procedure.rule, LocalRule) and self.threshold > 100.0:
            raise ValueError(f"r_max {self.threshold} is a percentage of at most 100")
        return self

    def to_json(self) -> str:
        """Write the policy; ``from_json`` gives back the same one, the threshold bit for bit."""
        return self.model_dump_json(indent=2)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a policy.

        Raises:
            PolicyMismatch: it is of another version.
            ValidationError: it is no policy.
        """
        version = _Versioned.model_validate_json(text).version
        if version != VERSION:
            raise PolicyMismatch(
                f"policy of version {version}, this release reads version {VERSION}: calibrate again, or use the"
                " release that wrote it"
            )
        return cls.model_validate_json(text)

    def check(self, scored_with: Reference) -> None:
        """Refuse scores of another model or tokenizer: a threshold means nothing to them.

        Raises:
            PolicyMismatch: ``scored_with`` is not the policy's reference.
        """
        if scored_with != self.reference:
            raise PolicyMismatch(
                f"the policy was calibrated with {self.reference}, the scores are of {scored_with}: score with the"
                " policy's model, or calibrate for this one"
            )

    def mask(self, batch: Batch) -> Bool:
        """Mask the tokens of a batch, shape (N,); errors as of ``Procedure.mask``."""
        return self.procedure.mask(batch, self.threshold)

    def bound(self, span_tokens: int) -> Bound:
        """Bound the probability of an unmasked span; arguments and errors as of ``generation_bound``."""
        unprompted = isinstance(self.conditioning, Unprompted)
        return generation_bound(self.procedure, self.threshold, span_tokens, unprompted=unprompted)


class _Versioned(BaseModel):
    version: int
