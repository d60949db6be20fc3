"""
Recognises answers that decline to answer.

The patterns are for normalised text. Each line is one alternative, and an indented line continues it. `<NAME>` stands
for the pattern of that name in `_NAMED` or in the names of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from pytest_ragcheck.judging.offline.normalized_text import folded_words, listed, normalised, sentences

_NAMED = {
    # Words of an answer for its sources. Not "policy" or "data": "The policy does not cover floods."
    "SOURCE": r"(?:contexts?|passages?|texts?|information|info|documents?|documentation|articles?|sources?|materials?"
    r"|excerpts?|paragraphs?|knowledge base|snippets?|chunks?|search results?|manuals?|files|pages?|question)",
    "READ": r"(?:contexts?|passages?|texts?|documents?|articles?|excerpts?|paragraphs?|sources?|materials?|manuals?"
    r"|handbooks?|files|pages?|information)",
    # Verbs of a source that has the answer.
    "SAYS": r"(?:provide|mention|contain|includ|specif|state\b|say|give|address|answer|relate|discuss|explain"
    r"|indicate"
    r"|describe|offer|cover|have (?:any|a |an |the |enough|specific|information|details|relevant)|talk|refer|list\b"
    r"|detail|tell|define|clarif|reveal|directly|explicitly|specifically|clearly|seem to|appear to|pertain"
    r"|correspond|supply|show|identify|note\b|name\b|match|help|go into|touch|deal with|elaborate|comment|settle"
    r"|resolve)",
    "SAID": r"(?:provided|mentioned|specified|stated|given|included|found|available|contained|discussed|covered"
    r"|addressed|described|indicated|explained|clear|related|relevant|present|listed|disclosed|answered|defined"
    r"|named)",
    # Participles that are said of texts only, unlike "not included in the price".
    "WRITTEN": r"(?:mentioned|specified|stated|discussed|indicated|explained|disclosed|named|clear|related)",
    # Verbs of a system that has the answer. A company says "we do not offer", so "we" has a shorter list.
    "FIND": r"(?:know|find|found|answer|provide|determine|locate|see any|say|tell|give|help|assist|identify|confirm"
    r"|verify|comment|respond|offer|infer|be (?:sure|certain)|understand|access|fulfil|see|spot|trace|judge"
    r"|work out|make out)",
    "LEARN": r"(?:determined?|answer(?:ed)?|infer(?:red)?|concluded?|established?|ascertain(?:ed)?|deduced?|known"
    r"|settled?|derived?)",
    "FACTS": r"(?:information|info|context|details?|data)",
    "OWNED": r"(?:information|context|details?|data|access|knowledge|idea|record|answer|ability|clue|opinions?)",
    "ABOUT": r"(?:about|regarding|on|as to|concerning|in|of|for|to|that|related)",
    "IN": r"(?:in|by|from|within|with)",
    "THE": r"(?:the|this|that|any|my|our|your|these|those)",
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
    "not never cannot don't doesn't didn't can't couldn't isn't aren't wasn't weren't sorry": r"""
\b<SOURCE>\b<FAR>\b<DO>\s?<NOT>\b[^.;]{0,25}?\b<SAYS>
\b(?:it|they|this|that|there) <DO>\s?<NOT> (?:mention|specify|state|say|explain)\b
\b(?:it|they|this|that|there) <DO>\s?<NOT> (?:provide|give|contain) <WORDS><FACTS>\b
\b<BE>\s?(?:<NOT>|never) (?:\w+ly )?(?:been )?<WRITTEN>\b<FAR>\b<IN>\b<NEAR>\b<READ>\b
\b<NOT> (?:\w+ly )?<SAID> (?:\w+ )?<IN> <THE> (?:(?!according|to)\w+ ){0,3}?<SOURCE>\b
\b<NOT> (?:\w+ly )?(?:related|relevant) to <THE> <WORDS>(?:<READ>|question)\b
\b<READ>\b[^.;]{0,200}\bbut (?:it |they )?<DO>\s?<NOT> <SAYS>
\b<BE>\s?<NOT> (?:\w+ly )?<WRITTEN> (?:anywhere|here)\b
\b(?:based on|according to|in|from) <THE> <WORDS><READ>,[^.;]{0,120}?\b<BE>\s?<NOT> (?:\w+ly )?<WRITTEN>\b
\b<BE>\s?<NOT> (?:\w+ )?in <THE> (?:\w+ )?<READ>\b
\b<READ>\b<NEAR>\b(?:is|are) (?:only )?about\b[^.;]{0,120}?\bnot\b
\bsorry\b<NEAR>\b<READ>\b<NEAR>\b(?:is|are) (?:only )?about\b
\b(?:cannot|can't|can not|could not|couldn't) be (?:\w+ly )?<LEARN>\b
\b(?:i|we|one) (?:cannot|can't|can not|could not|couldn't) (?:\w+ly )?<LEARN>\b
^\W*(?:cannot|can't|can not|could not|couldn't) (?:\w+ly )?<LEARN>\b
\b<BE>\s?<NOT> (?:some|any)thing (?:that )?<THE> <WORDS><READ>\b
\b<NOT> (?:\w+ )?(?:sure|clear|certain) (?:what|which|who|how|whether|if|from|about|based)\b
\b<DO>\s?<NOT> (?:appear|figure|feature|occur|show up) (?:anywhere )?(?:in|within|among) <THE> <WORDS><READ>\b
\b<NOT> enough\b<NEAR>\bto (?:tell|say|answer|know|determine|decide|judge)\b
^\W*(?:(?:it|this|that|the (?:answer|information))(?:'s| is| was) )?not (?:found|known|answerable|applicable|given
    |available|<WRITTEN>)\W*$
""",
    # The sources have nothing.
    "no none nobody noone nothing insufficient lack lacks fail fails outside beyond silent open unclear omits "
    "omit skips short vague ambiguous missing absent omitted left never hard difficult beats guess": r"""
\b(?:outside|beyond) (?:of )?(?:what i|my|the scope of|<THE> (?:\w+ )?<READ>)\b
\b(?:none of (?:them|these|<THE> <WORDS><READ>)|no <READ>) <SAYS>
\b<READ>\b<NEAR>\b(?:lacks?|fails? to (?:mention|provide|say))\b
\b<READ>\b<NEAR>\b(?:has|have|contains?|provides?|includes?|offers?|gives?|says?|makes?) (?:no|nothing|insufficient)\b
\b<READ>\b<NEAR>\b(?:(?:is|are|remains?|stays?) silent|leaves? (?:it|that|this) open)\b
\bleft open (?:in|by) <THE> <WORDS><READ>\b|\bnever (?:comes|came|come) up\b
\b(?:there(?:'s| is| was)|i (?:have|found|find|see|know)) nothing (?:\w+ )?(?:about|on|regarding|here
    |in <THE> <WORDS><READ>)\b
\bnothing (?:\w+ )?(?:in|from) <THE> <WORDS><READ>\b
\bno <WORDS>(?:information|info|mention|details?|indication|answer|context)\b[^.;]{0,40}? (?:is|are|was|were
    |could be|can be) (?:\w+ )?(?:<SAID>|located)\b
\b(?:there(?:'s| is| are| was| were| seems to be)|contains?|includes?|have|has|had|found|find|see|provides?
    |offers?) no <WORDS>(?:information|info|mention|details?|indication|answer|context)(?:\W*$|[,;]| <ABOUT>\b
    | (?:available|provided|given|found|here|whatsoever|at all)\b)
\bno <WORDS>(?:information|info|mention|details?|answer|context) <ABOUT>\b(?!.* (?:is|are|was|were|will|may|shall
    |must|has|have|can)\b)
\bno (?:relevant|matching) (?:documents?|results?|records?|passages?)\b
\b(?:nobody|no one|noone) (?:really )?knows\b
\b<READ> (?:\w+ )?(?:omits?|skips?|leaves? out|stops? short of|(?:is|are) (?:\w+ )?(?:unclear|vague|ambiguous))\b
\b(?:missing|absent|omitted|left out) from <THE> <WORDS><READ>\b
\bno way (?:of (?:know|tell)ing|to (?:know|tell))\b|\b(?:hard|difficult) to (?:say|tell)\W*$|\b(?:beats me
    |anyone's guess)\b
\b(?:is|remains|stays) unclear (?:from|in|to me|based)\b
^\W*(?:sorry\W+)?(?:no (?:idea|data|comment|answer present|information|answer|clue)|insufficient (?:information
    |context|data))\W*$
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
\bi(?:'m| am|'ve| have)?\s?(?:<CAN>\s?)?<NOT>\s<WORDS><FIND>\b(?! (?:\w+ )?(?:better|best)\b)
\bwe (?:cannot|can't|could not|couldn't|do not|don't|were not able to|are not able to) (?:find|determine|answer
    |know)\b
\bi(?: do not|don't| have no| lack)[^.;]{0,20}? (?:have )?<WORDS><OWNED>\b
\bwe (?:\w+ )?(?:do not|don't) have (?:any|enough|sufficient|the|that|this) <WORDS>(?:information|context|details)\b
\bi can(?:no|')t\b<NEAR>\b(?:find|found|determine|locate|identify|confirm|infer|share|speculate)\b
\bi would (?:only |just )?be guessing\b
\bwe have no (?:information|details|record|mention) (?:on|of|about|regarding)\b
^\W*not something i can\b
\b(?:i am|i'm|we are|we're|i was|we were) unable to <WORDS><FIND>\b
^(?:sorry,? )?(?:based on [^,]{0,60}, )?unable to <WORDS><FIND>\b
\bas an ai\b<FAR>\b(?:cannot|can't|unable|<NOT>)\b
^\W*(?:(?:i|we) )?(?:unknown|n/a|none|unanswerable|unanswered|(?:can't|cannot) answer|do(?:n't| not) know)\W*$
""",
    # The answer is a question, or names somebody else.
    "need needed required necessary provide clarify rephrase specify give share elaborate question": r"""
\b(?:i|we)(?: would|'d)? need <WORDS>(?:more|additional|further|specific) <WORDS><FACTS>\b
\b(?:more|additional|further) <FACTS> (?:is|are|would be) (?:needed|required|necessary)\b
\b(?:could|can|would|will) you (?:please )?(?:kindly )?(?:provide|clarify|rephrase|specify|give|share|elaborate)\b
\bplease (?:clarify|rephrase|specify)\b
\bplease (?:provide|give|share) (?:me |us )?(?:with )?(?:some )?(?:more|additional|further) <FACTS>(?:\W*$
    | (?:about|regarding|so|and i|for me|on (?:your|what|which)|or)\b| to (?:help|assist|answer|clarify)\b|,)
^\W*(?:that|this)(?:'s| is) a question for\b
""",
}
"""Patterns by their trigger words. A sentence without a trigger is skipped, which is ten times as fast."""

# Without accents, as the text. Each language has its words for a source, a negation, and the verbs of a source that has
# the answer: a negation alone is an answer ("Das Dokument darf nicht kopiert werden").
_LATIN = {
    # German
    "nicht nichts kein keine keinen keiner keines keinerlei nirgends ahnung schweigen schweigt unklar "
    "unbekannt uberfragt": (
        {
            "SOURCE": r"(?:kontext\w*|text(?:e|en|es|s)?|dokument\w*|quellen?|unterlagen|auszug\w*|passagen?"
            r"|abschnitt\w*"
            r"|material\w*|handbuch\w*|artikeln?|seiten?)",
            "NOT": r"(?:nichts?|kein\w{0,4}|nirgends)",
            "SAYS": r"(?:enth\w+|erwahn\w+|nenn\w+|genannt|sag\w+|gesagt|steh\w*|hervor\w*|findet|finden|gefunden"
            r"|angegeben"
            r"|ang?aben|gibt|geben|beantwort\w+|liefer\w+|biete\w*|beschreib\w+|beschrieben|erklar\w+|behandel\w+"
            r"|entnehm\w*"
            r"|entnomm\w+|ersicht\w+|aufschluss|hinweis\w*|information\w*|erlauter\w+|geklart|klart|verrat\w*"
            r"|regel\w*|aufgefuhrt|vermerkt|deutlich)",
            "FIND": r"(?:sagen|beantwort\w+|find\w*|gefunden|weiterhelfen|helfen|bestimm\w+|beurteil\w+|nennen"
            r"|mitteilen"
            r"|ermittel\w+|entnehmen|feststellen|informationen|angaben|hinweise\w*|auskunft|antwort\w*|kenntnis\w*)",
        },
        r"""
\b<SOURCE>\b(?=<FAR>\b<SAYS>\b)<FAR>\b<NOT>\b
\b<SAYS>\b<NEAR>\b<NOT>\b<NEAR>\b(?:in|im|aus) (?:\w+ ){0,3}?<SOURCE>\b
\b<NOT>\b<NEAR>\b(?:in|im|aus) (?:\w+ ){0,3}?<SOURCE>\b<NEAR>\b<SAYS>\b
\b(?:weiss ich|ich weiss(?: es| das)?)(?: leider)? nicht\b
\b(?:(?:ich|wir) \w+|\w+ (?:ich|wir)|mir (?:liegen|fehlen)|liegen mir
    |liegen uns)\b<NEAR>\b<NOT>\b(?:<NEAR>\b)?<FIND>\b
\b(?:mir|uns) (?:ist|sind)\b<NEAR>\bnicht bekannt\b
\bmir <NEAR>\b<NOT>\b<NEAR>\bvor\b
\b(?:kann|konnen|konnte|konnten|lasst|lassen)\b<FAR>\b<NOT>\b<NEAR>\b(?:beantwort|entn[eo]hm|entnomm|ermitt
    |beurteil|bestimm)
\bkeine (?:\w+ )?(?:information\w*|angaben?|antwort|hinweise|auskunft)\b<NEAR>\b(?:zu|uber|ob|gefunden|enthalten
    |vor)\b
\bnicht (?:\w+ )?(?:erwahnt|angegeben|genannt|hervor)\b
\bkeine ahnung\b|\buberfragt\b
\b(?:das|es|dies|darube?r|dazu|die antwort)\b<NEAR>\bnichts? bekannt\b
\bich bin (?:mir )?(?:\w+ )?nicht sicher\b
\bkein(?:er|es|e) (?:der|dieser) (?:\w+ )?<SOURCE>\b<NEAR>\b<SAYS>\b
\b<SOURCE>\b<NEAR>\bschweig|\bschweig\w+ (?:\w+ ){0,2}?<SOURCE>\b
\b(?:ist|bleibt) (?:mir )?(?:leider )?(?:unklar|unbekannt)\W*$
""",
    ),
    # French
    "n' ne pas rien aucun aucune muet muette muets muettes incapable impossible difficile nul j'ignore": (
        {
            "SOURCE": r"(?:contextes?|documents?|textes?|passages?|extraits?|sources?|reglement|articles?"
            r"|documentation|guide|pages?)",
            "NOT": r"n(?:e |')(?:(?:en|y|nous|vous|se|s') ?)?",
            "BE": r"(?:est|sont|a|ont|etait)(?: pas| jamais| nulle part| guere)?(?: ete)?",
            "SAID": r"(?:mentionn|precise|indique|specifi|evoque|aborde|stipul)",
            "SAYS": r"(?:mentionn|indiqu|precis|di(?:t|sent|s)\b|parl|contien|fourni|donn|abord|figur|trouv|specifi"
            r"|evoqu"
            r"|repond|traite|comport|renseign|clarifi|eclair|expliqu|detaill|etabli|revel|(?:me "
            r"|nous )?permet\w* (?:pas )?(?:de|d')\s?(?:repon|savoir|determin"
            r"|dire"
            r"|conclu|etabl)|<BE> (?:\w+ )?(?:<SAID>|fourni|donne|traite|present|clair))",
            "FACTS": r"(?:information|mention|reponse|indication|precision|donnee)s?",
        },
        r"""
\b<SOURCE>\b<NEAR>\b<NOT><SAYS>
\b<NOT><SAYS>\w*<NEAR>\b(?:dans|par|parmi) (?:\w+ ){0,2}?<SOURCE>\b
\b<NOT><BE> (?:\w+ )?<SAID>
\b<NOT>trouve (?:nulle part|aucune?|pas) (?:\w+ )?(?:<FACTS>|trace)
\brien (?:\w+ )?(?:dans|sur) (?:\w+ )?<SOURCE>\b
\bje (?:ne |n')(?:en |le |l'|vous |y )?(?:sais|dispose|trouve|connais|suis pas (?:en mesure|sur)|parviens|ai (?:pas
    |aucune|rien|trouve))
\bje (?:ne |n')(?:peux|pourrais|puis)\b<FAR>\b(?:repon|dire|renseign|determin|trouv|aider|confirm|fourni|precis)
\bimpossible (?:pour moi )?(?:de |d')(?:repon|dire|savoir|determin|trouv|etabl)
\b(?:aucune|pas d'|pas (?:assez|suffisamment) d'|pas de)\s?<FACTS>\b<FAR>\b(?:sur|concernant|dans|disponib\w*
    |donn\w*|fourni\w*|trouv\w*|a ce sujet|suffisant\w*)
\by a (?:aucune|pas d'|pas de)\s?<FACTS>\b
\b(?:muets?|muettes?) (?:sur|a ce)\b
\bj'ignore\b|\b(?:on|nul|personne) (?:ne |n'en )sait\b|\b(?:difficile|impossible) a dire\b
\bincapable de (?:le |vous )?(?:dire|repondre)
^\W*(?:aucune (?:information|reponse|idee)|pas de reponse)\W*$
""",
    ),
    # Spanish
    "no ni nada ninguno ningun ninguna desconozco desconoce desconocemos ignoro silencio insuficiente": (
        {
            "SOURCE": r"(?:contexto|documentos?|textos?|fuentes?|informacion|pasajes?|fragmentos?|extractos?"
            r"|articulos?|paginas?)",
            "NOT": r"no (?:(?:se|lo|le|la|me|nos|ha|han) ){0,2}(?:(?:esta|es|fue) )?",
            "SAYS": r"(?:mencion|especific|indica|dice|proporcion|contien|incluye|aparec|habla|aborda|dan?\b"
            r"|respond|explic|revel|ofrec"
            r"|figura|consta|permit\w+ (?:responder|determinar|saber|concluir)|trata|encuentra|detalla|aclara|hay )",
            "FACTS": r"(?:informacion|mencion|respuesta|referencias?|indicacion\w*|detalles?|datos|idea)",
        },
        r"""
\b<SOURCE>\b<NEAR>\b<NOT><SAYS>
\b<NOT><SAYS>\w*<NEAR>\ben (?:\w+ ){0,2}?<SOURCE>\b
\bno (?:lo se|dispongo|(?:he )?encontr(?:e|o|ado|amos)|encuentro)\b
\bno (?:puedo|podemos|podria)\b<FAR>\b(?:respond|contest|dec[ií]r|determin|encontr|ayud|confirm|saber|proporcion
    |ofrec)
\b(?:no tengo|no hay|no existe) (?:\w+ ){0,2}?<FACTS>\b
\bno (?:se (?:menciona|especifica|indica)|(?:me |nos )?es posible (?:determinar|responder|contestar|saber|decir)
    |se sabe\b)
\b(?:desconozco|desconocemos|se desconoce|ignoro)\b
\bno (?:sabria|me consta|estoy segur[oa]|cuento con|sabemos)\b
\b<SOURCE>\b<NEAR>\bsilencio\b
\bningun[oa]? (?:de )?(?:\w+ )?<SOURCE> <SAYS>
\b(?:ninguna informacion|informacion insuficiente)\b
^\W*(?:lo siento\W+)?(?:no se|ni idea)\W*$
""",
    ),
    # Portuguese
    "nao nada nenhum nenhuma desconheco desconhece ignoro silencio insuficiente": (
        {
            "SOURCE": r"(?:contexto|documentos?|textos?|fontes?|informac\w+|passage\w+|trechos?|excertos?"
            r"|artigos?|paginas?)",
            "NOT": r"nao (?:(?:se|o|a|me|nos|foi|foram|e|sao) ){0,2}",
            "SAYS": r"(?:mencion|especific|indic|diz\b|dizem|fornec|contem|contenh|inclui|aparec|fala|abord|da\b"
            r"|dao\b|respond"
            r"|explic|revel|oferec|consta|permit\w+ (?:responder|determinar|saber|concluir)|trata|encontr|detalh"
            r"|esclarec"
            r"|ha )",
            "FACTS": r"(?:informac\w+|menc\w+|respostas?|referencias?|indicac\w+|detalhes|dados|ideia)",
        },
        r"""
\b<SOURCE>\b<NEAR>\b<NOT><SAYS>
\b<NOT>(?:<SAYS>|esta)\w*<NEAR>\b(?:nos?|nas?|d[oa]s?) (?:\w+ ){0,2}?<SOURCE>\b
\bnao (?:sei|disponho|encontrei|encontro|encontramos|se sabe)\b
\bnao (?:posso|consigo|podemos|(?:me |nos )?e possivel)\b<FAR>\b(?:respond|diz|determin|encontr|ajud|confirm
    |saber|fornec)
\bnao (?:tenho|possuo|ha|existe\w*) (?:\w+ ){0,2}?<FACTS>\b
\b(?:desconheco|desconhece-se|ignoro)\b
\bnao (?:saberia|faco (?:a )?(?:menor )?ideia|tenho certeza|estou cert[oa]|sabemos|ha como (?:saber|determinar))\b
\b<SOURCE>\b<NEAR>\bsilencio
\bnenhuma informacao\b
\bnenhuma? (?:d[eoa]s? )?(?:\w+ )?<SOURCE> <SAYS>
""",
    ),
    # Italian
    "non nulla niente nessun nessuno nessuna ignoro": (
        {
            "SOURCE": r"(?:contest[oi]|document[oi]|test[oi]|font[ei]|passagg\w+|informazioni|bran[oi]"
            r"|estratt[oi]|articol[oi]|pagin[ae])",
            "NOT": r"non (?:(?:si|lo|ne|vi|ci|viene|vengono|e|sono|ha|hanno) ){0,2}(?:stat[oaie] )?",
            "SAYS": r"(?:menzion|specific|indic|dic[eo]|fornisc|contien|contengon|parla|affront|rispond|spieg"
            r"|rivel|trova\b|trovano"
            r"|riport|precis|permett\w+ di (?:rispon|determin|sapere|stabil)|accenn|present|chiar)",
            "FACTS": r"(?:informazion\w|menzion\w|rispost\w|indicazion\w|dettagl\w+|dati|idea)",
        },
        r"""
\b<SOURCE>\b<NEAR>\b<NOT><SAYS>
\b<NOT><SAYS>\w*<NEAR>\b(?:nel|nei|nella|nelle|negli|in|da[il]\w*) (?:\w+ ){0,2}?<SOURCE>\b
\bnon (?:lo so|so (?:rispondere|dire|cosa|quale|se)|saprei|dispongo|trovo|ho trovato|si sa|ne ho idea
    |sono sicur[oa]|mi risulta|sappiamo|e dato sapere)\b|\bignoro\b
\bnon (?:posso|possiamo|riesco a|sono in grado di|(?:mi |ci )?e possibile)\b<FAR>\b(?:rispon|dire|determin
    |trovare|aiutare
    |conferm|saper|forni)
\b(?:non ho|non ci sono|non c'e|non esist\w+) (?:\w+ ){0,2}?<FACTS>\b
\bnessun[oa]? (?:de\w+ )?<SOURCE> <SAYS>
\bnessuna? <FACTS>\b<NEAR>\b(?:su\w*|in|ne\w+|dispon\w+|trovat\w|fornit\w)\b
""",
    ),
    # Dutch
    "niet niets geen nergens onbekend onduidelijk": (
        {
            "SOURCE": r"(?:context|tekst(?:en)?|document(?:en)?|bron(?:nen)?|fragment(?:en)?|passages?|stuk(?:ken)?"
            r"|informatie"
            r"|artikel\w*|handleiding|pagina'?s?)",
            "NOT": r"(?:niets?|geen|nergens)",
            "SAYS": r"(?:zegg\w*|zegt|gezegd|noem\w*|genoemd|vermeld\w*|sta(?:at|an)|bevat\w*|geeft|geven|gegeven"
            r"|beantwoord\w*"
            r"|beschr\w+|vind\w*|gevonden|bied\w*|behandel\w*|uitsluitsel|duidelijk|blijkt)",
        },
        r"""
\b<SOURCE>\b(?=<FAR>\b<SAYS>\b)<FAR>\b<NOT>\b
\b<SOURCE> <SAYS>\b<NEAR>\b<NOT>\b
\b<SAYS>\b<NEAR>\b<NOT>\b<NEAR>\b(?:in|uit) (?:\w+ ){0,2}?<SOURCE>\b
\b<NOT>\b<NEAR>\b<SAYS>\b<NEAR>\b(?:in|uit) (?:\w+ ){0,2}?<SOURCE>\b
\bik zou het niet weten\b
\b(?:weet ik|ik weet(?: het| dat)?)(?: helaas| zo)? niet\b
\b(?:ik (?:kan|kon|heb)|(?:kan|kon|heb) ik)\b<FAR>\b<NOT>\b<NEAR>\b(?:beantwoord|zegg|vind|gevonden|help|bepal
    |informatie|gegevens)
\bgeen (?:informatie|antwoord|gegevens)\b<NEAR>\b(?:over|gevonden|beschikbaar|bekend|in)\b
\bgeen van (?:\w+ ){1,2}?<SOURCE> <SAYS>\b
\b(?:ik ben|ben ik) (?:\w+ )?niet zeker\b|\b(?:dat|het|dit) is (?:mij )?(?:\w+ )?(?:niet bekend|onbekend
    |onduidelijk)\W*$
\bniet (?:\w+ )?(?:vermeld|genoemd|beantwoorden)\b
^\W*(?:sorry\W+)?geen (?:idee|antwoord|informatie)\W*$
""",
    ),
    # Polish, Czech, Turkish, Vietnamese, Indonesian
    "nie brak nevim nemohu bilmiyorum bilgi belirtilmemis belirtilmedi cevap khong tidak": (
        {},
        r"""
\b(?:nie (?:wiem|moge|znalazl\w*|ma (?:informacji|danych)|podano)|brak (?:informacji|danych|odpowiedzi)|nevim
    |nemohu)\b
\b(?:bilmiyorum|bilgi (?:yok|bulunm\w+|verilm\w+)|belirtilm\w+|cevap veremiyorum)\b
\bkhong (?:biet|co thong tin|the tra loi|de cap|tim thay)\b
\b(?:tidak (?:tahu|ada informasi|dapat (?:menjawab|menemukan)|disebutkan)|saya tidak)\b
""",
    ),
}

_SCRIPTS = (
    {
        "SOURCE": r"(?:контекст|документ|текст|отрыв|источник|материал|фрагмент|стать|страниц)\w*",
        "SAYS": r"(?:содерж|предостав|описыв|указ|упомин|говор|сказан|сообщ|ответ|раскры|дают|дает|ясн|привод"
        r"|привед|касаю"
        r"|находит|обсужд|определ|поясн|объясн|уточн|рассказ|обознач)",
        "FACTS": r"(?:информаци[ия]|данных|сведении|ответа|упоминани[ия])",
        "文": r"(?:文件|文档|資料|资料|文中|文本|来源|來源|上下文|材料|段落|原文|文章|页面)",
        "没": r"(?:没有|沒有|未|并未|並未|不|无|無)",
        "说": r"(?:说明|說明|提及|提到|涉及|给出|給出|提供|包含|回答|指出|介绍|记载|答案|信息|资讯|相关内容)",
        "書": r"(?:文書|資料|文章|本文|テキスト|ドキュメント|文脈|情報源|記事|コンテキスト)",
        "ない": r"(?:ません|いない|ない(?!場合)|なし)",
    },
    r"""
<SOURCE>\b<NEAR>\bне (?:\w+ )?<SAYS>
не (?:\w+ )?<SAYS>\w*<NEAR>\b(?:в|из) (?:\w+ ){0,2}?<SOURCE>
(?:в|из) (?:\w+ ){0,2}?<SOURCE>\b<NEAR>\b(?:нет|ничего)\b
<SOURCE>\b<NEAR>\bмолч|молч\w+ (?:\w+ ){0,2}?<SOURCE>
не (?:знаю|удалось наити|наиден\w*|указан\w*|упомин\w+|известно|говорится|сообщается|располагаю|нашел|нашла|вказано)
не (?:могу|можу)\b<NEAR>\b(?:сказать|ответ|наити|определ|помо|подтверд|предостав|відпов)
неизвестно\b|понятия не имею|затрудняюсь|трудно сказать|не уверен|неясно\b
нет (?:\w+ ){0,2}?<FACTS>|немае (?:\w+ )?(?:інформаціі|даних)
\b<FACTS>\b<NEAR>\bнет\b
недостаточно (?:информации|данных|сведении|контекста)
информаци[яи] отсутств|отсутству\w+ (?:\w+ )?(?:информаци|данные|сведени)
不知道|不清楚|不确定|(?:无法|無法|不能)(?:回答|确定|確定|提供|找到|判断|判斷|得知|根据|根據|从|從|给出|給出|告)|找不到|抱歉|不得而知|无从|不了解|不详|回答不了|答不上|没有(?:相关|任何
    |足够的?|具体)?(?:信息|资料|答案|记载|说明)
<文>[^。，,;；]{0,12}<没>[^。，,;；]{0,8}<说>
(?:关于|關於)[^。，,;；]{0,30}<没>[^。，,;；]{0,4}<说>
(?:没有|沒有|未|并未|並未)(?:提供|提及|讲|说|提|提到|说明|說明|找到|给出|給出|相关信息|相關資訊|足够|足夠|明确说明|任何信息)|信息不足|資訊不足
わかりません|分かりません|かねます|知りません|存じ(?:上げ)?ません|見当がつき(?:ません|ない)|答えられ(?:ません|ない)|回答(?:は|を)?(?:差し)?控え|把握して(?:い|おり)ません|不明です|見つかりません
(?:記載|記述|言及|情報|回答|説明|答え)(?:が|は|も|されて|を)?(?:見当たり|あり|ござい|い|でき)?<ない>
(?:書か|述べ|触れ|示さ|含ま|載っ|記さ|明らかに|定め|規定|掲載)[^。、]{0,5}て(?:い|おり)?<ない>
(?:判断|回答|お答え|確認|特定|説明)(?:は|が)?(?:でき<ない>|しかね)|申し訳
<書>(?:に|には|では)(?:は)?(?:あり|ござい|載って|書かれ)[^。]{0,4}<ない>
ไม่ทราบ|ไม่(?:พบ|มี)ข้อมูล|ไม่สามารถ(?:ตอบ|ระบุ|หา)|ไม่ได้(?:ระบุ|กล่าวถึง|ให้ข้อมูล)|ขออภัย
모르겠|알 수 없|찾을 수 없|답변할 수 없|정보가 없|언급되지 않|제공되지 않|포함되어 있지 않|죄송
لا (?:اعرف|أعرف|يمكنني|استطيع|أستطيع|توجد معلومات|يذكر)|لم (?:يذكر|اجد|أجد|يرد)
पता नही|नहीं? पता|जानकारी नही|उल्लेख नही|उत्तर नही
\(ツ\)
""",
)

# What a sentence quotes, supposes, reports or concedes, its speaker does not state.
_NOT_STATED = r"""
`[^`]*`|"[^"]*"|«[^»]*»|„[^"“]*["“]|「[^」]*」|『[^』]*』
^\W*(?:if|when|whenever|unless|once|in case|wenn|falls|sofern|si|s'ils?|quand|lorsque?|cuando|se|quando|caso|если
    |когда|als|indien|wanneer)\b[^,.;:]*,
\b(?:if|unless|falls|sofern|wenn|если|indien)\b[^,;]*
\b(?:when|whenever|until|once) (?:the |no |any |an? |your |its )?(?:\w+ )?(?:contexts?|documents?|passages?
    |sources?|files?)\b[^,;]*
如果[^，,。；]*|(?:若|假如|要是|当)[^，,。；、]*[，,]
^[^。]*?(?:場合|とき|時)(?:は|に|、)
\b(?<!\bi )(?:says|said|told \w+|tells \w+|replied|replies|wrote|admitted|(?:states|stated|claims|claimed|explains
    |explained|warns|reports|reported|notes|noted|believes|thinks) that)\b(?!,| nothing| no\b| not\b
    | little)[^,;]*?(?=[,;]|\bbut\b|\band (?:it )?do|$)
\b(?:sagt|sagte|sagten|meint|meinte|erklarte|antwortete|behauptet|behauptete|schrieb), [^;]*
\b(?:dit|declare|repondu|affirme|ecrit|explique) qu[^;]*
\b(?:dijo|dice|declaro|afirmo|afirma|respondio|explico|disse|diz|declarou|afirmou|respondeu|explicou) que\b[^;]*
\b(?:detto|disse|dice|dichiarato|affermato|risposto|spiegato) che\b[^;]*
\b(?:zei|zegt|zeggen|verklaarde|antwoordde|beweert|schreef) dat\b[^;]*
\b(?:сказал\w*|говорит|заявил\w*|ответил\w*|сообщил\w*|утвержда\w+|пишет), что\b[^;]*
(?<![我来來不没沒据據])[说說](?![明法])[^；]*
^[^。]*と(?:言|述べ|答え|話)
, (?:although|though|even though|obwohl|bien qu|aunque|sebbene|anche se|embora|хотя|hoewel)\b[^,;]*
"""

_AT_WORD = r"\b"


def _compiled(alternatives: str, names: Mapping[str, str]) -> re.Pattern[str]:
    named = {**_NAMED, **names}
    alternatives = alternatives.replace("\n    ", "")
    while (whole := _NAME.sub(lambda name: named[name[1]], alternatives)) != alternatives:
        alternatives = whole
    groups = (
        (begins_a_word, "|".join(f"(?:{line.removeprefix(_AT_WORD)})" for line in lines))
        for begins_a_word, lines in groupby(whole.strip().splitlines(), lambda line: line.startswith(_AT_WORD))
    )
    # One check for the beginning of a word, not one in each alternative, is three times as fast.
    return re.compile("|".join(rf"\b(?=\w)(?:{lines})" if begins_a_word else lines for begins_a_word, lines in groups))


_NAME = re.compile(r"<([^\W\d_a-zа-я]+)>")

_BY_TRIGGERS = tuple(
    [(listed(triggers), _compiled(alternatives, {})) for triggers, alternatives in _ENGLISH.items()]
    + [(listed(triggers), _compiled(alternatives, names)) for triggers, (names, alternatives) in _LATIN.items()]
)
"""The trigger words and the pattern of each kind of refusal in Latin letters."""

_TRIGGERS = frozenset[str]().union(*(triggers for triggers, _ in _BY_TRIGGERS))
"""All trigger words in Latin letters; most sentences have none."""

_ELISION = re.compile(r"\bn'")
"""The beginning of French "n'est", which the trigger `n'` stands for."""

_OTHER_SCRIPTS = _compiled(_SCRIPTS[1], _SCRIPTS[0])
"""The refusals of languages in other scripts."""

_OTHER_LETTERS = re.compile("[\u0400-\u1dff\u3040-\ud7ff]")
"""Letters of other scripts."""

_UNSTATED = _compiled(_NOT_STATED, {})
"""The parts of a sentence that its speaker does not state."""

_OPENING = re.compile(
    r"\W*(?:(?:i|we|i'm|i've|we've|my|hello|hi|thanks?|sorry|unfortunately|apologies|great|good|let|ich|wir|leider"
    r"|hallo|danke"
    r"|vielen|entschuldig\w*|je|nous|desole|bonjour|merci|malheureusement|hola|gracias|lamento|ola|obrigad[oa]"
    r"|desculpe|grazie|buongiorno"
    r"|mi dispiace|lo siento|ik|wij|bedankt|helaas|я|мы|спасибо|здравствуите|извините|к сожалению)\b"
    r"|(?:based|according|from|in|the|this|these|your)\b[^,.;]{0,40}\b(?:contexts?|passages?|texts?|documents?"
    r"|articles?"
    r"|excerpts?|sources?|information|question)\b|(?:抱歉|很抱歉|对不起|感谢|您好|申し訳|すみません|ご質問))"
)
"""The beginning of a sentence with which an answer only opens."""

# Enough for all known refusals; bounds the work on an answer that is one long sentence.
_CHARACTERS_READ = 2000
_SENTENCE_READ = 400


class Sentence:
    """
    A sentence, or a whole answer, normalised and split into words.

    Args:
        text: The sentence.
    """

    __slots__ = ("_declines", "folded", "words")

    def __init__(self, text: str) -> None:
        self.folded = normalised(text)
        self.words = folded_words(self.folded)
        self._declines: bool | None = None

    @property
    def may_decline(self) -> bool:
        """False if no word of a refusal is in the sentence."""
        return not _TRIGGERS.isdisjoint(self._triggers) or (
            not self.folded.isascii() and _OTHER_LETTERS.search(self.folded) is not None
        )

    @property
    def declines(self) -> bool:
        """
        True if the sentence states that something is unknown or not in the sources; computed once.

        A quote, a condition or a report of another's words states nothing.
        """
        if self._declines is None:
            opening = self.folded[:_SENTENCE_READ]
            # Few sentences match at all, and only these need the slow search for what they do not state.
            self._declines = self.may_decline and self._matches(opening) and self._matches(_UNSTATED.sub(" ", opening))
        return self._declines

    @property
    def opens(self) -> bool:
        """True if the sentence claims nothing but opens an answer: "I'm sorry.", "The text is about boats."."""
        return _OPENING.match(self.folded) is not None or self.folded.rstrip().endswith("?")

    def beside_declining(self) -> str:
        """The normalised sentence without the words of the refusal."""
        opening = self.folded[:_SENTENCE_READ]
        for pattern in self._patterns(opening):
            opening = pattern.sub(" ", opening)
        return opening + self.folded[_SENTENCE_READ:]

    def _matches(self, opening: str) -> bool:
        return any(pattern.search(opening) for pattern in self._patterns(opening))

    @property
    def _triggers(self) -> list[str]:
        """The words, and `n'` if one begins with it; "don't" and "John's" do not."""
        return [*self.words, "n'"] if "n'" in self.folded and _ELISION.search(self.folded) else self.words

    def _patterns(self, opening: str) -> Iterator[re.Pattern[str]]:
        """The patterns that can match the beginning of the sentence."""
        words = self._triggers
        for triggers, pattern in _BY_TRIGGERS:
            if not triggers.isdisjoint(words):
                yield pattern
        if not opening.isascii():
            yield _OTHER_SCRIPTS


class SentenceCache(dict[str, Sentence]):
    """
    The parsed sentences of one answer, so that each is parsed once.

    Args:
        answer: The answer.
        read: The text that is parsed, as long as the answer: the answer with blanks for its citation markers.
    """

    def __init__(self, answer: str, read: str | None = None) -> None:
        super().__init__()
        self.sentences: tuple[str, ...]
        """Verbatim, in order."""
        if read is None or read == answer:
            self.sentences = tuple(sentences(answer))
            return
        end = 0
        verbatim: list[str] = []
        for sentence in sentences(read):
            start = read.index(sentence, end)
            end = start + len(sentence)
            verbatim.append(answer[start:end])
            self[verbatim[-1]] = Sentence(sentence)
        self.sentences = tuple(verbatim)

    def __missing__(self, sentence: str) -> Sentence:
        parsed = self[sentence] = Sentence(sentence)
        return parsed


def is_refusal(answer: str, cache: SentenceCache | None = None) -> bool:
    """
    True if *answer* declines: it is blank, asks back, or says that it or its sources do not know.

    The first sentence counts, and the second one if the first claims nothing. An answer that declines and then gives an
    answer is a refusal too.

    Args:
        answer: The answer.
        cache: The sentences of the answer that were read before; new ones are added.
    """
    if cache is None or len(answer) > _CHARACTERS_READ:
        cache = SentenceCache(answer[:_CHARACTERS_READ])
    if answer in cache and not cache[answer].may_decline:
        return not cache.sentences
    if not cache.sentences:
        return True
    first, second = cache[cache.sentences[0]], cache.sentences[1:2]
    return first.declines or (bool(second) and cache[second[0]].declines and first.opens)
