"""
The patterns of refusals, for normalised text.

Each line is one alternative; `<NAME>` stands for the pattern of that name in `_NAMED`.
"""

from __future__ import annotations

import re
from itertools import groupby

from pytest_ragcheck.judging.offline.normalized_text import listed

_NAMED = {
    # Words of an answer for its sources. Not "policy" or "data": "The policy does not cover floods."
    "SOURCE": r"(?:contexts?|passages?|texts?|information|info|documents?|documentation|articles?|sources?|materials?"
    r"|excerpts?|paragraphs?|knowledge base|snippets?|chunks?|search results?|manuals?|question)",
    "READ": r"(?:contexts?|passages?|texts?|documents?|articles?|excerpts?|paragraphs?|sources?|information)",
    # Verbs of a source that has the answer.
    "SAYS": r"(?:provide|mention|contain|includ|specif|state\b|say|give|address|answer|relate|discuss|explain|indicate"
    r"|describe|offer|cover|have (?:any|a |an |the |enough|specific|information|details|relevant)|talk|refer|list\b"
    r"|detail|tell|define|clarif|reveal|directly|explicitly|specifically|clearly|seem to|appear to|pertain"
    r"|correspond|supply|show|identify|note\b|name\b|match|help)",
    "SAID": r"(?:provided|mentioned|specified|stated|given|included|found|available|contained|discussed|covered"
    r"|addressed|described|indicated|explained|clear|related|relevant|present|listed|disclosed|answered|defined|named)",
    # Verbs of a system that has the answer. A company says "we do not offer", so "we" has a shorter list.
    "FIND": r"(?:know|find|found|answer|provide|determine|locate|see any|say|tell|give|help|assist|identify|confirm"
    r"|verify|comment|respond|offer|infer|be (?:sure|certain)|understand|access|fulfil)",
    "LEARN": r"(?:determined?|answer(?:ed)?|infer(?:red)?|concluded?|established?|ascertain(?:ed)?|deduced?|known)",
    "FACTS": r"(?:information|info|context|details?|data)",
    "OWNED": r"(?:information|context|details?|data|access|knowledge|idea|record|answer|ability|clue|opinions?)",
    "ABOUT": r"(?:provided|available|given|found|about|regarding|on|in|of|for|to|that|as to|related|mentioned|was|were"
    r"|could)",
    "NOT": r"(?:not|n't)",
    "DO": r"(?:do|does|did)",
    "BE": r"(?:is|are|was|were)",
    "CAN": r"(?:was|were|am|do|does|did|could|can|would|will|may|ca|wo|have|had)",
    "WORDS": r"(?:\w+ ){0,3}?",
    "NEAR": r"[^.;]{0,60}?",
    "FAR": r"[^.;]{0,90}?",
}

_ENGLISH = {
    # The sources are silent.
    "not never cannot don't doesn't didn't can't couldn't isn't aren't wasn't weren't": r"""
\b<SOURCE>\b<FAR>\b<DO>\s?<NOT>\b[^.;]{0,25}?\b<SAYS>
\b(?:it|they|this|that|there) <DO>\s?<NOT> (?:mention|specify|state|say|explain)\b
\b(?:it|they|this|that|there) <DO>\s?<NOT> (?:provide|give|contain) <WORDS><FACTS>\b
\b<BE>\s?(?:<NOT>|never) (?:\w+ly )?(?:been )?<SAID>\b<FAR>\b(?:in|by|from|within|to|of)\b<NEAR>\b<READ>\b
\b<NOT> (?:\w+ly )?<SAID> (?:in|by|from|within|to) (?:the|this|that|any|my|our|your|these|those)\b<NEAR>\b<SOURCE>\b
\b<BE>\s?<NOT> (?:\w+ )?in (?:the|this|these|any|my) (?:\w+ )?<READ>\b
\b<READ>\b<NEAR>\b(?:is|are) (?:only )?about\b[^.;]{0,120}?\bnot\b
\b(?:cannot|can't|can not|could not|couldn't) (?:be )?(?:\w+ly )?<LEARN>\b
\b<NOT> (?:\w+ )?(?:sure|clear|certain) (?:what|which|who|how|whether|if|from|about|based)\b
^\W*not (?:found|known|available|answerable|applicable|given)\W*$
""",
    # The sources have nothing.
    "no nobody noone insufficient lack lacks fail fails outside": r"""
\boutside (?:of )?(?:what i|my|the scope of)\b
\b<READ>\b<NEAR>\b(?:lacks?|fails? to (?:mention|provide|say))\b
\b<READ>\b<NEAR>\b(?:has|have|contains?|provides?|includes?|offers?|gives?) (?:no|insufficient)\b
\bno <WORDS>(?:information|info|mention|details?|indication|answer|context)\b<NEAR>\b<ABOUT>\b
\bno (?:relevant|matching) (?:documents?|results?|records?|passages?)\b
\b(?:nobody|no one|noone) (?:really )?knows\b
^\W*(?:no (?:idea|data|comment|answer present)|insufficient (?:information|context|data))\W*$
^\W*no (?:answer|information)\b
""",
    # The sources are not enough.
    "not insufficient lack without impossible unknown": r"""
\b(?:not enough|insufficient|not (?:have )?sufficient|lack of|without (?:more|further|additional)) <WORDS><FACTS>\b
\b(?:not possible|impossible) to (?:\w+ly )?(?:<LEARN>|say|tell|know)\b
^\W*the answer is (?:unknown|not (?:known|available|given|stated|provided))\W*$
^\W*(?:information not|answer not|not (?:mentioned|specified|stated|provided|found|enough))\b
""",
    # The system speaks of itself.
    "i i'm i've we we're unable ai unknown n none unanswerable unanswered cannot can't don't do": r"""
\b(?:i|we)(?:'m| am|'re| are) (?:afraid|not sure|unsure|not certain|uncertain|not familiar|not aware|not clear)\b
\bi(?:'m| am|'ve| have)?\s?(?:<CAN>\s?)?<NOT>\s<WORDS><FIND>\b
\bwe (?:cannot|can't|could not|couldn't|do not|don't|were not able to|are not able to) (?:find|determine|answer|know)\b
\bi(?: do not|don't| have no| lack)[^.;]{0,20}? (?:have )?<WORDS><OWNED>\b
\bwe (?:do not|don't) have (?:any|enough|sufficient|the) <WORDS>(?:information|context|details)\b
\bi can(?:no|')t\b<NEAR>\b(?:<FIND>|share|speculate)\b
\b(?:i am|i'm|we are|we're|i was|we were) unable to <WORDS><FIND>\b
^(?:sorry,? )?(?:based on [^,]{0,60}, )?unable to <WORDS><FIND>\b
\bas an ai\b<FAR>\b(?:cannot|can't|unable|<NOT>)\b
^\W*(?:(?:i|we) )?(?:unknown|n/a|none|unanswerable|unanswered|(?:can't|cannot) answer|do(?:n't| not) know)\W*$
""",
    # The answer is a question.
    "need needed required necessary provide clarify rephrase specify give share elaborate": r"""
\b(?:i|we)(?: would|'d)? need <WORDS>(?:more|additional|further|specific) <WORDS><FACTS>\b
\b(?:more|additional|further) <FACTS> (?:is|are|would be) (?:needed|required|necessary)\b
\b(?:could|can|would|will) you (?:please )?(?:kindly )?(?:provide|clarify|rephrase|specify|give|share|elaborate)\b
\bplease (?:clarify|rephrase|specify|(?:provide|give|share) (?:me |us )?(?:with )?(?:more|additional|further))\b
""",
}
"""Patterns by their trigger words. A sentence without a trigger is skipped, which is ten times as fast."""

# Without accents, as the text: Spanish "no se" is "I do not know" and "is not", so the pattern needs more words.
_LATIN = r"""
\b(?:weiss ich|ich weiss(?: es| das)?)(?: leider)? nicht\b
\bich (?:kann|konnte)\b<FAR>\b(?:nicht|keine?n?)\b
\b(?:kann|konnte|konnen|konnten)\b<FAR>\b(?:nicht|keine?n?)\b<NEAR>\b(?:beantwort|entn[eo]hm|entnomm|ermitt|beurteil)
\bkeine (?:\w+ )?(?:information\w*|angaben?|antwort|hinweise|auskunft)\b<NEAR>\b(?:zu|uber|ob|gefunden|enthalten|vor)\b
\b(?:kontext|text|dokument\w*|quellen?|unterlagen|auszug)\b<NEAR>\b(?:nicht|keine)\b
\bnicht (?:\w+ )?(?:erwahnt|angegeben|genannt|bekannt|hervor)\b
\bje (?:ne |n')(?:sais|peux|dispose|trouve|connais|suis pas (?:en mesure|sur)|parviens|ai (?:pas|aucune|trouve))\b
\b(?:aucune|pas d'|pas (?:assez|suffisamment) d')\s?(?:information|mention|reponse|indication)s?\b
\b(?:contexte|documents?|textes?|passages?|extraits?|sources?)\b<NEAR>\bn(?:e |')\w+ (?:pas|aucune?)\b
\bn'est pas (?:\w+ )?(?:mentionne|precise|indique|specifie)
\bno (?:lo se|puedo|dispongo|tengo|encuentro|encontre|he encontrado)\b
^\W*(?:lo siento\W+)?no se\W*$
\bno (?:se (?:menciona|especifica|indica)|es posible (?:determinar|responder|saber))
\bnao (?:sei|posso|tenho|encontrei|consigo|e possivel (?:determinar|responder|saber)|ha informac\w+|e mencionad\w+)\b
\bnon (?:lo so|posso|ho trovato|dispongo|sono in grado|e possibile (?:determinare|rispondere)|ci sono informazioni)\b
\b(?:contexto|contesto|documentos?|documenti|textos?|testo|informacion|informacoes)\b<NEAR>\b(?:no|nao|non) \w+
\b(?:ninguna informacion|nenhuma informacao|nessuna informazione|informacion insuficiente)\b
\b(?:ik weet het niet|geen (?:informatie|antwoord)|niet (?:vermeld|genoemd|beantwoorden))\b
\b(?:nie (?:wiem|moge|znalazl\w*|ma (?:informacji|danych)|podano)|brak (?:informacji|danych|odpowiedzi)|nevim|nemohu)\b
\b(?:bilmiyorum|bilgi (?:yok|bulunm\w+|verilm\w+)|belirtilm\w+|cevap veremiyorum)\b
\bkhong (?:biet|co thong tin|the tra loi|de cap|tim thay)\b
\b(?:tidak (?:tahu|ada informasi|dapat (?:menjawab|menemukan)|disebutkan)|saya tidak)\b
"""

_OTHER_SCRIPTS = r"""
не (?:знаю|могу|удалось|наиден\w*|указан\w*|упомин\w+|известно|говорится|сообщается|располагаю|нашел|нашла|можу|вказано)
(?:контекст|документ|текст|отрыв|источник|материал)\w*\b<NEAR>\b(?:не (?:содерж|предостав|описыв|указыв)|нет\b)
нет (?:\w+ ){0,2}?(?:информации|данных|ответа|сведении|упоминани)
недостаточно (?:информации|данных|сведении|контекста)|немае (?:\w+ )?(?:інформаціі|даних)
информаци[яи] отсутств|отсутству\w+ (?:\w+ )?(?:информаци|данные|сведени)
不知道|不清楚|不确定|(?:无法|無法|不能)(?:回答|确定|確定|提供|找到|判断|判斷|得知|根据|根據|从|從|给出|給出|告)|找不到|抱歉
(?:没有|沒有|未|并未|並未)(?:提供|提及|提到|说明|說明|找到|给出|給出|相关信息|相關資訊|足够|足夠|明确说明|任何信息)|信息不足|資訊不足
わかりません|分かりません|分かりかねます|不明です|見つかりません|記載(?:が|は|されて)(?:ありません|いません)
含まれていません|(?:情報|回答)(?:が|は|を)?(?:ありません|できません|ない)|お答えできません|申し訳
ไม่ทราบ|ไม่(?:พบ|มี)ข้อมูล|ไม่สามารถ(?:ตอบ|ระบุ|หา)|ไม่ได้(?:ระบุ|กล่าวถึง|ให้ข้อมูล)|ขออภัย
모르겠|알 수 없|찾을 수 없|답변할 수 없|정보가 없|언급되지 않|제공되지 않|포함되어 있지 않|죄송
لا (?:اعرف|أعرف|يمكنني|استطيع|أستطيع|توجد معلومات|يذكر)|لم (?:يذكر|اجد|أجد|يرد)
पता नही|नहीं? पता|जानकारी नही|उल्लेख नही|उत्तर नही
"""


_AT_WORD = r"\b"


def _compiled(alternatives: str) -> re.Pattern[str]:
    whole = re.sub(r"<([A-Z]+)>", lambda name: _NAMED[name[1]], alternatives)
    groups = (
        (begins_a_word, "|".join(f"(?:{line.removeprefix(_AT_WORD)})" for line in lines))
        for begins_a_word, lines in groupby(whole.strip().splitlines(), lambda line: line.startswith(_AT_WORD))
    )
    # One check for the beginning of a word, not one in each alternative, is three times as fast.
    return re.compile("|".join(rf"\b(?=\w)(?:{lines})" if begins_a_word else lines for begins_a_word, lines in groups))


ENGLISH = tuple((listed(triggers), _compiled(alternatives)) for triggers, alternatives in _ENGLISH.items())
"""The trigger words and the pattern of each kind of refusal."""

LATIN = _compiled(_LATIN)
"""The refusals of other languages in Latin letters."""

LATIN_TRIGGERS = listed(
    "nicht kein keine keinen ne pas aucun aucune lo se puedo dispongo tengo encuentro encontre encontrado posible nao "
    "posso ho grado possibile contexto contesto documento documentos documenti texto textos testo informacion ninguna "
    "nenhuma nessuna insuficiente niet geen "
    "nie brak nevim nemohu bilmiyorum bilgi belirtilmemis belirtilmedi cevap khong tidak"
)
"""Trigger words of `LATIN`; an elision triggers it too."""

ELISION = re.compile(r"\bn'")
"""The beginning of French "n'est"."""

TRIGGERS = LATIN_TRIGGERS.union(*(triggers for triggers, _ in ENGLISH))
"""All trigger words in Latin letters; most sentences have none."""

OTHER_SCRIPTS = _compiled(_OTHER_SCRIPTS)
"""The refusals of languages in other scripts."""

OTHER_LETTERS = re.compile("[\u0400-\u1dff\u3040-\ud7ff]")
"""Letters of other scripts."""
