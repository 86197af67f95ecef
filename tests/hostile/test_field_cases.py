"""What went wrong in other stores, in our own words, and the tests that hold this one to the right value.

The numbers are those of the list of field cases. Not here: imports (19, half of 44), lists of many sessions and of
large results (22, 23), transcripts (49 to 59), tails (61) and the list of stuck runs (half of 62).

A. Retry, conflict, concurrency

 1  A key came twice with other content, and the second was silently dropped.
    hostile/test_retries_and_conflicts: test_the_same_key_with_another_payload_is_a_conflict_that_names_it
 2  One event sent again became two.
    hostile/test_retries_and_conflicts: test_the_same_append_three_times_in_a_row_is_one_record
    races/test_races: test_the_same_command_from_many_callers_is_stored_once_and_has_one_answer
 4  An equal event, built anew, was taken for another.
    hostile/test_retries_and_conflicts: test_a_retry_may_spell_the_envelope_otherwise
 5  The database sorted the keys of stored JSON.
    hostile/test_retries_and_conflicts: test_a_payload_comes_back_byte_for_byte_and_sorted_keys_are_another_payload
 7  The first creation, by many at once, ran into a unique constraint.
    races/test_races: test_parallel_creations_of_a_session_without_a_time_agree_on_one
 8  Creating what is there was an internal error.
    hostile/test_retries_and_conflicts: test_a_session_is_created_once_and_keeps_its_first_end
 10 Two processes went on with one run, and both ended it.
    hostile/test_retries_and_conflicts: test_of_two_workers_of_one_run_the_first_to_end_it_owns_it
    races/test_races: test_every_outcome_is_that_of_some_serial_order
 11 A caller hung up, and half of its command stayed.
    hostile/test_retries_and_conflicts: test_callers_who_hang_up_leave_whole_runs_or_none
    api/test_requests: test_callers_that_hang_up_amid_their_request_leave_the_service_well
 13 Every turn stored the whole history once more.
    hostile/test_retries_and_conflicts: test_a_caller_who_sends_the_whole_history_every_time_stores_each_record_once
 14 A clean-up was cut in half, and a reused id answered with what should have been gone.
    hostile/test_interruptions: test_a_purge_that_is_killed_half_way_never_happened_and_a_finished_one_leaves_nothing

B. Order and paging

 16 A reader passed over what committed late.
    hostile/test_interruptions: test_a_reader_never_passes_over_a_record_that_commits_late
    races/test_many_writers: test_fifty_writers_leave_one_gapless_log_and_readers_who_page_meanwhile_see_it
 17 Records of one moment changed places from one read to the next.
    hostile/test_order_and_pages: test_records_of_one_moment_keep_the_order_in_which_they_were_accepted
 20 What came after the first page was never read.
    hostile/test_order_and_pages: test_a_log_of_1001_records_is_read_to_its_end_in_pages_of_any_size
    hostile/test_order_and_pages: test_the_clients_iterators_reach_the_end_and_no_page_but_an_only_one_is_empty
 25 Rows of equal rank came twice, or in no page at all.
    hostile/test_order_and_pages: test_every_session_that_was_there_throughout_is_listed_once

C. Text, JSON, bytes, identifiers

 26 U+0000 or half an emoji in a model's answer made a session unreadable.
    hostile/test_texts: test_a_payload_of_any_valid_json_comes_back_as_it_was
 28 The database was the first to refuse such text, too late.
    hostile/test_texts: test_odd_texts_leave_no_trace_of_a_failure_in_the_log
 29 The refusal itself could not be written as UTF-8.
    api/test_requests: test_a_lone_surrogate_is_answered_with_a_readable_problem
 31 Deep nesting was a server error.
    hostile/test_texts: test_a_payload_of_any_valid_json_comes_back_as_it_was
    hostile/test_texts: test_a_payload_that_nests_too_deep_is_refused_and_the_service_goes_on
    api/test_requests: test_a_nesting_bomb_is_refused_in_envelope_and_payload
 32 Numbers of thousands of digits were slow, or refused.
    hostile/test_texts: test_a_payload_of_any_valid_json_comes_back_as_it_was
    api/test_requests: test_a_huge_number_is_only_a_wrong_type
 34 Of a name given twice the last value won, unseen.
    hostile/test_texts: test_a_name_given_twice_is_refused_in_an_envelope_and_in_a_lifecycle_payload_only
 35 A lax decoder read several spellings of base64 as the same bytes.
    hostile/test_texts: test_a_checkpoint_has_one_spelling
    hostile/test_texts: test_a_checkpoint_keeps_every_byte
 37 A slash in an id, encoded as it should be, was not found.
    hostile/test_identifiers: test_an_odd_id_works_through_every_route
    hostile/test_identifiers: test_odd_ids_work_through_both_clients
 38 An id was taken for a part of a route.
    hostile/test_identifiers: test_an_id_that_is_a_word_of_a_route_is_an_ordinary_one
    hostile/test_identifiers: test_an_odd_id_works_through_every_route
 40 Text was longer than its column.
    hostile/test_identifiers: test_long_reasons_ids_and_labels_are_stored_whole
 41 Text was longer than an index takes.
    hostile/test_identifiers: test_texts_that_do_not_fit_an_index_are_stored_or_told_the_limit
 43 Limits showed themselves only in production.
    hostile/test_texts: test_a_payload_of_the_limit_is_stored_and_one_byte_more_is_told_the_limit
    hostile/test_texts: test_a_checkpoint_of_the_limit_is_stored_and_one_byte_more_is_told_the_limit
    hostile/test_order_and_pages: test_a_session_of_sixty_thousand_records_is_read_to_its_end_and_from_its_middle
    observability/test_metrics: test_how_large_requests_are_is_shown_before_a_limit_is_met

D. Time

 44 Times were cut when they were written, and compared uncut.
    hostile/test_times: test_a_time_is_kept_to_the_millisecond_and_a_finer_one_is_refused
 46 The zone of a server moved instants.
    hostile/test_times: test_time_zones_of_service_and_database_change_no_instant
    hostile/test_times: test_the_services_own_clock_is_told_in_utc
 47 A time that was equal or older was taken for a stale version.
    hostile/test_times: test_time_is_never_a_version

F. Lifecycle

 62 A cancelled run whose worker was dead stayed open and blocked everything.
    hostile/test_lifecycle: test_a_cancelled_run_whose_worker_is_dead_is_repaired_and_the_late_worker_is_refused
"""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
CASES = {
    1,
    2,
    4,
    5,
    7,
    8,
    10,
    11,
    13,
    14,
    16,
    17,
    20,
    25,
    26,
    28,
    29,
    31,
    32,
    34,
    35,
    37,
    38,
    40,
    41,
    43,
    44,
    46,
    47,
    62,
}


def listed() -> dict[int, list[tuple[str, str]]]:
    """The tests of each case: module and name."""
    found: dict[int, list[tuple[str, str]]] = {}
    case = 0
    for line in (__doc__ or "").splitlines():
        if begins := re.match(r" (\d+) +\S", line):
            case = int(begins[1])
            assert case not in found, f"case {case} is listed twice"
            found[case] = []
        elif names := re.fullmatch(r"    (\w+/test_\w+): (test_\w+)", line):
            found[case].append((names[1], names[2]))
    return found


def test_every_case_has_tests_and_every_test_is_there() -> None:
    cases = listed()
    assert cases.keys() == CASES
    for case, tests in cases.items():
        assert tests, f"case {case} has no test"
        for module, name in tests:
            text = (TESTS / f"{module}.py").read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text, f"case {case}: {module} has no {name}"
