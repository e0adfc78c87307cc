"""A stand-in for an agent's program: it speaks the formats of hooks and transcripts, and follows a script, no model.

It does what the plugin's skill ``helix`` tells an agent to do: explore, plan, build in waves, observe. Whatever the
hooks answer is put before the agent, which is to say into the transcript; what that was is kept for the tests to look
at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from helix_graph import Memory
from hook_calls import call, wait_for, wait_until_idle
from session_script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class StandIn:
    """One session of the stand-in agent in a project."""

    def __init__(self, project: Path, logs: Path, *, session: str) -> None:
        self.memory = Memory.open(project)
        self.project = project
        self.logs = logs
        self.session = session
        self.main = Script(session, root=str(project))
        self.heard: dict[str, str] = {}
        self.prompts: dict[str, str] = {}
        self.waves: list[tuple[str, ...]] = []

    def begin(self, prompt: str) -> None:
        """The session begins and the user types."""
        self.heard["begin"] = self._hook("session-start", source="startup")
        self.heard["prompt"] = self._hook("user-prompt", prompt=prompt)
        self.main.prompt("\n".join(filter(None, [prompt, self.heard["begin"], self.heard["prompt"]])))

    def explore(self, findings: Mapping[str, str]) -> None:
        """One explorer an area, and what they found into the memory."""
        self.memory.plans.explorations.clear()
        for name, found in findings.items():
            said = f'{{"status": "success", "findings": [{{"file": "{name}.py", "what": "{found}"}}]}}'
            self._sub_agent("helix-explorer", f"explore-{name}", f"Explore {name}", said)
        waited = self.memory.plans.wait_explorers(len(findings), timeout=60, poll_interval=0.1)
        assert waited.completed
        self.memory.plans.explorations.save({"findings": list(waited.findings)}, objective="explored")

    def plan(self, plan: dict[str, Any]) -> None:
        """A planner saves the plan and reports it."""
        saved = self.memory.plans.save(plan)
        self._sub_agent("helix-planner", "planner", "TASK_ID: planner\nPlan it", f"PLAN_COMPLETE: {saved}")
        assert self.memory.plans.wait_builders(["planner"], timeout=60, poll_interval=0.1).completed

    def build(self, reports: Mapping[str, str]) -> None:
        """Builders in waves, until nothing is ready; ``reports`` says what each reports, by the task's number."""
        while ready := self.memory.plans.ready():
            self.waves.append(tuple(task.seq for task in ready))
            made = [self.memory.plans.workspaces.create(task.seq, session=self.session) for task in ready]
            for one in made:
                self.prompts[one.task_seq] = self.memory.plans.workspaces.prompt(one.id)
                name = f"{self.session}-builder-{one.task_seq}"
                self._sub_agent(
                    "helix-builder", name, self.prompts[one.task_seq], reports[one.task_seq], verify=one.verify
                )
            ids = [one.task_id for one in made]
            assert self.memory.plans.wait_builders(ids, timeout=60, poll_interval=0.1).completed

    def end(self) -> None:
        """An observer closes the plan, and the session ends."""
        self._sub_agent("helix-observer", "observer", "Look back", "DELIVERED: looked back")
        self.memory.plans.complete()
        self.main.run("pytest -q", "3 passed in 0.10s").say("Done.")
        self._hook("session-end", reason="other", transcript_path=str(self.main.save(self.logs)))
        wait_for(lambda: self.memory.episodes.get(self.session) is not None)
        wait_until_idle(self.memory.root)

    def _sub_agent(self, kind: str, name: str, prompt: str, said: str, *, verify: str = "") -> None:
        log = Script(f"agent-{name}", root=str(self.project)).prompt(prompt)
        if verify:
            log.edit("shop/app.py").run(verify, "1 passed in 0.10s")
        told = {"agent_id": name, "agent_type": f"helix-graph:{kind}"}
        self._hook("subagent-stop", **told, agent_transcript_path=str(log.say(said).save(self.logs / "subagents")))

    def _prompt_id(self, event: str) -> dict[str, str]:
        """Every event has the id of the prompt that it follows, as Claude Code tells it from 2.1.196 on."""
        return {} if event == "session-start" else {"prompt_id": f"{self.session}-prompt"}

    def _hook(self, event: str, **told: Any) -> str:  # noqa: ANN401  (JSON)
        known = {"session_id": self.session, "cwd": str(self.project), **self._prompt_id(event)}
        answer = call(event, {**known, **told})
        assert (answer.code, answer.errors) == (0, b"")
        return answer.context
