from infra.ray.versions import describe_difference, versions_here

OURS = {"python": "3.11", "ray": "2.60.0"}


def test_this_process_knows_its_versions() -> None:
    import ray

    assert versions_here()["ray"] == ray.__version__
    assert versions_here().keys() == {"python", "ray", "prefect", "privasis-factory"}


def test_equal_nodes_are_no_problem() -> None:
    assert describe_difference(OURS, [("head", dict(OURS)), ("worker", dict(OURS))]) == ""


def test_the_message_says_which_node_has_which_version() -> None:
    problem = describe_difference(
        OURS, [("head", dict(OURS)), ("a (10.0.0.2)", OURS | {"ray": "2.59.1"}), ("b", OURS | {"python": "3.12"})]
    )
    assert "a (10.0.0.2): ray 2.59.1 (here 2.60.0)" in problem
    assert "b: python 3.12 (here 3.11)" in problem
    assert "head" not in problem
