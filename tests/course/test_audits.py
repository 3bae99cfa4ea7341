"""Budgets leave no way open: what each lab's audit says of the ways to a lane is tried out."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from math import isclose

import pytest
from support.attack_classes import too_many_loads
from support.audits import (
    FREE,
    TRIPS,
    WAYS,
    audits,
    budget_of_text,
    by_atomics,
    limits,
    loaded_by_atomics,
    with_given,
    with_more,
)
from support.lab_cases import (
    STEMS,
    cells,
    hidden_cases,
    lab,
    module_text,
    names_of,
    visible_cases,
)
from support.one_block import by_one_block
from support.share import share, share_of_kinds

from warpwise.grading import extract
from warpwise.labs.budgets import OF_A_RUN, ratios_alone
from warpwise.labs.exercise import Program, Reason
from warpwise.labs.judge import judge, judge_launch

KERNELS = [
    (stem, exercise)
    for stem in STEMS
    for exercise in lab(stem).exercises
    if exercise.kind == "kernel"
]
PROGRAMS = [
    (stem, exercise)
    for stem in STEMS
    for exercise in lab(stem).exercises
    if exercise.kind == "host" and {*OF_A_RUN} & {*budget_of_text(stem, exercise.name)}
]
each = pytest.mark.parametrize(
    ("stem", "exercise"), KERNELS, ids=[f"{stem}-{exercise.id}" for stem, exercise in KERNELS]
)
PAID = [
    pytest.param(stem, exercise, way, turn, id=f"{stem}-{exercise.id}-{way}")
    for stem, exercise in KERNELS
    if exercise.id in audits(stem)
    for turn, way in enumerate(audits(stem)[exercise.id].counters)
]
LOADING = share_of_kinds(too_many_loads(), lambda one: (one.lab, one.exercise), one_in=4)
loading = pytest.mark.parametrize("answer", LOADING, ids=lambda one: f"{one.lab}-{one.name}")


def kernel_of(stem: str, exercise, text: str):
    return extract.kernel(text, exercise.name, given=cells(stem, "given"))


def launches(stem: str, id: str) -> list:
    """All launches of an exercise that have a budget: those shown, and a seed's hidden ones."""
    return [c for c in (*visible_cases(stem)[id], *hidden_cases(stem, id)) if c.budget]


@cache
def passes(stem: str, exercise, number: int) -> bool:
    """Return whether the solution passes a visible case: with all of its budget, so with any part
    of it."""
    case = visible_cases(stem)[exercise.id][number]
    return judge_launch(kernel_of(stem, exercise, module_text(stem, exercise)), case).passed


@each
def test_an_audit_names_every_way_and_what_pays_for_it(stem, exercise):
    audit = audits(stem)[exercise.id]
    assert audit.pays.keys() == WAYS.keys()
    assert all(len(paid) > len(FREE) for paid in audit.pays.values())
    assert all(case.budget for case in visible_cases(stem)[exercise.id])
    for launch in launches(stem, exercise.id):
        assert {*audit.counters.values()} <= {*launch.budget}, launch.label


@pytest.mark.slow
@pytest.mark.parametrize(("stem", "exercise", "way", "turn"), PAID)
def test_the_counter_pays_for_what_comes_by_that_way(stem, exercise, way, turn):
    """In an ordinary run in one case, another for each way."""
    counter = audits(stem)[exercise.id].counters[way]
    text = module_text(stem, exercise)
    cases = [
        (number, case)
        for number, case in enumerate(visible_cases(stem)[exercise.id])
        if way != "atomic" or loaded_by_atomics(case)  # else an atomic takes none of the inputs
    ]
    first = turn % len(cases) if cases else 0
    for number, case in share([*cases[first:], *cases[:first]], one_in=len(cases) or 1):
        only = replace(case, budget={counter: case.budget[counter]}, advice={})
        assert passes(stem, exercise, number)
        for trips in TRIPS:
            whole = with_given(stem, text, exercise.name)
            more = with_more(way, whole, exercise.name, case, trips)
            verdict = judge_launch(kernel_of(stem, exercise, more), only, record=())
            if not verdict.passed:
                break
        assert verdict.reason == Reason.OVER_BUDGET + counter, (case.label, verdict.detail)


@each
def test_no_budget_has_a_ratio_alone(stem, exercise):
    for launch in launches(stem, exercise.id):
        assert ratios_alone(launch.budget) == (), launch.label


@each
def test_the_budget_of_the_text_is_the_one_that_is_applied(stem, exercise):
    audit, text = audits(stem)[exercise.id], budget_of_text(stem, exercise.name)
    parameters = kernel_of(stem, exercise, module_text(stem, exercise)).parameters
    for launch in launches(stem, exercise.id):
        limit = limits(stem, audit, launch, parameters)
        told = {counter: limit(formula) for counter, formula in text.items()}
        assert told.keys() == launch.budget.keys(), launch.label
        for counter, value in launch.budget.items():
            assert isclose(told[counter], value), (launch.label, counter)


@pytest.mark.parametrize(
    ("stem", "exercise"), PROGRAMS, ids=[f"{stem}-{exercise.id}" for stem, exercise in PROGRAMS]
)
def test_the_budget_of_a_program_s_text_is_the_one_that_is_applied(stem, exercise):
    audit, text = audits(stem)[exercise.id], budget_of_text(stem, exercise.name)
    parameters = inspect.signature(names_of(stem)[exercise.name]).parameters
    cases = launches(stem, exercise.id)
    assert cases
    for case in cases:
        limit = limits(stem, audit, case, [*parameters][1:])
        assert {counter: limit(formula) for counter, formula in text.items()} == pytest.approx(
            case.budget
        ), case.label


@pytest.mark.parametrize("stem", STEMS)
def test_every_program_has_a_budget_in_the_text(stem):
    visible = visible_cases(stem)
    programs = {e.id for e in lab(stem).exercises if isinstance(visible[e.id][0], Program)}
    assert programs == {exercise.id for of, exercise in PROGRAMS if of == stem}


@pytest.mark.slow
@each
def test_one_block_may_not_do_the_work_of_all(stem, exercise):
    cases = hidden_cases(stem, exercise.id)
    text = by_one_block(module_text(stem, exercise), exercise.name)
    reason = judge(kernel_of(stem, exercise, text), cases, record=())[-1].reason
    assert reason.startswith(Reason.OVER_BUDGET)


@pytest.mark.slow
@loading
def test_a_load_too_many_is_one_by_an_atomic_too(answer):
    exercise = lab(answer.lab).exercise(answer.exercise)
    cases = hidden_cases(answer.lab, exercise.id)
    text = by_atomics(module_text(answer.lab, exercise, answer.text), exercise.name, cases[0])
    assert text or "cuda.atomic" in answer.text or not loaded_by_atomics(cases[0])
    kernel = kernel_of(answer.lab, exercise, text) if text else None
    assert not kernel or not judge(kernel, cases, record=())[-1].passed
