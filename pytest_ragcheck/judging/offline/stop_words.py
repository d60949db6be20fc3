"""Word lists of the offline judge. Most hold terms, as `TermDictionary` makes them."""

from __future__ import annotations

from pytest_ragcheck.judging.offline.normalized_text import words
from pytest_ragcheck.judging.offline.terms import TermDictionary

_TERMS = TermDictionary()


def _terms(text: str) -> list[str]:
    """The term of each word by itself: "un once" is no number here."""
    return [_TERMS[word] for word in words(text)]


STOP_WORDS = frozenset(
    _terms(
        # English
        "a an the and or but if then else of to in on at by for with from as is are was were be been being am it its "
        "this that these those he she they them his her their we you your our i my me him us not no nor so than too "
        "very can could will would shall should may might must do does did done doing have has had having there here "
        "what which who whom whose when where why how all any both each few more most other some such only own same "
        "into over under again further once about above below between through during before after up down out off "
        "also just because while until against however therefore thus hence although though yet still even well "
        "except without i'm you're we're they're i've we've i'll you'll we'll let's "
        # German, French, Spanish, Portuguese, Italian, Dutch
        "der die das den dem des ein eine einen einem einer und oder ist sind war wird werden nicht auf mit von zu im "
        "gibt es man dann dort hier da noch schon sehr dass wenn hat haben dieser diese dieses "
        "hinein darin dazu davon dafur "
        "fur ins vom zum zur beim am im ans werden wurde sich auch als nach bei aus wie sie er wir ihr kann "
        "le la les un une des du de et ou est sont dans sur pour par avec que qui ne pas ce cette il elle nous vous au "
        "aux el los las unos unas y o es son en por para con se su sus lo al del como "
        "os um uma e em com ao aos na nas nos da das dos "
        "gli uno di che per sono nel della dei delle "
        "het een van en op te zijn met voor niet "
        # Russian, as normalised
        "и в во на с со по к ко от до из за о об у не но а или что это как для при то он она они мы вы их его ее бы же "
        "ли был была были быть есть может "
        # Modal verbs
        "darf durfen durfte kann konnen muss mussen soll sollen braucht "
        "peut peuvent pouvez doit doivent devez faut puede pueden debe deben hay tiene tienen "
        "puo possono deve devono bisogna occorre va vanno pode podem devem precisa precisam "
        "kan kunnen mag mogen moet moeten hoeft hoeven можно нужно надо должен должна должны могут"
    )
)
"""Terms of function words; scripts without word boundaries have none."""

WITHOUT_POLARITY = STOP_WORDS | frozenset(
    _terms(
        "need needs allowed permitted able required necessary mandatory needed "
        "erlaubt gestattet notig notwendig erforderlich "
        "autorise permis admis necessaire obligatoire permite permiten permitido autorizado necesario obligatorio "
        "consentito permesso ammesso necessario obbligatorio obrigatorio toegestaan nodig verplicht "
        "разрешено разрешается требуется необходимо обязательно"
    )
)
"""Terms of function words and of what is allowed or required: a negation beside them denies the rest."""

FRAMING = frozenset(
    _terms(
        "based according given provided passage context information document text answer question mentioned following "
        "article source sure certainly yes no okay indeed absolutely course great hello "
        "ja nein oui non si да нет"
    )
)
"""Terms with which an answer refers to itself and its sources; they claim nothing."""

REFUSING = frozenset(
    _terms(
        "sorry unfortunately afraid apologize unable know find found locate specific contain include relevant related "
        "enough sufficient more need please could clarify rephrase clear determine ask help assist anything available "
        "state specify say directly detail explicitly only access able whether exactly regarding concerning knowledge "
        "base search result retrieved nothing "
        "leider entschuldigung tut leid geht hervor kontext dokument dokumente frage information angaben "
        "bereitgestellten vorliegenden anhand desole malheureusement contexte question reponse informations fournis "
        "fournies lo siento lamento desculpe contexto documento documentos pregunta "
        "respuesta informacion proporcionados "
        "извините сожалению контекст контексте документе документах вопрос ответ информация предоставленных "
        "我 我们 抱歉，根据所提供的文档文件资料上下文中信息，我无法回答这个问题。对不起 "
        "申し訳ございませんが、提供された資料文書情報には記載されていません、質問にお答えできません "
        "ขออภัย ฉันไม่ทราบ ไม่พบข้อมูลในเอกสาร ไม่ได้ระบุไว้ ไม่สามารถตอบคำถามนี้ได้ครับค่ะ "
        "죄송합니다 제공된 문서에 정보가 질문에"
    )
)
"""Terms of refusals besides those of `FRAMING`."""

ABOUT = frozenset(_terms("about around approximately approx roughly nearly almost circa ca estimated"))
"""Terms directly before an approximate number."""

CENTURY = _TERMS["century"]

TO = frozenset(_terms("to and"))
"""Terms between the ends of a range."""

LOWER_BOUNDS = frozenset(map(tuple, map(_terms, ("more than", "at least", "over", "above"))))
UPPER_BOUNDS = frozenset(map(tuple, map(_terms, ("less than", "fewer than", "at most", "up to", "under", "below"))))
"""Terms directly before a lower or an upper bound."""
