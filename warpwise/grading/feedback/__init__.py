"""A student's feedback: what was asked, what was found and why, and what to try next.

``values`` gathers it from the records; ``html`` and ``plain_text`` show it. Nothing is decided
here: records hold all that was found."""

from warpwise.grading.feedback.explained import EXPLAINED
from warpwise.grading.feedback.html import page
from warpwise.grading.feedback.plain_text import text
from warpwise.grading.feedback.values import questions

__all__ = ["EXPLAINED", "page", "questions", "text"]
