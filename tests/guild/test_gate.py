"""The data gate: hostile lesson files."""

import json
import re
import time

import pytest

from levelcap.guild.engine import get_engine
from levelcap.guild.gate import check_lessons, refuse_file
from levelcap.kit.errors import BadFile, BadValue

ENGINE = get_engine()
SKILLS = list(ENGINE.skills.values())


def rows_of(count, level=5):
    lessons, index = {}, 0
    while len(lessons) < count:
        problem = ENGINE.get("bin").lesson(level, seed=1, index=index)
        lessons[problem.key] = {"prompt": problem.prompt, "answer": problem.answer}
        index += 1
    return list(lessons.values())


def write(path, rows):
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def test_a_clean_file_passes(tmp_path):
    rows = rows_of(300)
    rows[7] = {"user_prompt": "a b", "assistant_response": "c", "tags": [], "id": "x", "rubric": ""}
    report = check_lessons(write(tmp_path / "a.jsonl", rows), SKILLS)
    assert (report.rows, len(report.lessons), report.invalid, report.refused) == (300, 300, 0, None)
    assert report.lessons[7]["prompt"] == "a b"
    refuse_file(tmp_path / "a.jsonl", report)


BAD = {
    b"": "Expecting value",
    b"[1, 2]": "not an object",
    b'{"prompt": "a"}': "prompt and answer",
    b'{"prompt": "a", "user_prompt": "a", "answer": "b"}': "prompt and answer",
    b'{"prompt": "a", "answer": 3}': "answer is no text",
    b'{"prompt": " ", "answer": "b"}': "prompt is no text",
    b'{"prompt": "a", "answer": NaN}': "NaN",
    b'{"prompt": "a", "prompt": "b", "answer": "c"}': "twice",
    b'{"prompt": "a", "answer": "b", "shell": "rm"}': "unknown key 'shell'",
    '{"prompt": "caf\u00e9", "answer": "b"}'.encode(): "U\\+00E9",
    b'{"prompt": "a\xff", "answer": "b"}': "utf-8",
    b'{"prompt": "' + b"a" * 20_000 + b'", "answer": "b"}': "longer than",
    b'{"prompt": "' + b"a" * 3_000_000 + b'", "answer": "b"}': "longer than",
    b"[" * 100_000: "nested",
    b'{"prompt": "\\ud800", "answer": "b"}': "U\\+D800",
}


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
def test_a_bad_row_is_rejected_with_its_line_and_the_rest_is_kept(tmp_path, bad):
    rows = rows_of(200)
    rows.insert(41, bad)
    report = check_lessons(write(tmp_path / "a.jsonl", rows), SKILLS)
    assert (report.invalid, len(report.lessons), report.refused) == (1, 200, None)
    assert report.rejects[0].line == 42
    assert re.search(BAD[bad], report.rejects[0].reason)


def test_more_than_one_percent_of_bad_rows_refuses_the_file(tmp_path):
    good = rows_of(198)
    two = write(tmp_path / "two.jsonl", [*good, b"x", b"y"])
    assert check_lessons(two, SKILLS).refused is None
    three = write(tmp_path / "three.jsonl", [*good[:197], b"x", b"y", b"z"])
    report = check_lessons(three, SKILLS)
    with pytest.raises(BadValue, match=r"three.jsonl is refused: 3 of 200 rows.*line 198"):
        refuse_file(three, report)


def test_repeated_rows_are_dropped_and_counted(tmp_path):
    rows = rows_of(50)
    report = check_lessons(write(tmp_path / "a.jsonl", rows + rows[:20]), SKILLS)
    assert (len(report.lessons), report.duplicates, report.refused) == (50, 20, None)


def test_a_file_with_exam_problems_is_refused(tmp_path):
    exam = ENGINE.generate_eval_batch("bin", level=5, count=96, seed=123)
    rows = [*rows_of(500), {"prompt": exam[0].prompt, "answer": exam[0].answer}]
    path = write(tmp_path / "leak.jsonl", rows)
    report = check_lessons(path, SKILLS)
    assert report.leaks == 1 and report.rejects[0].line == 501
    with pytest.raises(BadValue, match="exam problems"):
        refuse_file(path, report)


def test_a_leak_is_found_by_its_key_whatever_its_spaces_and_case(tmp_path):
    exam = ENGINE.generate_eval_batch("bin", level=1, count=4, seed=1)
    sneaky = exam[0].prompt.upper().replace(" ", "  ")
    path = write(tmp_path / "leak.jsonl", [{"prompt": sneaky, "answer": "x"}])
    assert check_lessons(path, SKILLS).leaks == 0
    assert check_lessons(path, SKILLS, {p.key for p in exam}).leaks == 1


def test_an_empty_file_is_refused_and_a_missing_one_named(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert check_lessons(tmp_path / "empty.jsonl", SKILLS).refused == "there is no usable row"
    with pytest.raises(BadFile, match="missing.jsonl"):
        check_lessons(tmp_path / "missing.jsonl", SKILLS)


def test_many_bad_rows_are_counted_but_not_all_listed(tmp_path):
    path = write(tmp_path / "a.jsonl", [b"x"] * 5_000)
    begin = time.process_time()
    report = check_lessons(path, SKILLS)
    assert (report.invalid, len(report.rejects)) == (5_000, 100)
    assert time.process_time() - begin < 5


def test_a_line_of_sixty_megabytes_is_called_too_long(tmp_path):
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(b'{"prompt": "1+1", "answer": "')
        for _ in range(60):
            file.write(b"2" * (1 << 20))
        file.write(b'"}\n')
    [reject] = check_lessons(path, []).rejects
    assert "longer than 1,048,576 bytes" in reject.reason
