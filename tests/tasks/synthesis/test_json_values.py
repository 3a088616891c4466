"""JSON found in replies: patient about what stands around it, strict about what it says."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.synthesis.json_values import find_json
from tasks.synthesis.unusable import ReplyInvalid

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.sampled_from('ab{}[]",:\\\n é'), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab{", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def found(text: str) -> list[object]:
    return list(find_json(text).values())


@pytest.mark.parametrize(
    "text",
    [
        '{"a": [1, "x"]}',
        '\ufeff  {"a": [1, "x"]}\r\n',
        '```json\n{"a": [1, "x"]}\n```',
        '```\n{"a": [1, "x"]}\n```\nI hope this helps {as always}.',
        'Sure! Here it is:\n{"a": [1, "x"]}',
        'As {you} asked in [see above], [1] and [-x]: {"a": [1, "x"]} [sic]',
        '{"a": [1, "x",],}',
        '{"a": [1, "x" , ] ,\n}',
        '{"a": [1, "x"]} and once more {"a": [1, "x"]}',
    ],
)
def test_one_value_is_found_in(text: str) -> None:
    assert {"a": [1, "x"]} in found(text)
    assert sum(isinstance(value, dict) for value in found(text)) == 1


@given(st.lists(JSON_VALUES, max_size=2) | st.dictionaries(st.text("ab}", max_size=3), JSON_VALUES, max_size=3))
@settings(max_examples=80, deadline=None)
def test_what_json_writes_is_read_back_from_within_a_sentence(value: object) -> None:
    assert found(f"Here: {json.dumps(value)}\nDone.") == [value]
    assert found(f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```") == [value]


def test_brackets_commas_and_quotes_inside_strings_are_text() -> None:
    value = {"a": 'x,} "y" {z,]', "b": "\\", "c": "```"}
    assert found(json.dumps(value)[:-1] + ",}") == [value]


def test_a_raw_line_break_in_a_string_is_read_as_itself() -> None:
    assert found('{"a": "one\ntwo"}') == [{"a": "one\ntwo"}]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        ('{"a": 1e999}', "too large"),
        (f'{{"a": {"1" * 5000}}}', "5000 digits"),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', 'key "c" is given twice'),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"a": "\ud800"}', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ('{"a": "x\\u0000y"}', "NUL"),
        ('{"a": "x', "ends before it is complete"),
        ('{"a": [1, 2', "ends before it is complete"),
        ('{"a": 1,\n "b" 2}', "line 2, column 6"),
        ('{"a": tru}', "broken JSON"),
        ('[{"a": 1}, {"a": NaN}]', "NaN"),
        ('[{"a": 1}, {"a": ', "ends before"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_json_is_refused_with_its_fault(text: str, complaint: str) -> None:
    with pytest.raises(ReplyInvalid, match=complaint):
        find_json(text)


def test_an_escaped_backslash_before_u0000_is_no_nul() -> None:
    assert found(r'{"a": "C:\\u0000"}') == [{"a": r"C:\u0000"}]


@pytest.mark.parametrize("text", ["", "no JSON", "{name}", "[sic] {a: 1}", "12", '"text"', "{'a': 1}"])
def test_prose_holds_no_json(text: str) -> None:
    assert found(text) == []


def test_adversarial_text_takes_no_time() -> None:
    started = time.process_time()
    for text in ('{"' + '\\"' * 50_000, "[1" * 10_000, "{ " * 50_000, '{"a":1,}' * 2_000):
        try:
            find_json(text)
        except ReplyInvalid:
            continue
    assert time.process_time() - started < 0.5
