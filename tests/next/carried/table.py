"""What becomes of the old suite's tests of the command line.

They run again here against the new program, all but those that are listed, each under its reason:

- CHANGED: decided otherwise for the new program.
- GONE: what it tests does not exist any more.
- INTERNAL: it reaches into the old package or into the shape of its files, or it never runs the program.
- WORDS: the same promise in other words or another JSON shape.
- UNSTEADY: the new program breaks a promise, but not each time, or by calling a real API. The test does not run.
- DEFECT: the new program breaks a promise. The test runs, and must fail until that is repaired.
"""

# ruff: noqa: E501 (the names of tests are as long as they are)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

FATES = ("CHANGED", "GONE", "INTERNAL", "WORDS", "UNSTEADY", "DEFECT")
DEFECT = "DEFECT"


@dataclass(frozen=True)
class Carried:
    """A module: how many of its functions run against both programs, and the others by their reasons.

    `function[case]` names one case, if the function runs with the others. A slow module runs with `--full`.
    """

    module: str
    both: int
    reasons: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    slow: bool = False

    @cached_property
    def apart(self) -> dict[str, str]:
        """The fate of each test that does not run against both, with its reason."""
        named = {why: names.split() if isinstance(names, str) else names for why, names in self.reasons.items()}
        return {name: why for why, names in named.items() for name in names}


PACKAGE = "INTERNAL: it reaches into the old package, or never runs the program"
API = "INTERNAL: the Python API of the old package"
FILES = "INTERNAL: the files of an old session, or what --json prints, in the old shape"
WORDS = "WORDS: the same in other words"
VERSIONS = "GONE: sessions of earlier versions (HOUSE, What goes)"
REVIEWS = "GONE: an optional room's command, carried with its room"
OPTIONS = "GONE: an option of its own, now `-o NAME=VALUE` or `--model`"
OF_ROOMS = ("apply", "review", "council_next", "council_brief", "council_record")
SIGNS = "CHANGED: members sign texts, and no stance is asked for"
BRIEFS = "CHANGED: a brief is two files, and the topic is the question alone"

CARRIED = (
    Carried(
        "bad_input",
        both=21,
        reasons={
            SIGNS: "test_who_forges_marks_and_headings_speaks_for_nobody_else test_a_copied_answer_of_a_peer_is_not_this_seats",
            BRIEFS: """test_topic_documents_and_peers_stand_between_marks_with_keys_of_their_own
                test_keys_differ_between_sessions_and_are_the_same_when_rendered_again""",
            WORDS: (
                "test_a_persona_that_is_no_file_name_cannot_sit_down",
                "test_a_project_brings_workflows_templates_and_personas",
                "test_a_link_out_of_the_project_is_refused",
                "test_a_refusal['run Shall we? --option normativ''did you mean \"normative\"?']",
                "test_a_refusal['doctor''failed']",
                "test_a_projects_template_reaches_nothing[{{ seat | attr('__class__') | attr('__mro__') }}]",
                "test_a_projects_template_reaches_nothing[{% include 'verses.md.j2' %}]",
            ),
            OPTIONS: (
                "test_a_refusal['run Shall we? --tier-map haku=sonnet''did you mean \"haiku\"?']",
                "test_a_refusal['run Shall we? --tier-map haiku=sonet''did you mean \"sonnet\"?']",
                "test_a_refusal['run Shall we? --tier-map haiku=claude-sonet-5-5''did you mean \"claude-sonnet-5-5\"?']",
            ),
            "CHANGED: `tiers: NAME` is one model for every tier": ("test_a_broken_configuration[tiers: sonnet]",),
        },
    ),
    Carried(
        "by",
        both=4,
        reasons={
            WORDS: "test_the_name_that_was_given_is_shown_everywhere",
            "CHANGED: a person may speak for a member, and is named": "test_nobody_is_named_for_a_models_turn",
        },
    ),
    Carried(
        "by_member",
        both=21,
        reasons={
            WORDS: "test_a_debate_whose_members_all_store_their_own_answers",
            "WORDS: a model's name may have 200 characters": "test_the_name_of_a_model_adds_no_line_to_the_transcript",
            "CHANGED: a turn is proven by the batch after it": "test_a_damaged_session_hands_out_nothing",
            FILES: """test_who_recorded_a_turn_is_in_the_receipt_the_documents_and_the_check
                test_nothing_is_left_of_a_brief_that_somebody_else_answered""",
        },
    ),
    Carried(
        "follow_up",
        both=1,
        reasons={
            BRIEFS: """test_a_debate_begins_with_what_another_came_to test_over_the_api_every_member_is_given_it
                test_without_a_question_of_its_own_it_goes_on_with_the_same""",
            WORDS: "test_what_has_no_end_is_no_beginning test_a_protocol_is_a_command",
            OPTIONS: "test_one_round_may_be_enough test_at_most_so_many_rounds",
        },
    ),
    Carried(
        "frozen_program",
        both=8,
        reasons={
            VERSIONS: """test_an_interrupted_session_of_an_earlier_version_survives_other_templates
                test_the_documents_of_an_earlier_version_are_the_kits_before_and_after_it_is_continued
                test_a_pending_brief_of_an_earlier_version_is_what_is_sent
                test_other_words_of_an_earlier_version_are_no_damage test_a_file_that_is_missing_is_damage_in_any_version
                test_a_later_version_says_who_made_a_session_and_renews_it
                test_a_later_version_finishes_an_interrupted_session
                test_a_build_that_is_interrupted_by_a_crash_leaves_no_damage""",
            BRIEFS: "test_an_overlay_that_is_deleted_after_the_start",
            FILES: """test_only_what_the_workflow_can_reach_is_frozen test_metadata_that_no_longer_name_a_program_are_damaged
                test_a_forged_program_is_damaged test_a_program_that_is_not_as_it_was_is_damaged
                test_a_lost_turn_is_damage_though_the_files_are_as_they_were_made
                test_a_replay_takes_over_the_program_of_its_source test_a_member_keeps_what_the_workflow_says_of_it""",
            PACKAGE: "test_a_program_that_could_not_be_read_again_is_refused test_two_sessions_in_one_process_do_not_mix",
            WORDS: "test_a_seat_speaks_with_the_persona_that_it_borrows test_a_brief_that_could_not_be_read_again_is_refused",
            "CHANGED: a template names what it includes, so that it can be frozen": """
                test_a_computed_include_freezes_every_template""",
            "DEFECT: an edited brief of a turn that is due is written anew without a word": """
                test_an_edited_brief_is_damaged_still""",
        },
    ),
    Carried(
        "gates",
        both=1,
        reasons={
            PACKAGE: """test_an_unreadable_answer_is_asked_again_and_approves_nothing
                test_a_gate_moves_no_other_turn_and_asks_one_person test_after_an_approval_the_debate_goes_on
                test_an_approved_phase_is_no_end_of_the_debate test_gates_are_set_anew_each_time_and_can_be_taken_away
                test_anything_but_an_approval_ends_the_debate_and_says_so test_a_gate_that_would_mean_nothing_is_refused
                test_every_phase_of_the_kit_can_have_a_gate test_a_yes_beside_a_no_is_none
                test_an_approval_hides_no_disagreement_of_the_step_before_it test_a_workflow_with_a_gate_of_its_own_lints""",
            FILES: "test_a_no_and_silence_end_it_and_everything_says_so test_a_replay_repeats_the_gate_and_its_answer",
            "CHANGED: a gate that nobody answers in time stays open (promise P263)": """
                test_a_gate_that_nobody_answers_in_time_ends_as_not_approved""",
            WORDS: """test_a_run_stops_at_its_gate_and_goes_on_after_a_yes
                test_gates_of_the_users_configuration_hold_where_the_phase_is_and_can_be_waived""",
        },
    ),
    Carried(
        "hostile_project",
        both=6,
        slow=True,
        reasons={
            OPTIONS: "test_an_option_is_set_with_either_spelling test_options_that_others_are_named_like",
            "CHANGED: `help all` lists forty workflows and counts the others": "test_thousands_of_workflows",
        },
    ),
    Carried(
        "ids",
        both=10,
        reasons={
            API: "test_an_id_from_python",
            PACKAGE: ("test_a_session_is_found_by_a_part_of_its_id", "test_an_id_that_nobody_may_choose[a\\x00b]"),
            VERSIONS: "test_sessions_of_earlier_versions_keep_their_order",
        },
    ),
    Carried(
        "lock",
        both=1,
        slow=True,
        reasons={
            PACKAGE: """test_commands_by_hand_wait_for_one_another
                test_two_processes_never_hold_a_session_at_the_same_time test_the_lock_file_stays_where_it_is
                test_a_claim_that_does_not_wait test_workers_that_do_not_wait_each_get_every_session_once
                test_nobody_waits_for_a_run"""
        },
    ),
    Carried(
        "overlays",
        both=7,
        reasons={
            REVIEWS: """test_a_review_ignores_what_the_project_brings test_a_review_by_another_command_ignores_them_too
                test_a_review_uses_the_projects_files_when_asked""",
            PACKAGE: """test_links_do_not_make_the_look_at_an_overlay_long test_each_thread_decides_for_itself
                test_outside_of_a_repository_only_the_current_folder_counts test_a_mounted_file_system_is_not_left
                test_a_repository_in_the_home_folder_does_not_reach_into_it
                test_a_template_is_never_found_outside_of_its_folder""",
            API: "test_the_python_api_decides_as_the_commands_do",
            FILES: "test_a_replay_keeps_what_was_in_force test_the_users_own_files_are_recorded_too",
            WORDS: (
                "test_a_link_instead_of_the_folder_is_not_followed",
                "test_what_belongs_to_somebody_else_is_not_obeyed[.council]",
            ),
            "CHANGED: the price is said before a large sum, also of a workflow of one's own": """
                test_what_a_projects_workflow_decides_is_printed""",
        },
    ),
    Carried(
        "project_sessions",
        both=14,
        slow=True,
        reasons={
            REVIEWS: "test_run_and_review_say_where_their_session_is test_mcp_starts_and_records_there",
            API: "test_the_python_api_returns_where_its_session_is",
            FILES: """test_a_project_that_is_elsewhere_on_another_machine_keeps_its_archive
                test_without_a_repository_it_is_in_the_current_folder""",
            WORDS: """test_it_is_at_the_top_of_the_repository_and_found_below test_a_home_that_the_user_chose_is_not_replaced
                test_where_nothing_can_be_written_the_error_says_so""",
        },
    ),
    Carried(
        "subagents",
        both=31,
        reasons={
            BRIEFS: "test_the_sentence_becomes_the_brief_and_the_tier_the_model",
            WORDS: (
                "test_what_cannot_be_asked_is_denied_with_a_reason[Run `council brief 20200101-000000-00000000 01-positions/engineer` and do what it prints.-there is no session]",
            ),
            FILES: """test_a_reply_is_recorded_byte_for_byte_with_its_receipt
                test_an_assistants_debate_is_the_same_as_one_of_the_command_line
                test_without_a_transcript_what_the_assistant_was_shown_is_taken""",
            SIGNS: "test_a_seat_that_a_moderator_named_keeps_no_words_from_being_held_back",
        },
    ),
    Carried(
        "tracked_sessions",
        both=9,
        slow=True,
        reasons={
            PACKAGE: """test_every_command_that_takes_a_session_is_tried test_every_tool_is_tried
                test_a_tool_that_reads_shows_it test_a_cloned_session_is_reached_by_no_guess""",
            API: "test_the_python_api_refuses_it",
            BRIEFS: "test_a_hook_serves_a_session_of_the_project_that_git_does_not_track",
            WORDS: "test_a_session_that_others_may_change_is_not_used test_what_reads_shows_it",
            OPTIONS: ("test_what_writes_or_pays_refuses_it[answer]",),
            REVIEWS: tuple(f"test_what_writes_or_pays_refuses_it[{name}]" for name in OF_ROOMS),
            "GONE: signatures of ssh (HOUSE, What goes)": ("test_what_writes_or_pays_refuses_it[attest]",),
            "CHANGED: `decision` only reads the session": ("test_what_writes_or_pays_refuses_it[decision]",),
        },
    ),
)

# Modules of tests that call the program and are not carried, by their reasons.
LEFT = {
    "optional rooms, carried with their rooms": """apply branch_tree code code_cost code_findings code_lint code_workflows
        confirm conservation evidence index index_cost lab_report lab_run lab_sets learning lessons_command local_prompt mcp
        mcp_clients mcp_protocol page page_views planning poisoned_lessons review review_documents sandbox sandbox_command
        sandbox_obstacles search skill_sentences trial_replay trials web_control web_events web_guard web_server""",
    "most of it reaches into the old package: tests/next holds the promises": """adr agents artifacts attempts board budget
        calls chain cli_json consensus cost decision delphi diagram docs effort facts files filing git golden_sessions html
        ledger_session limits lint listing live mutations new_speaker permission perspectives prompt_cache proof python_api
        python_interrupt quotations quotes recorded_sessions remaining roles sections settings speaker_registry
        specialist_lists specialists start status_cost undecided verdict words_in_documents""",
    "real assistants": "claude_code claude_debate claude_hooks",
    "not sorted by functions yet": """answer answering api_faults arguments commands confused_files doctor document_status
        hook_entry human new_protocol new_workflow next_size notify outputs own_documents price
        project_install requests skill terminal""",
}
