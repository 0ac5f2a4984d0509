"""Whether a question makes sense to someone who has nothing else in view: patterns, in nine languages.

A question that leans on what its writer was reading ("according to the passage…", "the example above", "What does it
return?") cannot be put to a search system. The patterns aim at what surely leans; they let the doubtful stand.
"""

from __future__ import annotations

import re

_RUSSIAN_PART = (
    r"(?:текст|отрыв|фрагмент|абзац|раздел(?!\w* диск)|документ|стать|глав|пример|рисун|таблиц|"
    r"отчёт|отчет)\w*"
)
_RUSSIAN = (
    rf"\b(?:данн(?:ый|ого|ому|ым|ом|ая|ой|ую|ое)|эт(?:от|ого|ому|им|ом|а|ой|у|о)|приведённ\w*|приведенн\w*|"
    rf"указанн\w*|представленн\w*|вышеупомянут\w*|упомянут\w*) {_RUSSIAN_PART}",
    r"\b(?:согласно|судя по) (?:тексту|отрывку|фрагменту|абзацу|документу|статье)\b(?=\s*(?:[?.,;:!]|$))",
    r"\bв (?:тексте|отрывке|фрагменте|абзаце|документе|статье)(?=\s*(?:упом|опис|выше|говор))",
    r"\b(?:упомянут|описан|указан|приведён|приведен|перечислен|показан)\w* (?:выше|ниже)\b",
    r"\b(?:вышеупомянут|вышеуказан|нижеприведён|нижеприведен|вышеописан)\w*",
    r"^(?:что|как|зачем|почему|когда) (?:он|она|оно|они|это) (?:делает|делают|возвращает|означает|работает|работают)"
    r"(?=\s*\?)",
)
_CHINESE_PART = "(?:文章|文本|段落|段文字|段话|章节|文档|材料|表格|例子|示例|节选|片段|上下文)"
_CHINESE = (
    f"(?:根据|依据|按照|在)(?:上述|以上|上面|本|该|这篇|这段|此|给定的?|所给的?|提供的?){_CHINESE_PART}",
    "(?:根据|按照|如)(?:上文|下文|本文|文中|上图|下图|上表|下表)",
    f"(?:上述|以上|上面的?|下面的?|以下的?|这篇|这段){_CHINESE_PART}",
    "(?:上文|文中|本文|前文)(?:中)?(?:所)?(?:提到|提及|描述|所述|介绍|说)",
    "^(?:它|他们|她|它们|这个|那个)(?:是什么|返回什么|有什么|怎么|如何|为什么)",
)
_JAPANESE = (
    "(?:この|その|上記の?|以下の|次の|上の|下の)(?:文章|文書|段落|章(?!句)|節(?!約|目)|表(?!現|示|情|面)|図(?!書|形|面)|"
    "例(?!外)|本文|テキスト|抜粋)",
    "(?:本文|文中|上記)(?:に|で|の|によ)",
)
_ARABIC_PART = r"(?:النص|المقطع|الفقرة|القسم|المستند|الوثيقة|المقال|المقالة|الجدول|الشكل|المثال|الفصل)"
_ARABIC = (
    rf"\b(?:هذا|هذه|ذلك|تلك) {_ARABIC_PART}(?=\s|[؟?.,،]|$)",
    rf"(?:وفقا|وفقًا|وفقاً|طبقا|طبقًا|حسب|بحسب|بناء على|استنادا إلى) ?(?:ل|إلى )?(?:{_ARABIC_PART}|لنص|للنص|للمقطع|"
    r"للفقرة|للمستند|للوثيقة|للمقال)(?=\s*(?:[؟?.,،]|$|أعلاه|السابق|المذكور|المعطى))",
    rf"{_ARABIC_PART} (?:أعلاه|أدناه|السابقة?|المذكورة?|المعطاة?|المعطى|المقدمة?)(?=\s|[؟?.,،]|$)",
    r"(?:المذكورة?|الموضحة?|الواردة?) (?:أعلاه|أدناه|سابقا|سابقًا)",
)
_PART = (
    r"(?:passages?|excerpts?|snippets?|extracts?|sections?|sub-?sections?|chapters?|paragraphs?|texts?|documents?|"
    r"articles?|listings?|figures?|tables?|diagrams?|illustrations?|examples?|pages?|appendix|footnotes?)"
)
_WORK = r"(?:document(?:ation)?|manual|guide|handbook|data ?sheet|book|paper|report|specification|authors?)"
_TOLD = (
    r"(?:mentioned|described|discussed|shown|listed|given|provided|stated|presented|outlined|defined|explained|noted)"
)
_THING = (
    r"(?:functions?|registers?|devices?|commands?|options?|macros?|codes?|programs?|values?|parameters?|errors?|"
    r"features?|methods?|approach(?:es)?|settings?|process(?:es)?|tools?|systems?|variables?|steps?|problems?|issues?|"
    r"instructions?|packages?|products?|services?|terms?|concepts?|techniques?|rules?|files?|modules?)"
)
_STOP = r"[?？]|[.,;:!)](?:\s|$)|$"
_ENDS = (
    rf"(?=\s*(?:{_STOP}|above|below|here\b|about|say|state|mention|describe|explain|suggest|recommend|show|define|"
    r"illustrate|demonstrate|cover|do\b|contain))"
)
_WHICH = r"(?:(?:given|provided|above|following|preceding|previous|first|second|last|whole|entire|attached|same) )?"
_ASKS = r"(?:what|why|how|when|where|which|who)"
_AUX = r"(?:does|do|did|is|are|was|were|can|could|should|will|would|has|have|must|may|might)"
_DUMMY = (
    r"(?:that\b|to\b|(?:\w+ly |not |so |still |ever |even |an? |the |any |more |most |less |generally )*"
    r"[\w-]+ (?:\w+ )?(?:to|that|if|for|when|whether)\b|mean\b|matter\b|take\b|make sense|cost\b|possible|"
    r"necessary|safe|worth|ok(?:ay)?\b|true\b|called\b|enough\b|better\b)"
)

_ENGLISH = (
    rf"\b(?:this|these|those) (?:\w+ )?{_PART}\b",
    rf"\b(?:this|these) {_WORK}\b",
    rf"\baccording to (?:the|this|that|these) {_WHICH}(?:{_PART}|{_WORK}|information|context)\b",
    rf"\b(?:in|from|by|on|of|with|see|as per|based on|does|do|did|throughout) the {_WHICH}(?!pages?\b){_PART}{_ENDS}",
    rf"\bthe (?:above|below|aforementioned|(?:above-)?mentioned) (?:\w+ )?(?:{_PART}|{_THING}|{_WORK}|information)\b",
    rf"\bthe (?:given|provided|quoted) (?:\w+ )?(?:{_PART}|code|information|context)\b",
    r"\bthe (?:preceding|previous) (?:section|chapter|paragraph|example|figure|listing|text|passage|excerpt|code)\b",
    rf"\b(?:{_PART}|{_THING}|information|context|code) (?:{_TOLD} )?(?:above|below)\b"
    r"(?! (?:\d\w*|-|zero|the|an?|its|that|this|which|what|about|or|and)\b)",
    rf"\b{_TOLD} (?:above|below|earlier|previously|in the|in this)\b(?! (?:release|version|standard)s?\b)"
    rf"(?: (?:\w+ )?{_PART}\b)?{_ENDS}",
    rf"\bthe {_TOLD} {_PART}\b",
    r"\bthe (?:passage|excerpt|snippet)\b(?! (?:of|from|to|in|between|through)\b)",
    r"\bthe authors?\b(?! of\b)",
    rf"\b(?:(?:of|is|are) the following|the following (?:{_PART}|code|statements?|options?|list|output|program))\b"
    r"(?!.*[:`])",
    r"\b(?:provided|given|supplied) (?:context|information|text|content)\b",
    r"\b(?:figure|fig\.|table|listing|illustration|equation|eq\.|footnote|example) \(?(?:\d+(?:[.-]\d+)*|[IVX]+)\b",
    r"\b(?:in|from|of|on|see|to|by) (?:section|chapter|page|appendix|paragraph) (?:\d+(?:\.\d+)*|[A-Z]|[IVX]+)\b",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? it\b(?! (?:be )?{_DUMMY})",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? (?:they|them|he|she|these|those)"
    rf"(?=[?？]|$| (?!(?:\w+ )?(?:who|that|which|with|of|in)\b))(?! [\w-]+ {_ASKS})",
    rf"^(?:(?:and|but|so|also|then),? )?(?:{_ASKS} )?{_AUX}(?:n['’]t| not)? (?:this|that)"
    rf"(?=[?？]|$| (?:\w+ly )?(?:is|be|do|mean|work|happen|done|possible|necessary|important|called|used|required|so|"
    rf"affect|differ|compare|safe|matter|allowed|needed|and|or|to|in|on|for|with|when)\b)",
    rf"^(?:\w+,? )?(?:\w+ ){{0,5}}(?:this|these|those) (?:\w+ )?{_THING}\b(?!.*[:`\"“])",
    rf"^{_ASKS} (?:happens|is used|is done|else|is meant)(?: (?:here|there|in this case|then))? ?[?？]?$",
)
_GERMAN = (
    r"\b(?:laut|gemäß|gemäss|nach|in|aus|zufolge) (?:dem|der|den|des)(?: \w+)? "
    r"(?:text(?:abschnitt|stelle|auszug)?|abschnitts?|dokuments?|absatz(?:es)?|auszugs?|passage|kapitels?)"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|zufolge|beschrieben|genannt|erwähnt|erklärt|definiert|dargestellt))",
    r"\b(?:laut|gemäß|gemäss) (?:text|abschnitt|dokument|absatz|auszug|passage|kapitel|dem text|dem abschnitt)\b",
    r"\b(?:diese[mnrs]?|obige[mnrs]?|vorliegende[mnrs]?|genannte[mnrs]?|erwähnte[mnrs]?) "
    r"(?:text\w*|abschnitts?|dokuments?|absatz\w*|auszugs?|passage|kapitels?|beispiels?|abbildung|tabelle|seite)\b",
    r"\bim (?:obigen |vorliegenden |genannten |gegebenen )?(?:text|abschnitt|dokument|absatz|auszug|kapitel)"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|beschrieben|genannt|erwähnt|erklärt|definiert|dargestellt|oben|angegeben))",
    r"\b(?:oben|zuvor|vorher|hier) (?:genannt|erwähnt|beschrieben|gezeigt|aufgeführt)\w*",
    r"^(?:was|wie|warum|wann|wo|wozu) (?:\w+ )?(?:dies|dieses|diese)(?=\s*\?| (?:getan|genutzt|verwendet|gemacht)\b)",
    r"\b(?:abbildung|tabelle|abb\.) \d+",
)
_FRENCH_PART = r"(?:texte|passage|section|document|extrait|paragraphe|chapitre|article|figure|tableau|exemple|page)"
_FRENCH = (
    rf"\b(?:selon|d['’]après|dans|de|par) (?:(?:le|la|les) |l['’])(?:\w+ )?{_FRENCH_PART}s?(?: fourni\w*)?"
    r"(?=\s*(?:[?.,;:!](?:\s|$)|$|ci-))",
    rf"\b(?:selon|d['’]après) (?:(?:le|la) |l['’]){_FRENCH_PART}\b",
    rf"\b(?:ce|cet|cette|ces) {_FRENCH_PART}s?\b",
    r"\bci-(?:dessus|dessous)\b",
    r"\b(?:susmentionné|précité|mentionné plus haut|décrit plus haut)",
    r"\b(?:figure|tableau) \d+",
)
_IBERIAN = (
    r"\b(?:según|segundo|de acuerdo con|de acordo com|conforme|basado en|com base) (?:el|la|los|este|esta|o|a|no|na) "
    r"(?:\w+ )?(?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|extracto|passagem|seção|secção|trecho|"
    r"parágrafo|excerto|artículo|artigo)\b",
    r"\b(?:este|esta|estos|estas|neste|nesta|deste|desta) (?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|"
    r"extracto|passagem|seção|secção|trecho|parágrafo|excerto|ejemplo|exemplo|figura|tabla|tabela|página)\b",
    r"\b(?:en el|en la|del|de la|no|na|do|da) (?:texto|pasaje|sección|documento|fragmento|párrafo|capítulo|extracto|"
    r"passagem|seção|secção|trecho|parágrafo|excerto)(?=\s*(?:[?.,;:!](?:\s|$)|$|anterior|acima|arriba))",
    r"\b(?:mencionad|descrit|citad|indicad|mostrad)[oa]s? (?:arriba|anteriormente|acima|antes|previamente)\b",
    r"\b(?:arriba|anteriormente|acima|antes) (?:mencionad|descrit|citad|indicad)[oa]s?\b",
    r"\b(?:figura|tabla|tabela) \d+",
)
_ALL_LANGUAGES = (*_ENGLISH, *_GERMAN, *_FRENCH, *_IBERIAN, *_RUSSIAN, *_CHINESE, *_JAPANESE, *_ARABIC)
_PATTERNS = [re.compile(pattern, re.IGNORECASE) for pattern in _ALL_LANGUAGES]


def leans_on(text: str) -> str | None:
    """The words by which a question leans on something outside itself, or None where it stands alone.

    `text` has its white space folded to single blanks.
    """
    for pattern in _PATTERNS:
        if found := pattern.search(text):
            return found.group().strip()
    return None
