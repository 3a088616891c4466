"""Personal information by Microsoft's Presidio (MIT): its recognizers with a spaCy model for names and places."""

from collections.abc import Sequence
from pathlib import Path

import spacy.util
import tldextract.tldextract
from presidio_analyzer import AnalyzerEngine, BatchAnalyzerEngine
from presidio_analyzer.nlp_engine import SpacyNlpEngine

from infra.detectors.places import Span
from infra.engines.models import ModelMissing

SPACY_MODEL = "en_core_web_lg"  # Presidio's own choice


def check_model(model: str) -> None:
    """Make sure that a spaCy model is here: an installed package of this name, or a folder.

    Raises:
        ModelMissing: it is not, and Presidio would fetch it by itself.
    """
    if not spacy.util.is_package(model) and not Path(model).is_dir():
        raise ModelMissing(
            f"spaCy model {model} is not installed, and Presidio would fetch it by itself: install the wheel of that"
            " model, or name one that is there or its folder, as in `--method presidio:FOLDER`"
        )


class Presidio:
    """The analyzer for one language; whatever it recognizes with at least ``score`` is a span."""

    name = "Presidio"

    def __init__(self, model: str = SPACY_MODEL, *, language: str = "en", score: float = 0.0) -> None:
        """Load a spaCy model, installed as a package of this name or in this folder; it is never fetched.

        Raises:
            ModelMissing: there is none.
        """
        check_model(model)
        # Its check of mail addresses reads the list of top-level domains that the package carries, and asks nobody.
        tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls = ()
        engine = SpacyNlpEngine(models=[{"lang_code": language, "model_name": model}])
        analyzer = AnalyzerEngine(
            nlp_engine=engine, supported_languages=[language], default_score_threshold=score, log_decision_process=False
        )
        self._language = language
        self._analyzer = BatchAnalyzerEngine(analyzer_engine=analyzer)

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[Span]]:
        """Find personal information.

        Args:
            texts: R texts.
            paths: not looked at.

        Returns:
            Spans of each text, in any order; they may overlap.
        """
        found = self._analyzer.analyze_iterator(list(texts), language=self._language)
        return [[(result.start, result.end) for result in row] for row in found]
