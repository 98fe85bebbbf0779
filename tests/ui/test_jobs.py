from __future__ import annotations

from threading import Event

from tracert.errors import CancelledError, DocumentError
from tracert.indexing import IndexReport, Progress
from tracert.ui.jobs import Job

REPORT = IndexReport("c", "toy", 3, ())


def test_a_job_tells_its_progress_and_its_report():
    told, go = Event(), Event()

    def work(tell, stop):
        tell(Progress("embed", 5, 10, 2.0))
        told.set()
        assert go.wait(10)
        return REPORT

    job = Job("t", work)
    assert told.wait(10)
    assert job.running
    assert job.report is None
    assert job.progress.done == 5
    go.set()
    job.wait(10)
    assert not job.running
    assert job.report is REPORT
    assert job.message == ""


def test_a_cancelled_job_says_that_nothing_was_kept():
    begun = Event()

    def work(tell, stop):
        begun.set()
        while not stop():
            pass
        raise CancelledError("stopped")

    job = Job("t", work)
    assert begun.wait(10)
    assert not job.cancelling
    job.cancel()
    job.wait(10)
    assert job.cancelling
    assert job.report is None
    assert "Nothing was kept" in job.message


def test_an_expected_error_becomes_its_sentence():
    def work(tell, stop):
        raise DocumentError("The file is empty. Choose another.")

    job = Job("t", work)
    job.wait(10)
    assert job.message == "The file is empty. Choose another."
