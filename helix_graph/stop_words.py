"""Words that say nothing by themselves, and words of any prompt about any program: the one list of both.

Search cuts Chinese, Japanese and Korean into pairs of characters (`helix_graph.word_search`), so that what says nothing
there is pairs as well. Function words are a closed class, and so a rule or a list can have them:

- Japanese writes particles, auxiliaries and polite endings in hiragana, and nearly all other words in kanji or
  katakana. A pair of hiragana says nothing, and neither does one that begins with hiragana: a word begins after it.
- Chinese has some characters that are hardly a part of any other word (的, 了, 请), and words for what English has stop
  words.
- Korean has particles and endings on its words; their pairs are listed by the endings.

>>> [one for one in ("確認", "認し", "てく", "ださ", "さい") if not is_stop_word(one)]
['確認', '認し']
>>> [one for one in ("확인", "인하", "하세", "세요", "请检", "检查", "请求") if not is_stop_word(one)]
['확인', '인하', '检查', '请求']
"""

from __future__ import annotations

_STOP_WORDS = """
    a about after all also am an and any are as at be because been before being both but by can could did do does doing
    done each for from get got had has have having he her him his how i if in into is it its just let like may me
    might more most must my no not of on only onto or other our out over own same shall she should since so some such
    than that the their them then there these they this those through to too under until up us use used using very was
    we were what when where which while who whom why will with would you your
"""
#: Words that say nothing by themselves: those of the seed, and the short ones that stand in every text.
_ENGLISH = frozenset(_STOP_WORDS.split())

#: Words of any prompt about any program: that two texts share them says nothing of what they are about.
_COMMON_WORDS = """
    able above accept access across action actual add adding adjust after again agree ahead allow almost along
    already always answer any anything apply approach around ask assume available avoid away back bad base basic
    become begin behind below beside best better between big bit both break bring broken bug build button call can
    care case cause certain change check choose class clean clear close code come command comment commit common
    compare complete concern confirm consider contain content continue copy correct could couple cover cpp create cs
    css current cut data date day deal decide deep default define delete depend describe detail determine develop
    did difference different direct directory discuss display docs document done double down during each early easy
    edit effect else empty enable end enough ensure entire error especially even ever every everything exact example
    except exist expect explain extra fact fail failure false far fast feature feel few file final find fine finish
    first fix folder follow form format found full function further general generate get give go goal good great
    group guess half hand handle happen hard has have head hear hello help here hi high hint hold hope how however
    html idea identify ignore implement import important improve include indeed info information inside instead int
    intend into issue item itself java job join js json jsx just keep key kind know kt language large last late
    later latest lead leave left less let level lib like likely line list little load local long look lot low main
    make manage many mark match matter maybe md mean mention merge message method middle mind minor minute miss mjs
    mode module moment more most move much multiple must name near necessary need never new next nice no normal note
    nothing notice now number object obvious off often ok okay old once one only open option order original other
    otherwise outside over own page part pass past path people perfect perhaps person piece place plan please point
    possible prefer prepare present pretty previous print probably problem proceed process program project proper
    provide pull push put py question quick quite raise ran rather rb read ready real really reason recent refer
    regular relate release remain remember remove rename repeat replace repo report repository request require rest
    result return review right root rs run safe same save say script search second section see seem select self send
    separate set setup several sh short should show side similar simple since single size skip small some something
    sometimes soon sort source spec specific src start state status stay step still stop string stuff sub such
    suggest suite support suppose sure system take task tell test than thank thanks that then there thing think
    third though three through tidy time tiny title today together toml too tool top total toward track true try ts
    tsx turn two txt type under understand until unused up update upon use useful user usual value various verify
    version very via view wait want warn warning was watch way week well whatever when whether whole wide will wish
    within without wonder word work world worry worse would write wrong yaml year yes yet yml
"""
_COMMON = _ENGLISH.union(_COMMON_WORDS.split())
_SHORTEST_STEM = 2
_INFLECTED = ("ing", "ed", "es", "ly", "s", "d", "r")

#: Characters of Chinese that make a pair a part of the grammar, and the words in which they do not.
_CHINESE_MARKS = frozenset("的了吗呢吧啊请把是我你您他她它们这那哪也很")
_CHINESE_OTHERS = frozenset(
    (
        *("请求", "申请", "邀请", "目的", "动的", "静的", "動的", "静态", "公的", "私的"),
        *("完了", "終了", "了解", "了承", "把握", "是正"),
    )
)

_CHINESE = """
    一下 一些 一个 一点 什么 怎么 怎样 如何 为何 为什么 为了 因为 所以 但是 不过 如果 虽然 而且 并且 或者 以及 然后
    之后 之前 以后 以前 时候 可以 可能 能够 能不 不能 应该 必须 需要 不要 要不 想要 帮我 帮忙 给我 让我 跟我 和我
    没有 还有 已经 正在 就是 还是 不是 都是 就会 会不 不会 有没 是否 否则 关于 对于 由于 其中 其他 任何 所有 每个
    每次 这样 那样 多少 几个 谢谢 你好 再见 不起 我们 大家 自己 直接 首先 当然 许多 非常 比较 更加 而不
"""
#: One character by itself, between marks or behind a word in Latin letters.
_SINGLE = frozenset(
    "不要有在和与或就都还再又被让给对从到上下里中个能会为以后前은는이가을를의에도와과로만나좀수것때더안못등및그저해할한된될써요죠네"
)
#: Of these not even a question that has nothing else is about.
_JAPANESE = """
    ください くださ して した しま する され せる れる られ です ます でした ました ません でしょう ましょう ますか
    ですか ませんか ございます ありがとう おねがいします お願い 下さい 致し 頂き 頂け 出来 こんにちは こんばんは
    はじめ これ それ あれ どれ この その あの どの ここ そこ どこ こう そう どう なに なぜ いつ だれ という ように
    ために とき こと もの ところ から まで より だけ しか など ので のに けど けれど しかし そして また または
    および ている ていた てある ておく てみる てもらえ てくださ ない なかった たい たくない れば なら もらえますか
    もらえ いただけ いただき かどうか について において に対して によって
"""
_KOREAN = """
    습니다 입니다 합니다 됩니다 듭니다 습니까 입니까 합니까 됩니까 있습니다 없습니다 했습니다 되었습니다 같습니다
    싶습니다 하세요 되세요 주세요 해주세요 보세요 으세요 세요 하십시오 주십시오 십시오 주실 주시 하실 해요 돼요 어요
    아요 에요 예요 이에요 네요 나요 하나요 되나요 인가요 는가요 까요 을까요 할까요 줄래요 래요 군요 지요 거예요
    있어요 없어요 해야 되어야 어야 아야 하는 되는 있는 없는 하고 되고 있고 하지 되지 지만 지않 않고 않은 않는 않으면
    않다 말고 마세요 하면 되면 으면 하며 해서 되어 하여 하려면 하려고 하게 되게 하기 되기 한다 된다 했다 됐다 였다
    있다 없다 같다 싶은 싶어 에서 에게 으로 이나 이라 라는 부터 까지 보다 처럼 만큼 마다 대한 대해 대해서 관한 관해
    위해 위한 때문 때문에 따라 통해 그리고 그러나 그래서 그런데 하지만 그렇지 또는 그럼 이것 그것 저것 이런 그런
    어떤 어떻게 이렇게 그렇게 무엇 무엇을 무슨 언제 어디 어디에 누가 왜나 우리 저희 제가 제발 안녕 감사 조금 너무
    아주 먼저 바로 다시 자꾸 항상 꼭
"""


def _pairs(words: str) -> frozenset[str]:
    return frozenset(word[at : at + 2] for word in words.split() for at in range(max(len(word) - 1, 1)))


#: Words that say nothing by themselves, in the form in which search has words.
STOP_WORDS = _ENGLISH | _SINGLE | _CHINESE_MARKS | _pairs(_CHINESE) | _pairs(_JAPANESE) | _pairs(_KOREAN)


def is_stop_word(word: str) -> bool:
    """Whether a word, or a pair of Chinese, Japanese or Korean characters, says nothing by itself."""
    if word in STOP_WORDS:
        return True
    if word.isascii() or len(word) > 2:  # noqa: PLR2004  (a pair)
        return False
    if "ぁ" <= word[0] <= "ゟ":
        return True
    return not _CHINESE_MARKS.isdisjoint(word) and word not in _CHINESE_OTHERS


def is_common(word: str) -> bool:
    """Whether a word is in any prompt to an agent about any program, or says nothing by itself."""
    if word in _COMMON or is_stop_word(word):
        return True
    stems = (word.removesuffix(ending) for ending in _INFLECTED if word.endswith(ending))
    return any(
        stem in _COMMON or f"{stem}e" in _COMMON or (stem[-1:] == stem[-2:-1] and stem[:-1] in _COMMON)
        for stem in stems
        if len(stem) > _SHORTEST_STEM
    )
