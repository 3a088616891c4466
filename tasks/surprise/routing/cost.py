"""What an intervention costs per million source tokens (SM App. F.4)."""

MILLION = 1_000_000


def usd_per_million(rewriter_usd: float, selector_usd: float, source_tokens: int) -> float:
    """Scale the cost of an intervention to a million tokens of source text.

        C = 10^6 / N_source [p_in (N_in - N_cached) + p_cached N_cached + p_out N_out + C_selector]

    The first three terms are ``rewriter_usd``, as ``infra.llm.prices.cost`` adds them up; startup, judges and attackers
    are not in it.

    Raises:
        ValueError: there are no source tokens.
    """
    if source_tokens < 1:
        raise ValueError(f"{source_tokens} source tokens: a cost per source token needs some")
    return MILLION / source_tokens * (rewriter_usd + selector_usd)
