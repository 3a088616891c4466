"""What may not fit in a study, from whichever part of it."""

from flows.corpus_checks import ProgramFailed
from infra.shards.folder_lock import FolderTaken
from tasks.corpora.bundles.pool import TooFewTasks
from tasks.measuring.answers import PromptUnusable
from tasks.measuring.corpus.steps import CorpusUnfit
from tasks.measuring.extraction.targets import TargetUnusable
from tasks.measuring.steps import MeasuredOtherwise
from tasks.surprise.policy import PolicyMismatch
from tasks.surprise.scored import ScoresUnfit
from tasks.surprise.scoring.render import NoChatTemplate
from tasks.surprise.shard import ChatUnfit as ChatNotRendered
from tasks.training.answers import ChatUnfit, TemplateUnfit
from tasks.training.masked.ground import GroundUnfit
from tasks.training.masked.maskings import MaskingUnfit
from tasks.training.packing import ModelUnfit
from tasks.training.steps import OutputTaken

UNFIT: tuple[type[Exception], ...] = (
    ChatNotRendered,
    ChatUnfit,
    CorpusUnfit,
    FolderTaken,
    GroundUnfit,
    MaskingUnfit,
    MeasuredOtherwise,
    ModelUnfit,
    NoChatTemplate,
    OutputTaken,
    PolicyMismatch,
    ProgramFailed,
    PromptUnusable,
    ScoresUnfit,
    TargetUnusable,
    TemplateUnfit,
    TooFewTasks,
)
