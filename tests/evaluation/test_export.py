"""The table of questions for a spreadsheet, and the JSON of several methods."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.evaluation.test_detail import detail
from tracert.errors import DatasetError
from tracert.evaluation.export import COLUMNS, save, save_details, table_csv, to_csv, to_json
from tracert.evaluation.summary import Evaluation, Setup


def evaluation(*details, method: str = "treehop") -> Evaluation:
    setup = Setup("d.jsonl", "p.jsonl", "pool", 10, "f", method, {"k": 3}, 3, "toy")
    return Evaluation(setup, details or (detail(),))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_line_a_question_with_its_measures() -> None:
    (row,) = rows(to_csv([evaluation()]))
    assert list(row) == list(COLUMNS)
    assert (row["recall"], row["baseline_recall"], row["bm25_recall"]) == ("1.0", "0.0", "0.0")
    assert (row["passages"], row["filled"], row["gold"], row["ms"]) == ("3", "1", "2", "250.0")
    assert (row["all_found"], row["mrr"]) == ("1", "1.0")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_no_text_of_the_data_is_a_formula(start: str) -> None:
    (row,) = rows(to_csv([evaluation(detail(question=f"{start}cmd()", id=f"{start}1"))]))
    assert row["question"] == f"'{start}cmd()"
    assert row["id"].startswith("'")


def test_lines_and_quotes_stay_in_their_cell() -> None:
    asked = 'Who said "yes",\nand who "no"?'
    (row,) = rows(to_csv([evaluation(detail(question=asked))]))
    assert row["question"] == asked


def test_one_report_alone_and_several_in_a_list() -> None:
    assert json.loads(to_json([evaluation()]))["schema"] == "tracert.evaluation/1"
    several = json.loads(to_json([evaluation(), evaluation(method="native_rag")]))
    assert [each["method"] for each in several["evaluations"]] == ["treehop", "native_rag"]


def test_what_is_kept_comes_back_and_gives_the_same_report() -> None:
    one = evaluation(detail(), detail(id="r", evidence=("passage:8",), filled=0))
    again = Evaluation.from_kept(json.loads(json.dumps(one.kept())))
    assert again.details == one.details
    assert again.setup == one.setup
    assert again.to_dict() == one.to_dict()


@pytest.mark.parametrize(
    "data",
    [None, {}, {"schema": "tracert.evaluation.run/0"}, {"schema": "tracert.evaluation.run/1"}],
)
def test_something_else_is_no_kept_run(data) -> None:
    with pytest.raises(DatasetError, match="Run the evaluation again"):
        Evaluation.from_kept(data)


def test_half_a_letter_is_written_as_a_question_mark(tmp_path) -> None:
    path = tmp_path / "out.csv"
    save(path, "\ud800a")
    assert path.read_text() == "?a"
    save_details([evaluation(detail(question="\ud800"))], path)
    with pytest.raises(DatasetError, match="Name another file"):
        save(tmp_path, "x")


def test_a_table_is_written_by_columns_with_no_formula_and_nothing_for_what_is_absent() -> None:
    rows = {"Method": ["=1+1", "Walk"], "+Recall": [0.5, None]}
    assert table_csv(rows) == "Method,'+Recall\n'=1+1,0.5\nWalk,\n"
    assert table_csv({"Method": []}) == "Method\n"
