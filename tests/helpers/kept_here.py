"""Tests of the suites of stores that do not, or not to their end, ask the server again; see `kept_by_server`.

Each was seen to fail where its memory is made from the server before every call. `test_stores_on_postgres.py` holds the
names to account.
"""

from __future__ import annotations

#: Tests that run until they change a file of this machine themselves; from then on it is left as they made it.
UNTIL_TOUCHED: dict[str, tuple[str, ...]] = {
    "it spoils, locks or replaces files of this machine": (
        "test_graph_compile.py::test_a_full_disk_is_no_reason_to_delete_the_graph",
        "test_graph_compile.py::test_a_locked_graph_says_so",
        "test_graph_compile.py::test_a_spoilt_file_is_named_and_hides_no_other",
        "test_graph_compile.py::test_an_episode_under_another_name_is_not_counted_twice",
        "test_graph_file_spoilt.py::test_the_doctor_goes_on_and_says_what_to_do",
        "test_graph_rows_damaged.py::test_a_question_that_fails_on_a_row_says_that_the_file_is_damaged",
        "test_graph_status.py::test_what_changed_since_is_pending",
        "test_graph_workers.py::test_any_number_of_workers_makes_the_same_file",
        "test_graph_workers.py::test_two_processes_that_look_for_changes_find_those_that_one_does",
        "test_insights_damaged.py::test_a_damaged_text_is_in_no_export_and_in_no_pull_request",
        "test_insights_damaged.py::test_a_damaged_text_is_named_told_to_nobody_and_restored",
        "test_insights_damaged.py::test_an_edit_gives_it_another_text",
        "test_insights_damaged.py::test_asked_for_by_name_it_is_quoted_as_damaged",
        "test_insights_damaged.py::test_what_changes_next_to_it_does_not_make_it_sound",
        "test_insights_links.py::test_a_link_outlives_the_graph_and_its_labels",
        "test_later_evidence.py::test_only_files_that_changed_are_read_again",
        "test_library_episodes.py::test_listing_has_no_limit_and_names_what_it_left_out",
        "test_topics_crashes.py::test_a_damaged_record_is_left_out_by_name_and_its_bytes_are_kept",
        "test_topics_crashes.py::test_a_spoilt_index_is_made_anew_from_the_log",
        "test_topics_crashes.py::test_compacting_beside_a_writer_loses_nothing",
        "test_topics_crashes.py::test_the_doctor_names_a_damaged_record_and_sets_it_aside",
        "test_topics_crashes.py::test_what_a_damaged_tombstone_buried_stays_buried",
    ),
    "it looks at how graph.db is brought up to date, and that was just made from the server": (
        "test_graph_compile.py::test_a_change_of_the_same_size_within_one_tick_is_seen",
        "test_graph_compile.py::test_a_dry_run_says_what_would_be_and_leaves_all_as_it_is",
        "test_graph_compile.py::test_named_files_alone_are_looked_at",
        "test_graph_compile.py::test_since_takes_in_only_what_began_later",
        "test_later_evidence.py::test_compiling_again_changes_nothing_and_a_dry_run_writes_nothing",
        "test_patterns_compiled.py::test_only_patterns_that_are_new_are_reported",
    ),
    "it deletes an episode's file, which is not forgetting: the server gives it back": (
        "test_graph_compile.py::test_a_deleted_episode_takes_its_share_with_it",
        "test_graph_names.py::test_every_session_named_holds_every_step_between_the_very_things",
        "test_graph_names.py::test_no_path_leads_through_a_label_where_a_session_holds_a_finer_one",
        "test_graph_names.py::test_what_no_session_holds_is_joined_at_the_same_file_if_it_can_be",
        "test_later_evidence.py::test_without_the_later_session_there_is_no_revision",
        "test_similar.py::test_the_way_to_a_memory_does_not_matter",
    ),
}
#: Tests that run on SQLite alone.
KEPT_HERE: dict[str, tuple[str, ...]] = {
    "it looks at the log of topics as this machine wrote it: the server has what stands, not how it came about": (
        "test_topics_catalogue.py::test_compact_takes_out_what_was_buried_and_tells_bytes",
        "test_topics_editing.py::test_an_edit_appends_and_touches_no_record_before_it",
    ),
    "it counts calls, or sets vectors or models that each machine works out for itself": (
        "test_insights_deliveries.py::test_an_insight_whose_effect_is_known_is_withheld_less_and_the_log_is_not_read_for_each_task",
        "test_insights_defects.py::test_another_models_vectors_are_never_compared",
        "test_insights_harvest.py::test_the_order_of_episodes_makes_no_difference",
        "test_insights_links.py::test_links_are_read_once_however_many_anchors_a_node_has",
        "test_insights_store.py::test_storing_what_is_there_embeds_nothing_else_again",
    ),
    "it counts what a compile reads again, which depends on the times of files that an exchange has just written": (
        "test_graph_compile.py::test_progress_is_told_only_when_something_changed",
        "test_graph_compile.py::test_a_second_run_touches_nothing",
    ),
    "it changes rows without the stores, to texts that the server takes from nobody": (
        "test_insights_exact.py::test_how_frequent_a_word_is_is_never_told_from_memory_after_a_change",
    ),
    "it forbids writing to the cache of this machine, in whose place each exchange puts another": (
        "test_insights_vectors.py::test_a_folder_that_can_not_be_written_costs_time_only",
    ),
    "it deletes episodes' files in any order for as long as it goes on, and the server gives them back": (
        "test_graph_compile.py::test_any_history_of_changes_ends_as_a_fresh_compile",
    ),
}
