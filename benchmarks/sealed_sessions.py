"""Which sessions are sealed, and so belong to no working set, no command for development and no test.

Only their names stand here: what annotators wrote about them is in ``sealed/``, which nobody opens who works on rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallies import CORPORA

from helix_episodes.readers import find_logs

if TYPE_CHECKING:
    from pathlib import Path

#: The folder of a corpus with the projects' commits, which are no sessions.
RULES = "rules"
#: The names of the logs (without their endings) by the folder below the corpora that they are in.
SEALED_LOGS = {
    "agent-sessions/EntityProcess__agentv/codex": (
        "019ed50c-2fb3-7002-a384-360bea6e7f04",
        "019ed917-1cf7-72a3-92f5-c0aa98fb134e",
        "019ed936-c4f5-7a21-ad41-d1eed95dc4df",
    ),
    "agent-sessions/EntityProcess__agentv/copilot-cli": (
        "1afc31c8-d97f-4331-bae9-b6417f1b79a9",
        "2426852d-6cf5-4e90-be9f-e45fc6c7d5e4",
        "c3f091b3-1a1f-435f-8acb-6c7520106212",
    ),
    "agent-sessions/JanDeDobbeleer__oh-my-posh/claude-code": (
        "1617cc26-dfa4-42d7-981b-7af18893c26b",
        "223b2708-5340-4532-879b-05e5d9aa16f1",
        "58807b53-21df-44b2-a7bf-c26c5fe1af14",
        "597d17fc-8ee0-4485-a3a2-e0cc578729ef",
        "5d961c1e-4371-4a75-a5b1-e8bc7c56d71e",
        "69d8706c-d098-4239-8a99-f89c153822c3",
        "74df2bb3-9619-4ce2-8809-ceae98f8fe44",
        "e3c445a1-7bce-4ed8-ac91-5aa08adc027f",
    ),
    "agent-sessions/PackmindHub__context-evaluator/claude-code": (
        "00acd976-784c-4077-95cd-19aa1b51739b",
        "31b1be44-3380-444d-8a6f-78bc9463a310",
        "33ed38b7-321b-45d5-b23f-a65ed1678324",
        "38fb3e7a-51f4-433c-b995-d91f40910373",
        "464878eb-4c98-430c-a91b-32b051328dfb",
        "4d885b17-c8b2-4562-851d-6d2161584447",
        "50481e49-cee4-48a1-9c83-4a1ba5856ed4",
        "5722d671-c77a-4342-9786-5d358e4c2080",
        "66a75a73-185d-421f-a3ab-9f1430f4367d",
        "6a5d9c1b-4448-4b2b-8a71-34ae8d12f0e7",
        "77e148b8-d479-4609-8980-471c85003c07",
        "7a07d573-be48-4d46-bfe6-9f09c304cc43",
        "8ebc42a2-75ff-4391-80d5-530c9aed5dbf",
        "8ecab05f-4481-43d6-9428-a6b177981877",
        "90499da5-31f8-4177-a6ca-95705254e7f9",
        "9baef004-ea21-4f67-acf2-16ad2d84098a",
        "a9e81d0e-ac68-490f-95de-9f12a3c7ed23",
        "ffc44f28-b453-4499-9cb2-65c5b9f2c2ed",
    ),
    "agent-sessions/eitatech__gatomia-vscode/opencode": (
        "ses_21fdd9e7affeH7Q2w0R1H3V3aD",
        "ses_21fe5dac1ffeAzVgUGhqDjvlgC",
        "ses_21fea93acffe1HJIpTW7yLQlJP",
        "ses_21fef8b48ffe8b6fFVOWygTXwV",
        "ses_21ff78c5bffelmlTXAlpFN4W6C",
        "ses_2200dec98ffeAAGsw94tLFVYT6",
    ),
    "agent-sessions/entireio__entire-graph/claude-code": (
        "09e82c6a-87c1-4cac-b38f-0ef49e46781d",
        "306fb219-a8fd-4770-81df-07039d4de7fa",
        "39e938fb-d4c2-4ade-b8c8-b06db3c9d7f5",
        "cecff86e-7a02-44b4-88ad-71d3dcc09de2",
        "dc1b5c87-548a-4838-a7ed-f1c875d41e38",
    ),
    "agent-sessions/jdx__mise/codex": (
        "019f1fdd-25d6-7772-a211-4d2490625736",
        "019f2007-fbdf-72d2-a3fa-63558f33bcdd",
        "019f2016-8a7a-7440-a3d7-85ddf269a3d6",
        "019f201a-9f76-70b2-bd06-2bdba43c1d6c",
        "019f2327-20cc-7dc3-80bb-599334b89926",
        "019f2398-40dc-7d93-b033-1c4607e57ef4",
        "019f23cb-e0d9-7593-a96d-651f11dc44f1",
        "019f23cc-e43b-72b0-98ab-630b08ce1f7f",
        "019f3a7f-3035-7753-91b9-805dd22f04d4",
        "019f3c90-cd50-7b91-9b0c-9c4e2c8c24af",
    ),
    "agent-sessions/savekirk__session-bridge/codex": (
        "019d6306-cf06-7193-b86e-12f73f94af8b",
        "019d6811-6551-7aa0-bafd-b5cf9ae697d3",
        "019d683e-1ac9-7fb1-99eb-e46acbee7ff0",
        "019d686d-3945-79a2-9493-2974c062a138",
        "019d69f9-9203-7891-8104-44787e8db422",
        "019d6a5d-e94e-7f43-b61d-dd2758645bc8",
    ),
    "agent-sessions/savekirk__session-bridge/gemini-cli": (
        "914f3c63-152a-4f25-9f4e-367c43140554",
        "970c70a7-5c8e-4fd8-a146-707379eae099",
        "cdb14b05-cceb-4354-a9d8-8c9182ece8bf",
        "d0ed8c54-d24e-4ca5-b7ff-2f2b943c0d2d",
    ),
    "agent-sessions/savekirk__session-bridge/opencode": (
        "ses_277daa810ffePOBsdfS6gm8uA2",
        "ses_277ed760bffeXZM4Joly2lQJzU",
        "ses_280fa301bffe2Zdl8q96YxhFwJ",
        "ses_2bef25635ffe8EzID0I1Oeymal",
    ),
    "claude-code/sessions": (
        "0a0314fb-b206-450f-b895-cd5181a28ae5",
        "0f6074fc-a0f5-4d56-8de0-f4a592ddcf3b",
        "1c38adc0-5071-4382-9e53-de8c30e2265f",
        "250f24a9-9cb5-4265-b13e-a9d193df03b8",
        "3a4a4468-815f-4494-a1ad-5681a263b5d4",
        "531e0007-8fdd-4e98-a526-3f675a2b8f16",
        "59455d2e-4c2a-4b07-9d5f-d01f98258458",
        "645ea3df-c4e9-44bc-b333-22c9893c32c5",
        "70fc6d83-147d-4fdf-b015-bd67eeb11883",
        "775a7e0f-d6d5-47fe-a4c9-61f814abeae3",
        "7a3cf82d-9284-4b61-9e6b-d409226efa84",
        "7ff991f5-9a8b-4e94-ae66-40204bc3049b",
        "87a7858d-3f94-4c65-a2d5-307e9337b041",
        "8b418ea5-895d-4ad5-abe8-4489d36e454f",
        "8c816805-24e2-4871-ac94-e97ce23993c1",
        "94e68429-3fb7-4f6c-9915-65ada4c33908",
        "9b76dc0f-dc1b-4822-ac56-53cfa3fbc032",
        "a032db5a-df02-44d7-ab1e-fb024213ecc4",
        "a0bd162f-1328-48c5-83bc-c0674aa791ac",
        "b9bdbf44-cc66-4b63-bf50-e2ace00d58e7",
        "c26d2153-23c8-42ed-ab6c-808579b64e5b",
        "c3afafd7-9a94-4316-80d3-ad6f8a1e4d80",
        "cab865ac-8278-406e-b5c2-c73d24d7f9ad",
        "cde341db-b80a-44f5-b0f2-94db2ef7a164",
        "cf564e14-9b07-42ad-8d9a-4faa1b79a0ed",
        "dc577197-3905-4039-9b27-8ab77a6b087f",
        "ddf36c6d-77ad-4900-9c50-1ea2c4cd932b",
        "f6833005-7be4-4178-bb37-a0e9feadc36b",
        "f736da47-b2ca-4f86-bb32-a1bbe582e464",
        "fff6617b-2974-4b80-8344-bb87e325a67b",
    ),
}
#: The same without the folders: a copy of a sealed log elsewhere is sealed too.
SEALED_NAMES = frozenset(name for names in SEALED_LOGS.values() for name in names)


def open_logs(corpus: str) -> list[Path]:
    """The logs of a corpus that may be looked at: all that readers know, but for the sealed ones.

    Some corpora have their logs in a folder ``sessions``; what lies beside it was made from them. Ends the program
    where the corpus is not there: a benchmark that finds no logs measures nothing.
    """
    folder = CORPORA / corpus
    if not folder.is_dir():
        raise SystemExit(f"no logs in {folder}; set HELIX_CORPORA to the folder that has the corpora")
    logs = find_logs(folder / "sessions" if (folder / "sessions").is_dir() else folder)
    return [log for log in logs if not is_sealed(log) and RULES not in log.relative_to(folder).parts]


def is_sealed(log: Path) -> bool:
    """Whether a file is a sealed session's log or lies in a folder of its name, as those of sub-agents do."""
    return any(part.partition(".")[0] in SEALED_NAMES for part in log.parts)
