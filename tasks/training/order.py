"""Which examples a step is made of, and who reads which: a function of the seed and the step alone.

So a run that goes on after it was killed, at any step, reads what it would have read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Places = list[int]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of ``n`` examples, gone through again and again, shuffled anew each time.

    A batch of a step takes the next ``micro * accumulation * processes`` of them. Within the batch, where order does
    not matter, examples of like length are read at the same time, the longest first: no process waits long for another,
    and too little memory shows at once.

    Attributes:
        lengths: tokens of each example.
        micro: examples that a process reads at once.
        accumulation: how many such micro-batches make a step.
        processes: how many read side by side.
        seed: of the shuffling.
    """

    lengths: Sequence[int] | npt.NDArray[np.int64]
    micro: int
    accumulation: int
    processes: int
    seed: int

    @property
    def global_batch(self) -> int:
        """Examples of a step."""
        return self.micro * self.accumulation * self.processes

    def batch(self, step: int) -> Places:
        """Return the examples of step ``step``, counted from 0, the longest first."""
        count = len(self.lengths)
        first = step * self.global_batch
        found: Places = []
        for epoch in range(first // count, (first + self.global_batch - 1) // count + 1):
            shuffled = np.random.default_rng([self.seed, epoch]).permutation(count)
            start, stop = first - epoch * count, first + self.global_batch - epoch * count
            found += shuffled[max(0, start) : max(0, stop)].tolist()
        return sorted(found, key=lambda place: (-int(self.lengths[place]), place))

    def micro_batches(self, step: int, process: int) -> list[Places]:
        """Return what process ``process`` reads in step ``step``, micro-batch by micro-batch."""
        abreast = self.micro * self.processes
        batch = self.batch(step)
        return [batch[start + process : start + abreast : self.processes] for start in range(0, len(batch), abreast)]


def evaluation_batches(
    lengths: Sequence[int] | npt.NDArray[np.int64], micro: int, processes: int
) -> list[list[Places]]:
    """Share out all examples once: for each process its micro-batches, as many as every other has.

    Where examples run out, a process gets an empty micro-batch: it has to keep step all the same.
    """
    places = sorted(range(len(lengths)), key=lambda place: (-int(lengths[place]), place))
    abreast = micro * processes
    return [
        [places[start + process : start + abreast : processes] for start in range(0, len(places), abreast)]
        for process in range(processes)
    ]
