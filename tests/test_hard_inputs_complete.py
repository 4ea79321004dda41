"""Where each row of the list of hard and bad inputs is tested: that none is forgotten is itself a test."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from test_hard_inputs_auto import LAYOUTS, OUTCOMES, STORAGES

HERE, NAMED = "tests/test_hard_inputs_auto.py", "tests/test_hard_inputs.py"
RAISES = f"{NAMED}::test_invalid_input_raises_before_any_work_and_names_the_place"
FILES, WORLDS = "tests/problems/files", "tests/worlds"

WHERE_TESTED: dict[int, tuple[str, ...]] = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 27, 29, 34, 65), (RAISES,)),
    **{row: (f"{HERE}::test_auto_ends_as_the_table_says",) for row, *_ in OUTCOMES},
    **{row: (f"{HERE}::test_the_layout_and_type_of_arrays_change_no_bit_of_auto",) for row, *_ in LAYOUTS},
    **{row: (f"{HERE}::test_every_sparse_format_gives_the_bits_of_csr_and_is_left_alone",) for row, *_ in STORAGES},
    24: (
        f"{HERE}::test_arguments_that_make_no_sense_raise",
        f"{HERE}::test_row_24_a_start_outside_the_box_is_projected_and_noted",
    ),
    38: (f"{HERE}::test_row_38_a_faulty_product_is_a_breakdown_at_first_use",),
    56: (f"{NAMED}::test_invalid_arguments_of_solve_raise",),
    62: (f"{HERE}::test_row_62_friction_from_none_to_huge", RAISES),
    63: (
        f"{HERE}::test_row_63_a_duplicated_contact_moves_nothing_otherwise",
        f"{WORLDS}/rigid2d/test_disc_inputs.py::test_bad_walls_and_worlds_are_refused",
        f"{WORLDS}/rigid2d/test_disc_inputs.py::test_a_normal_may_have_any_length",
        f"{WORLDS}/fluid/test_fluid_solids.py::test_a_normal_is_a_direction_whatever_its_length",
    ),
    68: (f"{HERE}::test_row_68_no_time_returns_the_start_with_its_residual",),
    69: (f"{HERE}::test_row_69_no_iterations_evaluate_the_start",),
    70: (
        f"{HERE}::test_row_70_tolerance_zero_runs_to_the_last_digit",
        f"{HERE}::test_arguments_that_make_no_sense_raise",
    ),
    71: (f"{HERE}::test_arguments_that_make_no_sense_raise",),
    72: (
        f"{HERE}::test_row_72_an_interrupt_carries_what_was_reached",
        "tests/cli/test_cli_interrupt.py::test_a_real_interrupt_saves_the_partial_answer_and_exits_with_130",
    ),
    73: (f"{HERE}::test_row_73_a_callback_may_stop_and_may_fail",),
    74: (f"{HERE}::test_rows_74_and_75_a_callback_may_change_its_x_and_solve",),
    75: (f"{HERE}::test_rows_74_and_75_a_callback_may_change_its_x_and_solve",),
    76: (f"{HERE}::test_row_76_threads_may_share_a_problem",),
    77: (f"{HERE}::test_row_77_a_child_forked_after_a_thread_has_solved_can_solve_too",),
    78: (f"{HERE}::test_row_78_a_start_at_the_solution_takes_at_most_one_iteration",),
    79: (f"{NAMED}::test_row_79_a_dense_matrix_that_does_not_fit_is_refused_before_it_is_copied",),
    81: (f"{FILES}/test_npz.py::test_a_pickled_object_array_is_never_unpickled",),
    82: (f"{FILES}/test_npz.py::test_a_128_byte_array_that_declares_32_gigabytes_is_refused_without_allocating",),
    83: (f"{FILES}/test_matrix_market.py::test_a_matrix_file_that_lies_is_refused_with_its_line",),
    84: (f"{FILES}/test_matrix_market.py::test_a_matrix_file_that_lies_is_refused_with_its_line",),
    85: (
        f"{FILES}/test_fclib.py::test_a_small_file_that_declares_terabytes_is_refused_before_it_is_read",
        "tests/recording/test_recordings_hostile.py::test_the_limit_of_bytes_holds_for_columns_and_for_frames",
    ),
    86: (
        f"{FILES}/test_fclib.py::test_links_that_lead_elsewhere_are_not_followed",
        f"{FILES}/test_fclib.py::test_a_virtual_dataset_is_refused",
        "tests/recording/test_recordings_hostile.py::test_a_file_that_lies_is_refused_with_the_place",
    ),
    87: (
        f"{FILES}/test_npz.py::test_a_zip_bomb_is_refused_by_its_ratio",
        f"{FILES}/test_npz.py::test_members_with_paths_in_their_names_are_ignored",
    ),
    88: (f"{WORLDS}/test_hard_worlds.py::test_a_model_that_cannot_be_honoured_is_refused",),
    89: (
        "tests/viewer/test_viewer_server.py::test_a_socket_from_elsewhere_is_refused_before_it_is_one",
        "tests/viewer/test_viewer_server.py::test_a_hundred_megabytes_close_the_socket_and_the_server_lives",
        "tests/viewer/test_viewer_connection.py::test_a_bad_message_closes_its_socket_and_ends_its_process_alone",
    ),
    90: (
        "tests/lab/runs/test_row_store.py::test_a_damaged_shard_is_left_out_and_named",
        "tests/lab/runs/test_row_store.py::test_a_compaction_that_dies_on_the_way_loses_no_row",
        "tests/lab/runs/test_row_store.py::test_what_cannot_be_written_is_an_error_of_the_system",
    ),
    92: (
        f"{HERE}::test_row_92_the_set_of_free_rows_may_come_to_any_size_and_go",
        "tests/solvers/test_hard_grids.py::test_a_set_of_free_rows_may_come_to_any_size_and_go",
    ),
}

ROOT = Path(__file__).resolve().parents[1]


@cache
def functions_of(path):
    return {node.name for node in ast.parse((ROOT / path).read_text()).body if isinstance(node, ast.FunctionDef)}


def test_every_row_of_the_list_is_tested_somewhere():
    assert sorted(WHERE_TESTED) == list(range(1, 93))
    for row, places in WHERE_TESTED.items():
        assert places, row
        for place in places:
            path, function = place.split("::")
            assert function in functions_of(path), f"row {row}: {place}"


def test_the_list_has_the_rows_that_are_told_here(shared):
    numbers = [
        int(found) for found in re.findall(r"^\| (\d+) \|", (shared / "HARD-INPUTS.md").read_text(), re.MULTILINE)
    ]
    assert numbers == list(range(1, 93))
