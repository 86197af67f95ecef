"""Runs that survive their worker: what a step gave is stored, and a repeated activity goes on from there.

    recorder = RunRecorder(store)
    async with recorder.run("run-1", agent_id="support", session_id="session-1") as run:
        reply = await run.step("model-1", ask_the_model)
        await run.finish()

Everything is stored as plain records under the keys that are given; nothing else is kept anywhere.
"""

from runhold_client.recorder.asynchronous import RecordedRun
from runhold_client.recorder.blocking import BlockingRecordedRun
from runhold_client.recorder.codecs import JSON, Codec, JsonValues, Typed
from runhold_client.recorder.errors import (
    RecorderClosed,
    RecorderConflict,
    RecorderError,
    StepMismatch,
    StepUnderWay,
)
from runhold_client.recorder.keys import CANCELLATION_KEY, COMPLETED_KEY, STARTED_KEY, STOPPED_KEY, SUSPENDED_KEY
from runhold_client.recorder.payloads import Failure
from runhold_client.recorder.recorder import Opening, RunRecorder
from runhold_client.recorder.types import STEP

__all__ = [
    "CANCELLATION_KEY",
    "COMPLETED_KEY",
    "JSON",
    "STARTED_KEY",
    "STEP",
    "STOPPED_KEY",
    "SUSPENDED_KEY",
    "BlockingRecordedRun",
    "Codec",
    "Failure",
    "JsonValues",
    "Opening",
    "RecordedRun",
    "RecorderClosed",
    "RecorderConflict",
    "RecorderError",
    "RunRecorder",
    "StepMismatch",
    "StepUnderWay",
    "Typed",
]
