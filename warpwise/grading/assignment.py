"""Tell which lab each submission is of, and which labs a folder of submissions was assigned.

With ``--lab`` that is the one lab. Else it is every lab that at least half as many students handed
in as the one that most did; a notebook of any other lab is *unexpected*, such as one that a student
uploaded to the wrong assignment. Only a lab that was assigned counts for those who did not hand it
in, so that one wrong file costs nobody else anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warpwise.errors import GradingError
from warpwise.grading import notebook
from warpwise.grading.layouts import Submission, stem_of
from warpwise.grading.platforms import NBGRADER

#: What can be done with unexpected notebooks.
GRADE, LEAVE_OUT = "grade", "leave-out"
CHOICES = {
    GRADE: "each is graded as what it is, and counts in nobody's total",
    LEAVE_OUT: "none is graded, and who handed in nothing else has 0, with the reason",
}
MOST_NAMED = 5
UNKNOWN_LAB = (
    "which lab this is cannot be told from its name or its content; "
    "name the file after the lab, or grade with --lab"
)
ELSEWHERE = "this is the notebook of {}, not of {}"

#: Given what is unexpected, in words, returns one of CHOICES.
Choose = Callable[[str], str]


@dataclass(frozen=True)
class Assigned:
    """Submissions with their labs, the labs that were assigned, and what was done about others.

    ``unexpected`` names the notebooks of labs that were not assigned, in words; ``choice`` is one
    of CHOICES, and "" if there was nothing to choose."""

    submissions: tuple[Submission, ...]
    labs: tuple[str, ...]
    unexpected: str = ""
    choice: str = ""

    @property
    def said(self) -> str:
        """What is unexpected and what was chosen, in one line."""
        return f"{self.unexpected}; by --unexpected {self.choice} {CHOICES[self.choice]}"


def refuse(unexpected: str) -> str:
    """Choose nothing: raise GradingError with what there is to choose."""
    choices = " or ".join(f"--unexpected {name} ({what})" for name, what in CHOICES.items())
    raise GradingError(f"{unexpected}; name the lab with --lab, or give {choices}")


def assign_labs(
    submissions: Sequence[Submission],
    labs: Sequence[str],
    wanted: str | None,
    ids: Mapping[str, set[str]],
    choose: Choose = refuse,
) -> Assigned:
    """Give submissions their labs, of these stems and exercise ids, or only the ``wanted`` one.

    The name decides first, then the notebook's own metadata, then the exercises in it. Of several
    notebooks by one student for one lab the last one counts, if it is known when each was
    submitted; else the last upload or attempt, then the one whose name is exactly the lab's. The
    others get a problem. What has a problem is of the lab that its name says, or else of the only
    one assigned."""
    found = [_with_lab(s, labs, wanted, ids) for s in submissions]
    assigned = (wanted,) if wanted else _assigned(found)
    unexpected = [s for s in found if s.lab and not s.problem and s.lab not in assigned]
    said = choice = ""
    if wanted:
        found = _of_lab(found, wanted)
    elif unexpected:
        said = _said(unexpected, assigned)
        choice = choose(said)
        found = _left_out(found, assigned) if choice == LEAVE_OUT else found
    found = [_blamed(s, labs, assigned) if s.problem else s for s in found]
    return Assigned(_counted(found), assigned, said, choice)


def _assigned(found: Iterable[Submission]) -> tuple[str, ...]:
    """Return the labs that enough students handed in, by stem."""
    students: defaultdict[str, set[str]] = defaultdict(set)
    for s in found:
        if s.lab and not s.problem:
            students[s.lab].add(s.student)
    most = max(map(len, students.values()), default=0)
    return tuple(sorted(lab for lab, whose in students.items() if 2 * len(whose) >= most))


def _said(unexpected: Sequence[Submission], assigned: Sequence[str]) -> str:
    """Describe unexpected notebooks in one line, with the first of their names."""
    named = ", ".join(f"{s.file!r} ({s.lab})" for s in unexpected[:MOST_NAMED])
    more = f" and {len(unexpected) - MOST_NAMED} more" if len(unexpected) > MOST_NAMED else ""
    are = "1 notebook is" if len(unexpected) == 1 else f"{len(unexpected)} notebooks are"
    return f"{are} of another lab than {', '.join(assigned)}, which most are of: {named}{more}"


def _of_lab(found: Sequence[Submission], lab: str) -> list[Submission]:
    """Keep one lab's submissions; for who has none, the first notebook of another, as a problem.

    nbgrader's tree holds all assignments, each in a folder of its name, so there others pass."""
    kept = [s for s in found if s.lab == lab or _may_be(s)]
    students = {s.student for s in kept}
    for s in sorted(found, key=lambda s: s.file):
        if s.student not in students and s.platform != NBGRADER:
            students.add(s.student)
            kept.append(replace(s, lab=lab, problem=ELSEWHERE.format(s.lab, lab)))
    return kept


def _may_be(s: Submission) -> bool:
    """True for a problem that may be of any lab."""
    return s.problem != "" and (s.lab == "" or s.platform != NBGRADER)


def _left_out(found: Sequence[Submission], assigned: Sequence[str]) -> list[Submission]:
    """Drop unexpected notebooks; of who has nothing else keep the first, as a problem."""
    kept = [s for s in found if s.problem or s.lab in assigned]
    students = {s.student for s in kept}
    for s in sorted(found, key=lambda s: s.file):
        if s.student not in students:
            students.add(s.student)
            why = ELSEWHERE.format(s.lab, " or ".join(assigned))
            kept.append(replace(s, lab="", problem=why))
    return kept


def _blamed(submission: Submission, labs: Sequence[str], assigned: Sequence[str]) -> Submission:
    """Return a submission with a problem as one of the lab that was assigned, if it is known."""
    named = next(filter(None, (_named(name, labs) for name in _names(submission))), "")
    if named in assigned:
        return replace(submission, lab=named)
    return replace(submission, lab=assigned[0] if len(assigned) == 1 else "")


def _counted(found: list[Submission]) -> tuple[Submission, ...]:
    """Return submissions in order, with a problem for each that another one takes precedence of."""
    rivals: dict[tuple[str, str], list[Submission]] = {}
    for s in found:
        if not s.problem:
            rivals.setdefault((s.student, s.lab), []).append(s)
    graded = {whose: _latest(theirs) for whose, theirs in rivals.items()}
    found.sort(key=lambda s: (s.student, s.lab, s is not graded.get((s.student, s.lab)), s.file))
    return tuple(_unless_graded(s, graded.get((s.student, s.lab))) for s in found)


def _with_lab(
    submission: Submission, labs: Sequence[str], wanted: str | None, ids: Mapping[str, set[str]]
) -> Submission:
    named = next(filter(None, (_named(name, labs) for name in _names(submission))), "")
    if submission.problem or named:
        return replace(submission, lab=named)
    try:
        content = notebook.read(submission.path)
    except GradingError as error:
        return replace(submission, problem=str(error), lab="")
    except Exception:  # a mistake of ours: told when the notebook is graded
        return replace(submission, lab=wanted or "")
    if content.lab in labs:
        return replace(submission, lab=content.lab)
    claimed = {cell.exercise for cell in content.cells}
    fitting = [stem for stem in labs if ids.get(stem, set()) & claimed]
    only = wanted or (labs[0] if len(labs) == 1 else "")
    lab = only or (fitting[0] if len(fitting) == 1 else "")
    return replace(submission, lab=lab, problem="" if lab else UNKNOWN_LAB)


def _names(submission: Submission) -> list[str]:
    """Return what may name a lab: the notebook, then folders, the innermost first."""
    name = stem_of(submission.title) if submission.title else submission.path.stem
    above = submission.file.split("/")
    folders = above[:0:-1] if submission.instead is not None else above[-2:0:-1]
    return [name, *folders]


def _named(name: str, labs: Sequence[str]) -> str:
    """The lab whose stem stands in a name, the longest of several."""
    return max((stem for stem in labs if stem in name), key=len, default="")


def _latest(theirs: Sequence[Submission]) -> Submission:
    """The one of a student's notebooks for a lab that counts."""
    times = {s.file: s.submitted.timestamp() for s in theirs if s.submitted}
    times = times if len(times) == len(theirs) else dict.fromkeys(times, 0.0)

    def order(s: Submission) -> tuple[float, int, int, bool, str]:
        misnamed = stem_of(s.title or s.path.name) != s.lab
        return -times.get(s.file, 0.0), -s.upload, -s.attempt, misnamed, s.file

    return min(theirs, key=order)


def _unless_graded(submission: Submission, graded: Submission | None) -> Submission:
    if submission.problem or graded is None or graded is submission:
        return submission
    return replace(submission, problem=f"a second notebook for this lab; {graded.file} was graded")
