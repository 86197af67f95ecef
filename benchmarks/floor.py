"""L4, the limit of HTTP: a FastAPI endpoint that takes a record's eight fields as a pydantic model and does nothing."""

from __future__ import annotations

from fastapi import FastAPI
from pydantic import BaseModel


class Record(BaseModel):
    """The eight fields of a record."""

    event_key: str
    run_id: str
    agent_id: str
    session_id: str
    turn_id: str
    type: str
    payload: str
    timestamp: str


class Answer(BaseModel):
    """What an append answers."""

    id: str
    inserted: bool
    session_status: str


app = FastAPI()


@app.get("/readyz")
async def ready() -> dict[str, str]:
    """Tell that it answers."""
    return {"status": "ready"}


@app.post("/v1/runs/{run_id}/records")
async def append(run_id: str, record: Record) -> Answer:
    """Do nothing."""
    return Answer(id=record.event_key, inserted=run_id == record.run_id, session_status="active")
