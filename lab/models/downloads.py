"""Downloads in the background, one for each model. Their :class:`lab.models.jobs.Job` counts megabytes."""

from __future__ import annotations

from lab.models import hub, jobs
from lab.models.catalogue import ModelCard, ModelUnavailable
from lab.models.jobs import Job, Watcher


def start(entry: ModelCard, watcher: Watcher | None = None) -> Job:
    """Begin the download of ``entry``, or join the download if it is already running.

    Parts of a stopped download are kept and not fetched again. It goes on even if the ``watcher`` leaves the lab.
    """

    def fetch(job: Job) -> None:
        hub.download(entry, job.tell)

    return jobs.start(key_of(entry.id), fetch, ModelUnavailable, watcher)


def running(model_id: str) -> Job | None:
    """Return the running or failed download of a model; None if there is none, or if the download is complete."""
    return jobs.running(key_of(model_id))


def key_of(model_id: str) -> str:
    """The key of the job that downloads a model."""
    return f"download {model_id}"
