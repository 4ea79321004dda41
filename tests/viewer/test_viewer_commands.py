"""What a page says is a command, or is refused; nothing else can happen."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perp.viewer import messages as words
from perp.viewer.connection import LARGEST, BadMessage, read_command

BUILD = {"type": "build", "scene": "stack", "options": {}, "seed": 0}
METHOD = {"type": "method", "lane": 1, "name": "pgs", "options": {}, "tol": 1e-6, "max_iterations": 40}
OPTIONS = {"a": 1, "b": 2.5, "c": "text", "d": True, "e": None, "f": [1, 2.5]}

GOOD = [
    ({"type": "ack", "serial": 7}, words.Acknowledge(7)),
    ({"type": "play"}, words.Play()),
    ({"type": "pause"}, words.Pause()),
    ({"type": "step"}, words.Step(1)),
    ({"type": "step", "count": 1000}, words.Step(1000)),
    ({"type": "reset"}, words.Reset()),
    ({"type": "speed", "factor": 0.25}, words.Speed(0.25)),
    ({"type": "speed", "factor": None}, words.Speed(None)),
    (BUILD | {"seed": 2**63 - 1}, words.Build("stack", {}, 2**63 - 1)),
    (BUILD | {"options": OPTIONS}, words.Build("stack", OPTIONS | {"f": (1.0, 2.5)}, 0)),
    (METHOD, words.ChooseMethod(1, "pgs", {}, 1e-6, 40)),
    (METHOD | {"tol": None, "max_iterations": None}, words.ChooseMethod(1, "pgs", {}, None, None)),
    ({"type": "compare", "mode": "own_ways"}, words.ChooseCompare("own_ways")),
    ({"type": "seek", "place": 12}, words.Seek(12)),
    ({"type": "save", "format": "fclib", "place": 3, "lane": 1}, words.Save("fclib", 3, 1)),
    ({"type": "code", "place": 3}, words.TellCode(3)),
]


@pytest.mark.parametrize(("message", "command"), GOOD)
def test_every_word_of_the_page_is_understood(message, command):
    assert read_command(json.dumps(message)) == command


def test_every_command_has_a_word():
    assert {type(command) for _, command in GOOD} == set(words.Command.__args__)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("play", "not JSON"),
        ("[]", "not an object"),
        ('"play"', "not an object"),
        ("null", "not an object"),
        ("{}", "type"),
        ('{"type": ["play"]}', "type"),
        ('{"type": "shutdown"}', "type"),
        ('{"type": "play", "type": "pause"}', "twice"),
        ('{"type": "speed", "factor": NaN}', "NaN"),
        ('{"type": "speed", "factor": Infinity}', "Infinity"),
        ('{"type": "speed", "factor": 1e999}', "factor"),
        ('{"type": "ack", "serial": ' + "9" * 5000 + "}", "not JSON"),
        ("[" * 30000, "nested"),
    ],
)
def test_what_is_no_message_is_refused(text, part):
    with pytest.raises(BadMessage, match=part) as caught:
        read_command(text)
    assert caught.value.code == 1008


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ({"type": "play", "now": True}, "unknown"),
        ({"type": "ack"}, "serial is missing"),
        ({"type": "ack", "serial": -1}, "serial"),
        ({"type": "ack", "serial": 1.0}, "serial"),
        ({"type": "ack", "serial": True}, "serial"),
        ({"type": "ack", "serial": 1 << 24}, "serial"),
        ({"type": "step", "count": 0}, "count"),
        ({"type": "step", "count": 1001}, "count"),
        ({"type": "speed", "factor": 0}, "factor"),
        ({"type": "speed", "factor": -1}, "factor"),
        ({"type": "speed", "factor": "1"}, "factor"),
        ({"type": "speed", "factor": 10**400}, "factor"),
        (BUILD | {"seed": -1}, "seed"),
        (BUILD | {"seed": 2**63}, "seed"),
        (BUILD | {"scene": ""}, "scene"),
        (BUILD | {"scene": "s" * 101}, "scene"),
        (BUILD | {"scene": "a\nb"}, "scene"),
        (BUILD | {"scene": "\ud800"}, "scene"),
        (BUILD | {"options": []}, "options"),
        (BUILD | {"options": {"a": {}}}, "options"),
        (BUILD | {"options": {"a": [[1]]}}, "options"),
        (BUILD | {"options": {"a": ["1"]}}, "options"),
        (BUILD | {"options": {"a": [0] * 1001}}, "options"),
        (BUILD | {"options": {"a": "t" * 1001}}, "options"),
        (BUILD | {"options": {"a": 2**64}}, "options"),
        (BUILD | {"options": {"a" * 101: 1}}, "options"),
        (BUILD | {"options": {str(number): 1 for number in range(65)}}, "options"),
        (METHOD | {"lane": 2}, "lane"),
        (METHOD | {"name": None}, "name"),
        (METHOD | {"tol": -1e-9}, "tol"),
        (METHOD | {"max_iterations": -1}, "max_iterations"),
        (METHOD | {"max_iterations": 1.5}, "max_iterations"),
        ({"type": "compare", "mode": "both"}, "mode"),
        ({"type": "seek", "place": None}, "place"),
        ({"type": "save", "format": "pickle", "place": 0, "lane": 0}, "format"),
    ],
)
def test_a_value_out_of_its_range_is_refused_by_name(message, part):
    with pytest.raises(BadMessage, match=part) as caught:
        read_command(json.dumps(message))
    assert caught.value.code == 1008


@pytest.mark.parametrize("text", [" " * (LARGEST + 1), '"' + "é" * (LARGEST // 2) + '"'])
def test_a_message_that_is_too_large_is_not_even_read(text):
    with pytest.raises(BadMessage, match="longer") as caught:
        read_command(text)
    assert caught.value.code == 1009


def test_a_message_of_the_largest_size_is_read():
    text = json.dumps({"type": "play"})
    assert read_command(text + " " * (LARGEST - len(text))) == words.Play()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=6,
)
KEYS = sorted({key for message, _ in GOOD for key in message} - {"type"})
NEAR = st.builds(
    lambda kind, rest: {"type": kind, **rest},
    st.sampled_from([message["type"] for message, _ in GOOD]),
    st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5),
)


@given(st.one_of(JSON, NEAR).map(json.dumps) | st.text())
def test_no_text_does_anything_but_mean_a_command_or_be_refused(text):
    try:
        command = read_command(text)
    except BadMessage as error:
        assert str(error)  # noqa: PT017
    else:
        assert isinstance(command, words.Command)
        assert pickle.loads(pickle.dumps(command)) == command


@given(st.sampled_from([message for message, _ in GOOD]), st.data())
def test_a_good_message_with_one_value_changed_is_a_command_of_that_kind_or_refused(message, data):
    keys = [key for key in message if key != "type"]
    if not keys:
        return
    changed = message | {data.draw(st.sampled_from(keys)): data.draw(JSON)}
    try:
        command = read_command(json.dumps(changed))
    except BadMessage as error:
        assert message["type"] in str(error) or "JSON" in str(error)  # noqa: PT017
    else:
        assert type(command) is type(read_command(json.dumps(message)))
