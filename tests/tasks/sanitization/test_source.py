"""What is read of a record's row: attributes that stand in the text, and groups of them."""

from tasks.sanitization.source import Source


def test_attributes_that_do_not_stand_in_the_text_are_left_out_and_groups_shrink() -> None:
    def attribute(key: str, *, grounded: bool) -> dict[str, object]:
        spans = [{"start": 0, "end": 3}] if grounded else []
        return {"key": key, "value": "Ana", "source": "text", "grounded": grounded, "spans": spans}

    row = {
        "record_id": "r-1",
        "index": 4,
        "language": "English",
        "text": "Ana",
        "attributes": [attribute("a", grounded=True), attribute("b", grounded=False), attribute("c", grounded=True)],
        "groups": [{"name": "both", "keys": ["a", "b", "c"]}, {"name": "one", "keys": ["a", "b"]}],
    }
    read = Source.of_row(row)
    assert [each.key for each in read.attributes] == ["a", "c"]
    assert read.attributes[0].spans == ((0, 3),)
    assert [(group.name, group.keys) for group in read.groups] == [("both", ("a", "c"))]
