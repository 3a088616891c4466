"""Tells a model's refusal from a text in which a person declines something.

A refusal opens the reply and declines an assistant's work: "I can't help with that request". A person's text opens with
a date, a greeting or a name, or declines a person's matter: "I'm sorry, but I can't attend the hearing".
"""

import re

_OPENING_CHARACTERS = 500
_SENTENCES = 3  # a refusal may come after "I'm sorry." and "I understand what you need."
_SHORT_BYTES = 800  # about 130 English words or 260 Korean syllables: bytes of UTF-8 compare scripts fairly

_TYPOGRAPHIC = str.maketrans(dict.fromkeys("’ʼ‘`´＇", "'"))
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")

_I_CANNOT = r"""(?:
      i\ (?:(?:simply|really|just|also|unfortunately|therefore|respectfully)\ )?
        (?:cannot|can\ not|can't|could\ not|couldn't|won't|will\ not|do\ not|don't)
    | i(?:\ am|'m)\ (?:\w+\ )?(?:unable|not\ able|not\ allowed|not\ permitted|not\ going|not\ comfortable|not\ programmed)
    | i\ (?:must|have\ to|need\ to|will\ have\ to)\ (?:\w+\ )?(?:decline|refuse)
    | (?:i'd|i\ would)\ (?:rather|prefer)\ not
    )(?:\ (?:feel\ comfortable|have\ the\ ability))?(?:\ (?:to|with))?"""
_WORK = (
    r"(?:help|assist|compl[yi]|fulfil|generat|creat|produc|writ|provid|draft|compos|engag|simulat|invent|fabricat)\w*"
)
_ASKED = r"""(?:
      (?:this|that|such(?:\ an?)?)\ (?:\w+\ )?(?:requests?|tasks?|prompts?|instructions?|content|material|queries)\b
    | (?:this|that|these|those)\ (?:kinds?|types?|sorts?)\ of\b
    | (?:fictional|fictitious|fake|synthetic|made-up|realistic)\b
    | (?:content|material|texts?|anything|documents?)\ (?:that|which|containing|involving|with)\b
    | (?:about|of|for|impersonat\w+)\ (?:a\ )?real\ (?:people|person|individual)s?\b
    )"""

# An assistant speaking of itself or of the task it was given: a refusal at any length.
_CERTAIN = (
    r"[^.!?]{0,80}\b(?:as|being)\ an?\ (?:ai|artificial\ intelligence|(?:large\ )?language\ model)\b"
    r"(?:\ (?:language\ )?(?:model|assistant|system|chatbot))?,?\ (?:i|my|it)\b",
    r"[^.!?]{0,80}\bi(?:'m|\ am)\ (?:just\ |only\ )?an?\ (?:ai|(?:large\ )?language\ model)\b(?!\ \w+er\b)",
    rf"(?:[^.!?]{{0,120}}?\b)?{_I_CANNOT}\ {_WORK}\b[^.!?]{{0,80}}?{_ASKED}",
    r"[^.!?]{0,160}\b(?:violat\w+|against|conflicts?\ with)\ (?:\w+\ ){0,2}?(?:my|openai's|the\ usage|content|safety)\ "
    r"(?:\w+\ ){0,2}?(?:guidelines|polic(?:y|ies)|programming|principles)",
    r"[^.!?]{0,40}\bals\ (?:ein(?:e)?\ )?(?:ki|künstliche\ intelligenz|sprachmodell)\b[^.!?]{0,30}\b(?:kann|darf|bin|habe)\b",
    r"[^.!?]{0,40}\bcomo\ (?:un\ |una\ |um\ |uma\ )?(?:ia|inteligencia\ artificial|inteligência\ artificial|modelo\ de\ (?:lenguaje|linguagem))\b",
    r"[^.!?]{0,40}\ben\ tant\ qu(?:e\ modèle\ de\ langage|'(?:ia|intelligence\ artificielle|assistant\ (?:ia|virtuel)))\b",
    r"[^.!?]{0,40}\b(?:in\ quanto|come)\ (?:ia|intelligenza\ artificiale|modello\ linguistico)\b",
    r"[^.!?]{0,40}(?:как\ (?:ии|искусственный\ интеллект|языковая\ модель)\b)",
    r"[^。！？]{0,20}作[为為]一?[个個名]?(?:ai|人工智[能慧]|[语語]言模型|大[语語]言模型)",
    r"[^.!?]{0,20}(?:저는\ (?:ai|인공지능)|(?:ai|인공지능)(?:\ 언어)?\ ?(?:모델|어시스턴트)?(?:로서|로써|이기\ 때문에))",
    r"[^。！？]{0,20}(?:ai|人工知能)(?:言語モデル|アシスタント)?(?:として|であるため)",
)

# Words that a person might also open with: a refusal when hardly anything follows.
_DOUBTFUL = (
    rf"(?:[^.!?]{{0,120}}?\b)?{_I_CANNOT}\ (?:\w+\ )?(?:help|assist|comply|continue|proceed|do|fulfill?)"
    r"(?:\ you)?(?:\ (?:with|to|on))?(?:\ (?:this|that|it|your\ request))?(?:\ here)?\W*\Z",
    rf"(?:[^.!?]{{0,120}}?\b)?{_I_CANNOT}\ {_WORK}\ (?:\w+\ ){{0,3}}(?:your\ request|personal(?:ly)?|private|sensitive|confidential)\b",
    r"(?:[^.!?]{0,80}\b)?i\ (?:must|have\ to|will\ have\ to)\ (?:\w+\ )?(?:decline|refuse)\W*\Z",
    # German
    r"(?:[^.!?]{0,60}\b)?(?:kann|darf|möchte)\ (?:ich\ )?(?:ihnen\ |dir\ |leider\ )*(?:dabei|damit|hierbei|bei\ dieser\ (?:anfrage|aufgabe))\ "
    r"(?:leider\ )?nicht\ (?:weiter)?(?:helfen|behilflich|unterstützen|dienen)",
    r"(?:[^.!?]{0,60}\b)?(?:kann|darf|werde)\ (?:ich\ )?(?:leider\ )?(?:diese[rmns]?|ihre[rn]?|deine[rn]?|keine|solche)\ (?:\w+\ )?"
    r"(?:anfrage|bitte|aufgabe|inhalte?|texte?|daten|dokumente?|informationen)\ (?:leider\ )?(?:nicht\ )?"
    r"(?:erfüllen|bearbeiten|beantworten|erstellen|bereitstellen|generieren|verfassen|schreiben|nachkommen)",
    # Spanish, Portuguese
    r"(?:[^.!?]{0,60}\b)?(?:no\ puedo|no\ me\ es\ posible|não\ posso)\ (?:ayudar|ayudarte|ayudarle|ajudar|ajudá-lo)\ (?:con|en|com|nisso|nessa)\ ?"
    r"(?:eso|esto|esa|esta|ese|este|essa|isso|isto|solicitação)?\b",
    r"(?:[^.!?]{0,60}\b)?(?:no\ puedo|não\ posso)\ (?:cumplir|atender|generar|gerar|crear|criar|proporcionar|fornecer|escribir|escrever|redactar)\ "
    r"(?:con\ )?(?:ese|este|esta|esa|esse|essa|a|o|tal|contenido|conteúdo|informaci[oó]n|informações|datos|dados)\ ?"
    r"(?:tipo|solicitud|solicitação|petición|contenido|conteúdo|personal|pedido|información)",
    # French, Italian
    r"(?:[^.!?]{0,60}\b)?je\ ne\ (?:peux|suis)\ pas\ (?:en\ mesure\ d(?:e\ |'))?(?:vous\ |t')?(?:aider|répondre|satisfaire|créer|générer|fournir|rédiger|accéder)\ "
    r"(?:à|avec|sur|de|ce|cette|ces)\ ?(?:cette|ce|cela|ça|votre|telle?s?|genre|type)?\ ?(?:demande|requête|contenu|de\ contenu|cela|ça|\W*\Z)",
    r"(?:[^.!?]{0,60}\b)?non\ posso\ (?:aiutart[ie]|aiutarla|soddisfare|generare|creare|fornire|scrivere)\ (?:con|in|questa|questo|a)\ ?(?:questa|questo|tipo|richiesta|\W*\Z)",
    # Russian
    r"(?:[^.!?]{0,60}\b)?я\ не\ могу\ (?:помочь|выполнить|создать|предоставить|написать)\ (?:с|в|вам|тебе|этот|эту|такой|такие|этого)\ ?(?:этим|запрос|просьбу|текст|контент|\w*\W*\Z)",
    # Chinese, Japanese, Korean
    r"[^。！？]{0,25}(?:我)?(?:[无無]法|不能|不可以|[沒没][办辦]法)(?:继续|直接)?(?:为您|為您|为你)?(?:提供|满足|滿足|[协協]助|[帮幫]助?|生成|[创創]建|完成|回答|撰[写寫]|[处處]理|[编編]写)"
    r"(?:您|你)?(?:的)?(?:[这這]|此|[该該]|相[关關]|[请請]求|[内內]容|任[务務]|个人信息|。|\Z)",
    r"[^。！？]{0,30}(?:その|この|そのような|このような|ご要望|ご依頼|リクエスト|個人情報)[^。！？]{0,30}"
    r"(?:お手伝い|お答え|提供|作成|生成|対応|お応え)[^。！？]{0,8}(?:できません|できかねます|いたしかねます)",
    r"[^.!?]{0,40}(?:요청|내용|콘텐츠|정보|글|문서|부분)[^.!?]{0,20}(?:도와\ ?드릴|도움을\ 드릴|제공(?:해\ 드릴|할)|작성(?:해\ 드릴|할)|생성할|응할|처리할|들어\ ?드릴)\ 수\ ?(?:는\ )?없",
)

_SOFTENER = re.compile(
    r"""(?:\W*(?:
        (?:i'm|i\ am)\ (?:\w+\ )?sorry | sorry | (?:i\ )?apolog | my\ apologies | unfortunately | thank\ you\ for
      | i\ (?:understand|appreciate|see|realize) | hello\b | hi\b | note\b
      | es\ tut\ mir | entschuldig | lo\ siento | lamento | desculpe | sinto\ muito | (?:je\ suis\ )?désolé | mi\ dispiace
      | извините | к\ сожалению | 죄송 | 미안 | 抱歉 | 很抱歉 | 非常抱歉 | 对不起 | 對不起 | 申し訳 | すみません
    ))""",
    re.VERBOSE,
)


def _any_of(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.VERBOSE)


_CERTAINLY, _PERHAPS = _any_of(_CERTAIN), _any_of(_DOUBTFUL)


def is_refusal(text: str) -> bool:
    """Whether ``text`` is an assistant's refusal; looks at its opening sentences and, in doubt, at its length."""
    opening = text[:_OPENING_CHARACTERS].translate(_TYPOGRAPHIC).lower().strip(" \n\t*_#>\"'\ufeff")
    short = len(text.encode("utf-8", "surrogatepass")) <= _SHORT_BYTES
    for sentence in _SENTENCE_END.split(opening)[:_SENTENCES]:
        if _CERTAINLY.match(sentence) or (short and _PERHAPS.match(sentence)):
            return True
        if not _SOFTENER.match(sentence):
            return False
    return False
