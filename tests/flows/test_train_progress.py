from flows.train_progress import told


def test_speed_and_rest_are_told_from_the_last_steps() -> None:
    lines = [{"step": step, "loss": 4.0 - step, "tokens": 500, "seconds": 2.0} for step in (1, 2, 3)]
    assert told(lines, total=10) == (3, "loss 1.0000, 250 tokens a second, 0:00:14 to go")
    evaluated = [*lines, {"step": 3, "evaluation_loss": 1.25}]
    assert told(evaluated, total=10)[1].endswith("0:00:14 to go, evaluation loss 1.2500")


def test_before_the_first_step_nothing_is_made_up() -> None:
    assert told([], total=10) == (0, "loading the model")
