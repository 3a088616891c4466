"""What a report knows of a record set: frozen numbers, no text of any record.

A figure that nothing was there to measure is None, never zero. Shares are fractions of one, costs US dollars.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.diversity.metrics import Spread


@dataclass(frozen=True, slots=True)
class Diversity:
    """The metrics of PV Table 2, 8 and 9 for a set of records.

    Attributes:
        records: how many there are.
        mattr: moving-average type-token ratio, mean over records.
        bigram_diversity: distinct bigrams over bigrams, mean over records.
        entropy_bits: entropy of the word distribution, bits, mean over records.
        cosine: mean pairwise cosine of ``vectors`` embeddings drawn by seed.
        vendi: Vendi score of ``vendi_vectors`` embeddings drawn by seed; never above their number.
        vectors: embeddings behind ``cosine``.
        vendi_vectors: embeddings behind ``vendi``.
        words: mean words a record.
    """

    records: int
    mattr: float | None
    bigram_diversity: float | None
    entropy_bits: float | None
    cosine: float | None
    vendi: float | None
    vectors: int
    vendi_vectors: int
    words: float | None


@dataclass(frozen=True, slots=True)
class Counted:
    """How a count is spread over records.

    Attributes:
        spread: mean, median and 95th percentile; None of nothing.
        values: how many records (or groups) have which count.
    """

    spread: Spread | None
    values: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class RefinementStep:
    """What became of the revisions offered at one step (PV section 2.1.3).

    Attributes:
        step: from 1.
        reached: records that came to this step.
        offered: revisions that were judged; the others of ``reached`` got no usable candidate.
        preferred: how often the judge chose the candidate.
        unparsable: verdicts that could not be read, which count as "keep the current draft".
        accepted: revisions that were taken.
        vendi_gain: mean of Vendi(P + candidate) - Vendi(P + current); None where the run measured none.
    """

    step: int
    reached: int
    offered: int
    preferred: int
    unparsable: int
    accepted: int
    vendi_gain: float | None


@dataclass(frozen=True, slots=True)
class Drop:
    """Rows that did not become records, for one reason."""

    outcome: str
    step: str
    reason: str
    rows: int


@dataclass(frozen=True, slots=True)
class Spending:
    """What one model was asked for and cost, rejected rows included.

    Attributes:
        model: its name.
        records: rows that became records.
        rejects: rows that did not.
        calls: answered calls.
        prompt: prompt tokens, ``cached`` within them.
        cached: prompt tokens the server had in its cache.
        completion: generated tokens, ``reasoning`` within them.
        reasoning: generated tokens of reasoning.
        cost_usd: cost of all rows.
        rejects_cost_usd: the part of it that went into rejected rows.
    """

    model: str
    records: int
    rejects: int
    calls: int
    prompt: int
    cached: int
    completion: int
    reasoning: int
    cost_usd: float
    rejects_cost_usd: float


@dataclass(frozen=True, slots=True)
class Repetition:
    """Many rows, few different ones?

    Attributes:
        distinct_texts: different texts, compared by a hash of all their bytes.
        most_repeated: rows of the most frequent text.
        near_share: share of the drawn embeddings that have a neighbour at ``near_cosine`` or above, copies included;
            None of fewer than two.
        near_cosine: from which cosine two records count as near duplicates.
        vectors: embeddings drawn.
    """

    distinct_texts: int
    most_repeated: int
    near_share: float | None
    near_cosine: float
    vectors: int


@dataclass(frozen=True, slots=True)
class Profiles:
    """Who the records are about; counts by value, the most frequent first.

    Attributes:
        sexes: by sex.
        ethnicities: by ethnicity, as the model named it.
        ages: by age in years.
        non_us_share: share of stated citizenships that are not of the United States; None where none is stated.
    """

    sexes: Mapping[str, int]
    ethnicities: Mapping[str, int]
    ages: Mapping[int, int]
    non_us_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything a report shows of a record set, sample records apart.

    Attributes:
        records: rows that became records.
        rejects: rows that did not.
        seeds: the runs' seeds, ascending.
        languages: records by the language they were asked in.
        domains: records by domain.
        subcategories: records by (domain, subcategory).
        whole: diversity of the whole set.
        by_domain: diversity of each domain's records.
        by_model: diversity of each model's records.
        words: words a record.
        attributes: attributes a record.
        groups: groups a record.
        group_size: attributes a group.
        grounded_share: attributes whose value stands in the text, of all attributes.
        context_words: mean words of the background context.
        format_words: mean words of the format.
        record_type_words: mean words of the record type.
        refinement: one entry a step, in order; empty where nothing was refined.
        drops: rejected rows by outcome, step and reason, the most frequent first.
        spending: one entry a model, by name.
        repetition: copies and near copies.
        profiles: who the records are about.
    """

    records: int
    rejects: int
    seeds: tuple[int, ...]
    languages: Mapping[str, int]
    domains: Mapping[str, int]
    subcategories: Mapping[tuple[str, str], int]
    whole: Diversity
    by_domain: Mapping[str, Diversity]
    by_model: Mapping[str, Diversity]
    words: Counted
    attributes: Counted
    groups: Counted
    group_size: Counted
    grounded_share: float | None
    context_words: float | None
    format_words: float | None
    record_type_words: float | None
    refinement: tuple[RefinementStep, ...]
    drops: tuple[Drop, ...]
    spending: tuple[Spending, ...]
    repetition: Repetition
    profiles: Profiles

    @property
    def kept_share(self) -> float | None:
        """Records of all rows that were asked for."""
        return share(self.records, self.records + self.rejects)

    @property
    def cost_usd(self) -> float:
        """What all rows cost."""
        return sum(spent.cost_usd for spent in self.spending)


def share(part: float, whole: float) -> float | None:
    """Return part over whole, None of nothing."""
    return part / whole if whole else None
