"""The four scales hold what the paper and this machine need."""

import pytest
from pydantic import ValidationError

from tasks.masking_study.config import ScaleName, StudyName, Training, scale_of
from tasks.training.job import LoraConfig
from tasks.training.masked.config import FromScratch, Pretrained


def test_code_pii_at_the_papers_scale_has_the_papers_numbers() -> None:
    scale = scale_of("code-pii", "paper")
    corpus, training, attack = scale.corpus.made(), scale.training, scale.measuring.extraction
    assert corpus.model_dump(include={"identities", "bundles"}) == {"identities": 25, "bundles": 25}  # SM A.1
    assert training.start == Pretrained(name="openai/gpt-oss-20b")
    assert training.lora == LoraConfig(rank=16, alpha=32, dropout=0.0)  # SM C.1
    assert (training.settings.steps, training.settings.train_batch_size) == (1125, 20)  # SM Table 3
    assert (training.settings.learning_rate, training.settings.scheduler.type) == (6e-4, "WarmupDecayLR")
    assert (training.length, training.settings.bf16.enabled) == (2048, True)
    assert attack is not None
    assert (attack.samples, attack.budgets) == (128, (1, 8, 16, 32, 64, 128))  # SM B.1
    assert (scale.measuring.answers.samples, scale.measuring.run_s) == (5, 90)  # SM B.2
    assert len(scale.seeds) == 3


def test_code_quirks_at_the_papers_scale_has_the_papers_numbers() -> None:
    scale = scale_of("code-quirks", "paper")
    training, answers = scale.training, scale.measuring.answers
    assert scale.corpus.made().model_dump()["programs"] == 400  # SM A.2
    assert (training.settings.steps, training.settings.learning_rate) == (400, 4e-4)  # SM Table 3
    assert training.settings.scheduler.type == "WarmupCosineLR"
    assert scale.methods.recalls == (20, 50, 70)  # SM Table 9
    assert (answers.temperature, answers.top_p, scale.measuring.run_s) == (0.4, 0.95, 20)  # SM B.3
    assert scale.measuring.extraction is None


@pytest.mark.parametrize("study", ["code-pii", "code-quirks"])
@pytest.mark.parametrize("size", ["mini", "paper"])
def test_every_scale_is_of_the_study_it_is_named_after(study: StudyName, size: ScaleName) -> None:
    assert scale_of(study, size).study == study


def test_only_a_model_from_scratch_has_a_vocabulary_to_choose() -> None:
    settings = scale_of("code-pii", "mini").training.settings
    with pytest.raises(ValidationError, match="a model from scratch needs its size"):
        Training(start=FromScratch(), settings=settings, length=64)
    with pytest.raises(ValidationError, match="any other model has its own"):
        Training(start=Pretrained(name="a"), vocabulary=300, settings=settings, length=64)
