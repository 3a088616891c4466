import pytest

from flows.commands.surprise.methods import Surroundings, method_of
from tasks.surprise.evaluation.notation import Misspelled

AROUND = Surroundings([])


@pytest.mark.parametrize(
    "name", ["oracle:2", "credsweeper:fast", "detect-secrets:all", "gitleaks", "stm:much", "random"]
)
def test_what_no_method_is_called_is_refused_with_what_there_is(name: str) -> None:
    with pytest.raises(Misspelled, match=f"--method {name}"):
        method_of(name, AROUND)


def test_an_argument_reaches_its_method() -> None:
    assert method_of("goldfish:4", AROUND).name == "Goldfish k=4"
    assert method_of("oracle | goldfish-reference", AROUND).name == "oracle + Goldfish (reference) k=3"


def test_presidio_takes_the_spacy_model_that_is_named() -> None:
    pytest.importorskip("presidio_analyzer", reason="needs the extra `presidio`")
    from infra.engines.models import ModelMissing

    with pytest.raises(ModelMissing, match="spaCy model nobody is not installed"):
        method_of("presidio:nobody", AROUND)
