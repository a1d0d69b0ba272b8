"""Downloads that go on by themselves: one a model. What a :class:`lab.models.jobs.Job` counts is megabytes."""

from __future__ import annotations

from lab.models import hub, jobs
from lab.models.catalogue import ModelCard, ModelUnavailable
from lab.models.jobs import Job


def start(entry: ModelCard) -> Job:
    """Begin the download of ``entry``, or join it. Once stopped, what is here stays, and is not fetched again."""

    def fetch(job: Job) -> None:
        hub.download(entry, job.tell)

    return jobs.start(_key(entry.id), fetch, ModelUnavailable)


def running(model_id: str) -> Job | None:
    """The download of a model that is under way or has failed; None when there is none, or it is complete."""
    return jobs.running(_key(model_id))


def _key(model_id: str) -> str:
    return f"download {model_id}"
