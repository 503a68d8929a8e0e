"""What is believed of what the child says."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from council.sandbox.harness.suite import Case


class Judge:
    """Hears the child's lines. A test has passed if it was said to, and its own code said that it came to its end."""

    def __init__(self, cases: list[Case], void: list[str], secret: str, allowed: list[str]) -> None:
        self._cases = {case.id: case for case in cases}
        self._names = {case.key: case.id.rpartition("::")[2] for case in cases}
        self._canaries = {self._names[case.key] for case in cases if case.canary}
        self._void, self._secret, self._allowed = set(void), secret, set(allowed)
        self._replaced: list[str] = []
        self._done: Counter[str] = Counter()
        self._runs: Counter[str] = Counter()
        self._outcomes: dict[str, str] = {}
        self._unread: set[str] = set()
        self._left: set[str] = set()
        self._texts: list[tuple[str, str]] = []
        self._strange: list[str] = []
        self.lines: dict[str, list[int]] = {}
        self.ended = False

    def hear(self, line: bytes) -> None:
        try:
            said = json.loads(line)
            trusted = said.pop("secret") == self._secret
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            trusted = False
        if not trusted:
            self._strange.append("something else wrote to the runner")
        elif {"tampered", "replaced", "impostor"} & said.keys():
            self._suspect(said)
        elif "done" in said:
            self._done[said["done"]] += 1
        elif "result" in said:
            self._take(said["result"], said["outcome"], said.get("text", ""))
        elif "error" in said:
            (self._left if "skipped" in said else self._unread).add(said["error"])
            self._texts.append((said["error"], said["text"]))
        elif "lines" in said:
            self.lines = said["lines"]
        elif "end" in said:
            self.ended = True

    def _suspect(self, said: dict[str, Any]) -> None:
        if "tampered" in said:
            self._strange.append(str(said["tampered"]))
        elif "impostor" in said:
            self._texts.append(("", f"{said['impostor']} equals whatever it is compared with"))
            self._strange.append("a result equals whatever it is compared with")
        else:
            self._replaced.append(said["replaced"])
            if said["replaced"] not in self._allowed:
                self._strange.append(f"{said['replaced']} was replaced")

    def _take(self, test: str, outcome: str, text: str) -> None:
        base = test.partition("[")[0]
        case = self._cases.get(base)
        keys = [case.key] if case else [key for key, name in self._names.items() if name == base.rpartition("::")[2]]
        came_to_its_end = any(self._done[key] > 0 for key in keys)
        self._done.subtract({key: self._done[key] for key in keys})
        self._runs[base] += 1
        if case.canary if case else base.rpartition("::")[2] in self._canaries:  # which a class may have inherited
            if outcome == "passed" or came_to_its_end:
                self._strange.append("a test that must fail did not fail")
            return
        if outcome == "passed" and not came_to_its_end:
            outcome, text = "failed", text or "it did not come to its end"
            if not self._skips(test):
                self._strange.append(f"{test} is said to have passed, and did not come to its end")
        if test in self._outcomes and self._outcomes[test] != outcome:
            outcome = "failed"
        self._outcomes[test] = outcome
        if outcome == "failed" and text:
            self._texts.append((test, text))

    def conclude(self, ended: str) -> dict[str, Any]:
        passed = [test for test, outcome in self._outcomes.items() if outcome == "passed"]
        skipped = [test for test, outcome in self._outcomes.items() if outcome == "skipped"]
        failed = [test for test, outcome in self._outcomes.items() if outcome == "failed"]
        for case in self._cases.values():
            if case.canary:
                expected = case.id.partition("::")[0] not in self._unread and not (ended or failed)
                if expected and self._runs and not self._runs[case.id]:
                    self._strange.append("a test that must fail was not run")
            elif self._runs[case.id] < case.runs and not (case.skips and self._runs[case.id]):
                if case.id.partition("::")[0] in self._unread:
                    continue
                failed.append(case.id)
                if not self._runs[case.id]:
                    self._texts.append((case.id, "it was not run"))
        failed += [path for path in self._unread if self._matters(path)]
        unasked = [test for test in skipped if not self._skips(test)]
        self._texts += [(test, "it was skipped, and not by the test file") for test in unasked]
        failed += unasked
        unasked += [test for test in failed if not self._runs[test] and test.partition("::")[0] in self._left]
        passed = [test for test in passed if self._counts(test)]
        failed = [test for test in dict.fromkeys(failed) if self._counts(test)]
        return {
            "verdict": self._decide(passed, failed, ended), "passed": passed, "failed": failed,
            "unasked": unasked, "replaced": self._replaced,
            "texts": [(test, text) for test, text in self._texts if self._counts(test)],
            "strange": list(dict.fromkeys(self._strange)), "ended": ended,
            "silent": not self._runs and not self._unread,
        }  # fmt: skip

    def _skips(self, test: str) -> bool:
        case = self._cases.get(test.partition("[")[0])
        return case is not None and case.skips

    def _matters(self, path: str) -> bool:
        """Whether a file that could not be imported has tests that count. It stands for all of them."""
        tests = [id for id, case in self._cases.items() if id.startswith(f"{path}::") and not case.canary]
        return not tests or any(map(self._counts, tests))

    def _counts(self, test: str) -> bool:
        return not {test, test.partition("[")[0]} & self._void

    def _decide(self, passed: list[str], failed: list[str], ended: str) -> str:
        if self._strange:
            return "tampered"
        if ended:
            return "unknown"
        return "pass" if passed and not failed else "fail"
