"""Which tables a stage has, by its name. Their schemas alone: importing the stages takes Prefect and Ray along."""

from collections.abc import Mapping

import pyarrow as pa

from tasks import records

EVALUATIONS = "evaluations"  # each has a folder of its own in the one of this name

STAGES: Mapping[str, Mapping[str, pa.Schema]] = {  # in the order of the work
    "records": {"records": records.RECORDS, "rejects": records.REJECTS},
    "triplets": {"triplets": records.TRIPLETS, "triplet_rejects": records.REJECTS},
    "splits": {"splits": records.SPLITS},
    EVALUATIONS: {EVALUATIONS: records.EVALUATIONS},
    "nap2": {"nap2": records.NAP2},
    "scores": {"scores": records.SCORES, "score_rejects": records.SCORE_REJECTS},
    "selected": {"selected": records.SELECTED},
    "masks": {"masks": records.MASKS},
    "redacted": {"redacted": records.REDACTED},
    "ranks": {"ranks": records.RANKS},
    "routed": {"routed": records.ROUTED},
}
STAGE_OF: Mapping[str, str] = {table: stage for stage, tables in STAGES.items() for table in tables}
