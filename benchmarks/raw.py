"""L1, the limit of the database: raw psycopg, one prepared INSERT a commit, in a process of its own.

``python -m benchmarks.raw URL CONNECTIONS SECONDS`` prints the rate and the latencies as JSON; a thread a connection.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
import time

import psycopg

TABLE = """
CREATE TABLE IF NOT EXISTS raw_records (
    run text NOT NULL, position bigint NOT NULL, session text NOT NULL, session_position bigint NOT NULL,
    key text NOT NULL, payload text NOT NULL,
    PRIMARY KEY (run, position), UNIQUE (run, key), UNIQUE (session, session_position)
)
"""
INSERT = "INSERT INTO raw_records VALUES (%s, %s, %s, %s, %s, %s)"


def insert(url: str, seconds: float, begin: threading.Barrier, took: list[float]) -> None:
    """Insert records, one a commit, for some seconds; ``took`` gets the seconds of each."""
    run = secrets.token_hex(30)
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        payloads = [secrets.token_hex(512) for _ in range(64)]
        begin.wait()
        end = time.perf_counter() + seconds
        position = 0
        while (sent := time.perf_counter()) < end:
            position += 1
            row = (run, position, run, position, f"{position:060d}", payloads[position % 64])
            connection.execute(INSERT, row, prepare=True)
            took.append(time.perf_counter() - sent)


def main() -> None:
    """Measure, and print one line of JSON."""
    url, connections, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
    begin = threading.Barrier(connections + 1)
    took: list[list[float]] = [[] for _ in range(connections)]
    threads = [threading.Thread(target=insert, args=(url, seconds, begin, mine)) for mine in took]
    for thread in threads:
        thread.start()
    begin.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    wall = time.perf_counter() - begun
    every = sorted(duration for mine in took for duration in mine)
    found = {
        "rate": len(every) / wall,
        "p50_ms": every[len(every) // 2] * 1000,
        "p99_ms": every[int(len(every) * 0.99)] * 1000,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
