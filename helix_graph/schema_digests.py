"""Everything that may be in the schema of our databases, by `helix_graph.database.object_digest`.

Written by ``make schema`` from the schemas, of all their versions; what older programs made stays. A hook that made
all tables only to compare them would take four milliseconds longer.
"""

from __future__ import annotations

ROOM_VERSIONS = {"insights": 8, "plans": 2, "topics": 3}

HELIX_OBJECTS = frozenset({
    "02eaf83428b08240", "0309ea34d606551a", "0828aacf1ff89945", "088cb0449fd98769", "15cc1088679690d8",
    "19771d64f8bf482a", "2208943c89c50f22", "2590e153e898e8e2", "2829da60d7e226a0", "294e0d8bb60d3428",
    "2be3ce3b308e8751", "2be549a5c658ca06", "2ec04fb75461f6a8", "32cb3a03b98780a3", "3369af15d416a119",
    "3a805918b7eeddd3", "3ba75af6ee5216bb", "3d7ecdfb7080ce57", "3f2023729f600492", "414be5756d1848c2",
    "419db00a2fd10e88", "4202e984dfe77963", "468e4c58933d3af7", "47e429133a66a1e0", "48a4f5dc644fc0da",
    "4958a7f1ab3eb330", "5b9fb37ff30d8284", "605160ffe509fa11", "617d5c195aec879b", "63206f3901999df0",
    "6da228e4e744232d", "6f6f571585a9a42f", "74c97f8733e786dd", "7d0a38f567f0edf1", "7d212c7573ce3807",
    "812b381ff90236e2", "8659c1cd851c8d33", "914876af8b4da748", "93bc233e6532fe8a", "9457ddb3157ea294",
    "96b00411a52f3c43", "987676847b4f7cf6", "993524226c5d27e6", "9980a5ee62f7369d", "9e11acfbf134a0ad",
    "9e6fd352b80157da", "9f0b29ff769a3bd7", "a153dfedb0d400aa", "a469ce2397af5003", "a4e6c8ad302d8e03",
    "b40c06d3a82f5f57", "b690fe3047af5319", "b6f0b8e456a138fa", "bb1352486bfd1d91", "bdf7ee660765570e",
    "be61240c35c3de1d", "c014ad233bcbf863", "c113e289931fb490", "c363473de5020b90", "c664b4845b1dcb4f",
    "c676cf3e14178cbc", "cad873650d079eef", "cf5ec9bb276d089b", "d62377b4d2339846", "d8ccc633b6dc2c06",
    "dac0349ddceee28d", "e0a4d555a539ff1d", "e9cbbcc50bb725a8", "e9fb79d9ac1e0409", "eed9577fa6105919",
    "f2ccbe49b003e837", "f35cf1d404a08057", "f3c9fa06d3a083b5", "f5f1e28f5b9815d6", "fb78346900dbea40",
    "fc39b5cb029c507c", "fd3b14519039e352", "fe48f6d91de9e873", "fffbe7f1e32e7e75",
})  # fmt: skip

GRAPH_OBJECTS = frozenset({
    "05575a14d9460079", "0565523cfe8a1309", "08d0020d3a79a8f4", "18799e2da99904b8", "1bbbbcddd2e2debd",
    "1fa4accd2836be40", "28dc12c129b2d599", "2ad3cedb9b5da211", "2ea6770244bc2865", "2f6e551403687d22",
    "362c6598201fcafb", "41cd3d7dd50d919a", "44dd2a3a6c83aeba", "46a1826c771e1c64", "4ac22a9bbee1e75b",
    "4bc2033a6b3622f4", "50b63d590f283af6", "59def012bd7d3836", "5a92c8395cc8e9bb", "5ba06957245dd78a",
    "6ca2e1882dfac452", "6f3ad8d73e1a01e4", "7d49e72a7fb03fb1", "84e47f38fc59daed", "8684baef06947f86",
    "86ab364b96f4635a", "95e803549944423e", "a0a8d9aff6767fb7", "a1c5a31ae389d272", "a2f6291b2e16db50",
    "a44e1d884b6cc46b", "a67d5ffea9a29539", "a8b7fb2dad5de796", "a9ac0980d2e0373b", "abca49254f92af2f",
    "aedd0ca3fc2c284c", "bb013681f6421099", "c2c1fea86f017a18", "c5b0fa12a9528b3f", "ca3019f06cb1a351",
    "cc54b551c6562bbb", "cf8cfa75b828547b", "d021e0ddc31da108", "d4d189dd77e3aa08", "d6f203ecf6f1dc03",
    "d77bf2df05f8fd3b", "d9491c34ce17bd1e", "e132a01731c70c18", "e45e879ec83f31d3", "e526f277a0912057",
    "e84dd544a4d7d808", "ec6f6d46bdc6e758", "f125dbb1cdf06a4c", "f5d6e900de0ba179", "f80a220d739e2a82",
    "fb8f95b5598a6460", "fc49a2a273214757", "fe08cfdd3b75bb78", "fe3b5fa4fd8ba2f8", "ff0db2d2d7c3c117",
})  # fmt: skip

VECTOR_OBJECTS = frozenset({
    "8551599f88db9270", "9dd469b5e269aadf",
})  # fmt: skip
