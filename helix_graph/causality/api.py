"""The API of `memory.causality`: what works, what keeps failing and why, over all sessions of a memory.

Episodes are the truth. graph.db has a digest of each for comparisons; where a file has changed since, or there is no
graph, the file itself is read. So every answer is that of the files as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from helix_episodes.corrections import Correction, corrected
from helix_episodes.errors import InvalidArgument, InvalidEpisode, NotFound
from helix_episodes.model import sortable_time
from helix_episodes.safe_files import read_own, read_regular
from helix_episodes.store import PREFIX, EpisodeStore
from helix_graph.causality.pattern_survey import Survey, survey_of, with_shared
from helix_graph.errors import NO_WORDS, InvalidAssertion, NodeNotFound
from helix_graph.graph.assertions import AssertionStore, corrections_by_episode, patterns_among
from helix_graph.graph.episode_rows import decode_episode
from helix_graph.graph.model import SkippedFile
from helix_graph.graph.observations import Trial, distinct, is_same, trial_of, unpack, without_copies
from helix_graph.graph.patterns import (
    RUN_LEVELS,
    Pattern,
)
from helix_graph.graph.similar_decisions import COMPARES, SimilarAnswer, words_of
from helix_graph.project import without_forgotten
from helix_graph.trust import every_shared_episode
from helix_graph.validation import as_choice, as_int, as_path, as_str

if TYPE_CHECKING:
    from typing import Any

    from helix_episodes.model import Episode
    from helix_episodes.session import Session
    from helix_graph.causality.check_rates import CheckReport
    from helix_graph.causality.contrast import Contrast, WithoutAnswer
    from helix_graph.causality.edge_support import ClaimReport
    from helix_graph.causality.effects import Placebo
    from helix_graph.causality.fault_localization import Explanation
    from helix_graph.causality.fragile import FragileReport
    from helix_graph.causality.repeated_errors import Repeats
    from helix_graph.causality.runbook import Runbook, RunbookCheck
    from helix_graph.graph.api import Graph
    from helix_graph.graph.patterns import EffectReport


#: As many as `seen` shows at most.
MOST_SHOWN = 100


class Causality:
    """Everything that counts and compares over all sessions.

    ``graph`` has the episodes and what was kept of them; ``assertions`` is the folder of what people have added.
    ``read_log`` reads the log of an episode again, where it is still on this machine. With ``only`` there are no other
    episodes.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        assertions: Path,
        read_log: Callable[[Episode], Session | None] | None = None,
        only: Collection[str] | None = None,
    ) -> None:
        self._graph = graph
        self._assertions = assertions
        self._read_log = read_log
        self._only = only

    def among(self, episodes: Collection[str]) -> Causality:
        """The same questions of these episodes alone, by their ids."""
        return Causality(self._graph, assertions=self._assertions, read_log=self._read_log, only=episodes)

    def _own_and_shared(self) -> tuple[Causality, Causality | None]:
        """The questions of this user's own sessions, and of those that somebody else may have written, if any."""
        if self._only is not None:
            return self, None
        names = {path.stem for path in self._files()}
        every = every_shared_episode(self._graph.episodes.parent)
        shared = names if every is None else names & every
        return (self.among(names - shared), self.among(shared)) if shared else (self, None)

    def survey(self) -> Survey:
        """Every pattern with its comparison, by name, and what they rest on; a missing folder is an empty memory.

        This user's own sessions are counted; what shared ones say is counted beside them, or by itself.
        """
        own, shared = self._own_and_shared()
        return self._survey() if shared is None else with_shared(own.survey(), shared.survey())

    def _survey(self) -> Survey:
        found = list(AssertionStore(self._assertions).scan())
        bad = tuple(
            SkippedFile(path=str(path), problem=str(one)) for path, one in found if isinstance(one, InvalidAssertion)
        )
        asserted = patterns_among((path.stem, one) for path, one in found)
        trials, copies, skipped = self._trials(corrections_by_episode(found))
        return survey_of(trials, asserted, copies=copies, skipped=(*skipped, *bad))

    def patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> tuple[Pattern, ...]:
        """What works: the highest success rate first. `select_patterns` describes the options.

        Raises:
            InvalidArgument: ``min_success_rate`` is not within 0 to 1, or ``min_occurrences`` not within 1 to 1000.
        """
        return self.survey().best(min_success_rate=min_success_rate, min_occurrences=min_occurrences)

    def anti_patterns(self, *, max_success_rate: float = 0.3, evidence: str | None = None) -> tuple[Pattern, ...]:
        """What keeps failing: the lowest success rate first, over at least two episodes.

        With ``evidence="associated"`` only what goes with failure once like is compared with like.

        Raises:
            InvalidArgument: ``evidence`` is another word. ``max_success_rate`` is not within 0 to 1.
        """
        return self.survey().worst(max_success_rate=max_success_rate, evidence=evidence)

    def get_patterns(self, *, min_success_rate: float = 0.0, min_occurrences: int = 1) -> list[dict[str, Any]]:
        """``Get-Patterns`` of the original: `patterns` as plain dicts, its keys first and ours behind them."""
        rows = self.patterns(min_success_rate=min_success_rate, min_occurrences=min_occurrences)
        return _of_the_original(rows)

    def get_anti_patterns(self, *, max_success_rate: float = 0.3, evidence: str | None = None) -> list[dict[str, Any]]:
        """``Get-AntiPatterns`` of the original: `anti_patterns` as plain dicts."""
        return _of_the_original(self.anti_patterns(max_success_rate=max_success_rate, evidence=evidence))

    def checks(self, *, everything: bool = False) -> CheckReport:
        """How often each check fails, and after what kind of change more or less often than usual.

        With ``everything`` each situation with enough runs is listed, not only those that stand out.
        """
        from helix_graph.causality.check_rates import check_report

        return check_report(self.trials(), everything=everything)

    def fragile(self, path: str | None = None) -> FragileReport:
        """Files and folders after whose change a check fails more often than elsewhere, and files changed together.

        Of a ``path`` (relative to the project) everything that is known of it and of the folders that hold it.

        Raises:
            InvalidArgument: The path is empty.
        """
        from helix_graph.causality.fragile import fragile_report, with_shared

        if path is not None and not as_str("PATH", path).strip():
            raise InvalidArgument("PATH", "is empty")
        own, shared = self._own_and_shared()
        report = fragile_report(own.trials(), path=path)
        return report if shared is None else with_shared(report, shared.trials())

    def runbook(self) -> Runbook:
        """How this project is tested, linted, built and formatted, what has to run first, and what fails here."""
        from helix_graph.causality.runbook import runbook_of

        return runbook_of(sorted(self.episodes()[0], key=lambda one: (sortable_time(one.timestamp), one.id)))

    def check_runbook(self, file: Path) -> RunbookCheck:
        """What a file of instructions says of commands, next to what the sessions did.

        Raises:
            InvalidArgument: The file cannot be read, or is no text.
        """
        from helix_graph.causality.runbook import compare_with

        path = as_path("FILE", file)
        try:
            text = read_regular(path).decode()
        except OSError as error:
            raise InvalidArgument("FILE", f"{path} cannot be read: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise InvalidArgument("FILE", f"{path} is not UTF-8 text") from error
        return compare_with(self.runbook(), text, file=str(path))

    def comparisons(self) -> EffectReport:
        """Every comparison that the sessions allow, most striking first."""
        from helix_graph.causality.effects import effect_report

        trials, copies, _ = self._trials(AssertionStore(self._assertions).corrections())
        return msgspec.structs.replace(effect_report(trials), copies=copies)

    def claims(self, *, status: str | None = None) -> ClaimReport:
        """The edges that logs assert, with what the sessions say of each: supported, contradicted, or only asserted.

        The supported come first, then the contradicted; within a status those said in the most sessions. ``status``
        keeps only the edges that have it. How many edges were not looked at, and why, is given beside them.
        """
        from helix_graph.causality.edge_support import STATUSES, claims_of

        wanted = None if status is None else as_choice("status", status, STATUSES)
        report = claims_of(self.trials())
        return msgspec.structs.replace(
            report, claims=tuple(one for one in report.claims if wanted in {None, one.status})
        )

    def placebo(self, *, rounds: int = 20) -> Placebo:
        """What is found, and what would be found if nothing mattered (1 to 1000 ``rounds`` of shuffled outcomes)."""
        from helix_graph.causality.effects import placebo
        from helix_graph.causality.hypotheses import TrialMatrix

        return placebo(TrialMatrix(self.trials()), rounds=rounds)

    def explain(self, name: str, *, from_log: bool = True) -> Explanation:
        """Why a session may have failed: what to read first, and the steps to look at, each with its reasons.

        ``name`` is the id of an episode or of its session, its beginning, or ``last``. With ``from_log`` messages are
        ordered as the log has them, where it is still on this machine; else what the episode kept of them.
        """
        from helix_graph.causality.fault_localization import explanation_of

        episode = self._episode(name)
        own = trial_of(episode)
        return explanation_of(
            episode,
            [trial for trial in self.trials() if not is_same(trial, own)],
            session=self._read_log(episode) if from_log and self._read_log else None,
        )

    def explain_alone(self, episode: Episode, *, from_log: bool) -> Explanation:
        """As `explain`, without a look at the other sessions: a thousandth of the time where there are many."""
        from helix_graph.causality.fault_localization import explanation_of

        return explanation_of(episode, (), session=self._read_log(episode) if from_log and self._read_log else None)

    def contrast(self, name: str) -> Contrast:
        """A session beside the most alike one that succeeded, and where the two part.

        Raises:
            NotFound: As `explain`; so are the others.
        """
        from helix_graph.causality.contrast import changed_files, contrast_of

        episode = self._episode(name)
        known = {episode.id: episode}
        return contrast_of(
            trial_of(episode),
            self.trials(),
            lambda one: changed_files(known.get(one) or self._episode(one)),
        )

    def without(self, label: str) -> WithoutAnswer:
        """What follows in comparable sessions when something is not done; upper and lower case make no difference.

        Raises:
            InvalidArgument: There is nothing in the label.
            NodeNotFound: No session did anything of that label.
        """
        from helix_graph.causality.contrast import without_of
        from helix_graph.causality.effects import report_of
        from helix_graph.causality.hypotheses import TrialMatrix

        trials = self.trials()
        labels = sorted({step.label for trial in trials for step in trial.steps})
        wanted = as_str("LABEL", label).strip()
        if not wanted:
            raise InvalidArgument("LABEL", NO_WORDS)
        exact = wanted if wanted in labels else {one.casefold(): one for one in labels}.get(wanted.casefold())
        if exact is None:
            # Those that contain the words, else those spelled most alike.
            holding = sorted(one for one in labels if label.strip().casefold() in one.casefold())
            raise NodeNotFound.of_label(
                label,
                alike=(holding or get_close_matches(label, sorted(labels), n=_ALIKE_SHOWN, cutoff=0.4))[:_ALIKE_SHOWN],
            )
        matrix = TrialMatrix(trials)
        report = report_of(matrix)
        found = {one.action: one for one in (*report.effects, *report.last) if one.kind == "action"}
        return without_of(exact, matrix, found=found.get(exact))

    def similar(self, text: str, *, limit: int = 5) -> SimilarAnswer:
        """What was decided before in such a situation, and how it came out: the decisions most alike in their words.

        Raises:
            InvalidArgument: There is no word in the text. ``limit`` is not between 1 and 100.
        """
        most = as_int("limit", limit, lowest=1, highest=MOST_SHOWN)
        words = words_of(as_str("TEXT", text))
        if not words:
            raise InvalidArgument("TEXT", NO_WORDS)
        decisions, sessions = self._graph.decided(words, limit=most)
        met = {word for one in decisions for word in one.words}
        return SimilarAnswer(
            looked_for=words,
            not_met=tuple(word for word in words if word not in met),
            sessions=sessions,
            decisions=tuple(decisions),
            compares=COMPARES,
        )

    def repeats(self) -> Repeats:
        """Of the errors met, how many an earlier session had met, and fixed; by level and month."""
        from helix_graph.causality.repeated_errors import repeats_of

        return repeats_of(self.episodes()[0])

    def episodes(self, names: Iterable[str] | None = None) -> tuple[list[Episode], tuple[SkippedFile, ...]]:
        """Every session as people have corrected it, or those of these episodes, and the files that are none."""
        corrections = AssertionStore(self._assertions).corrections()
        store = EpisodeStore(self._graph.episodes)
        files = store.files() if names is None else [store.path_of(name.removeprefix(PREFIX)) for name in names]
        files = without_forgotten(self._graph.episodes.parent, files)
        return _read((path for path in files if self._only is None or path.stem in self._only), corrections)

    def _files(self) -> list[Path]:
        return without_forgotten(self._graph.episodes.parent, EpisodeStore(self._graph.episodes).files())

    def each_episode(self) -> Iterator[Episode]:
        """Every session as people have corrected it, one at a time: keeping 10,000 takes longer than reading them."""
        corrections = AssertionStore(self._assertions).corrections()
        found = _each_in(self._files(), corrections)
        return (one for one in found if not isinstance(one, SkippedFile))

    def trials(self) -> list[Trial]:
        """Every session as comparisons see it, without copies."""
        return self._trials(AssertionStore(self._assertions).corrections())[0]

    def _trials(
        self, corrections: Mapping[str, Sequence[Correction]]
    ) -> tuple[list[Trial], int, tuple[SkippedFile, ...]]:
        """The sessions, how many copies of them were left out, and the files that are no episodes."""
        digests = self._graph.digests()
        episodes, skipped = _read(digests.to_read, corrections)
        found = (*unpack(digests.packed), *map(trial_of, episodes))
        every = distinct([one for one in found if self._only is None or one.episode in self._only])
        trials = without_copies(every)
        return trials, len(every) - len(trials), skipped

    def _episode(self, name: str) -> Episode:
        extracted = EpisodeStore(self._graph.episodes).require(name)
        if not without_forgotten(self._graph.episodes.parent, [self._graph.episodes / f"{extracted.id}.json"]):
            raise NotFound.of_episode(name)
        return corrected(extracted, AssertionStore(self._assertions).corrections().get(extracted.id, ()))


def _of_the_original(rows: Iterable[Pattern]) -> list[dict[str, Any]]:
    """The rows that the original counts too: uses by episode. Runs of checks it does not know."""
    return [msgspec.to_builtins(row) for row in rows if row.level not in RUN_LEVELS]


#: Enough to recognise the label that was meant.
_ALIKE_SHOWN = 5


def _each_in(files: Iterable[Path], corrections: Mapping[str, Sequence[Correction]]) -> Iterator[Episode | SkippedFile]:
    """The episodes in some files, corrected, in the order of the files, and the files that are none.

    One bad file hides no other.
    """
    for path in files:
        try:
            episode = decode_episode(read_own(path), path)
        except OSError as error:
            yield SkippedFile(path=str(path), problem=f"cannot be read: {error.strerror or error}")
        except InvalidEpisode as error:
            yield SkippedFile(path=str(path), problem=error.problem)
        else:
            yield corrected(episode, corrections.get(episode.id, ()))


def _read(
    files: Iterable[Path], corrections: Mapping[str, Sequence[Correction]]
) -> tuple[list[Episode], tuple[SkippedFile, ...]]:
    episodes: list[Episode] = []
    skipped: list[SkippedFile] = []
    for one in _each_in(files, corrections):
        if isinstance(one, SkippedFile):
            skipped.append(one)
        else:
            episodes.append(one)
    return episodes, tuple(skipped)
