"""Downloads in the background, one for each model. Their :class:`lab.models.jobs.Job` counts megabytes."""

from __future__ import annotations

from lab.models import hub, jobs
from lab.models.catalogue import ModelCard, ModelUnavailable
from lab.models.jobs import Job


def start(entry: ModelCard) -> Job:
    """Begin the download of ``entry``, or join the download if it is already running.

    Parts of a stopped download are kept and not fetched again.
    """

    def fetch(job: Job) -> None:
        hub.download(entry, job.tell)

    return jobs.start(_key(entry.id), fetch, ModelUnavailable)


def running(model_id: str) -> Job | None:
    """Return the running or failed download of a model; None if there is none, or if the download is complete."""
    return jobs.running(_key(model_id))


def _key(model_id: str) -> str:
    return f"download {model_id}"
