"""Small corpora in five languages, each passage with a sound question, its answer and the evidence in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple


class Sound(NamedTuple):
    """evidence is a part of passage that holds answer."""

    question: str
    answer: str
    evidence: str
    passage: str


ENGLISH = (
    Sound(
        "What wakes the controller from power-down sleep?",
        "A level change on a pin or the watchdog.",
        "Only a level change on an external pin or a watchdog interrupt ends power-down mode.",
        "In power-down mode all clocks stop and the supply current falls below 1 µA. Only a level change on an "
        "external pin or a watchdog interrupt ends power-down mode. The oscillator then needs 6 cycles to start.",
    ),
    Sound(
        "How many writes does the EEPROM survive?",
        "100,000 write cycles",
        "The EEPROM endures at least 100000 write and erase cycles.",
        "The EEPROM endures at least 100000 write and erase cycles. A byte is written by eeprom_update_byte(), which "
        "leaves the cell alone when the value is already there.",
    ),
    Sound(
        "why is my serial port printing rubbish",
        "The two ends run at different baud rates, usually because F_CPU does not match the crystal.",
        "Unreadable characters come from a baud rate mismatch: F_CPU must equal the frequency of the crystal.",
        "Unreadable characters come from a baud rate mismatch: F_CPU must equal the frequency of the crystal. At 16 "
        "MHz a rate of 115200 is off by 2.1 percent.",
    ),
    Sound(
        "Can two interrupts be active at once?",
        "No, they stay disabled until the handler returns.",
        "While a handler runs, further interrupts are disabled until it returns, unless sei() is called inside it.",
        "While a handler runs, further interrupts are disabled until it returns, unless sei() is called inside it. "
        "Pending requests are kept and served in the order of their vectors.",
    ),
    Sound(
        "analog reference voltage pin",
        "AREF",
        "The converter measures against the voltage at the pin AREF.",
        "The converter measures against the voltage at the pin AREF. A capacitor of 100 nF should stand between it and "
        "ground, and conversions take 13 cycles.",
    ),
)
GERMAN = (
    Sound(
        "Wie lange habe ich Zeit, um gegen den Bescheid vorzugehen?",
        "Einen Monat ab Zustellung.",
        "Der Widerspruch ist innerhalb eines Monats nach Zustellung des Bescheids einzulegen.",
        "Der Widerspruch ist innerhalb eines Monats nach Zustellung des Bescheids einzulegen. Er ist schriftlich bei "
        "der Behörde zu erheben, die den Bescheid erlassen hat.",
    ),
    Sound(
        "Wer bezahlt die Reparatur der Heizung in einer Mietwohnung?",
        "Der Vermieter; Kleinreparaturen bis 110 Euro kann der Mietvertrag dem Mieter auferlegen.",
        "Der Vermieter trägt die Kosten der Instandhaltung. Kleinreparaturen bis 110 Euro können vertraglich auf den "
        "Mieter übertragen werden.",
        "Der Vermieter trägt die Kosten der Instandhaltung. Kleinreparaturen bis 110 Euro können vertraglich auf den "
        "Mieter übertragen werden. Dies gilt auch für Rollläden und Türgriffe.",
    ),
    Sound(
        "Muss ein Fahrrad vorn eine Klingel haben?",
        "Ja, eine helltönende Glocke ist vorgeschrieben.",
        "Fahrräder müssen mit mindestens einer helltönenden Glocke ausgerüstet sein.",
        "Fahrräder müssen mit mindestens einer helltönenden Glocke ausgerüstet sein. Andere Einrichtungen für "
        "Schallzeichen dürfen nicht angebracht werden.",
    ),
    Sound(
        "Kündigungsfrist in der Probezeit",
        "Zwei Wochen",
        "Während einer vereinbarten Probezeit kann mit einer Frist von zwei Wochen gekündigt werden.",
        "Während einer vereinbarten Probezeit kann mit einer Frist von zwei Wochen gekündigt werden. Die Probezeit "
        "dauert längstens sechs Monate.",
    ),
)
RUSSIAN = (
    Sound(
        "Сколько дней отпуска положено работнику в год?",
        "28 календарных дней",
        "Ежегодный основной оплачиваемый отпуск предоставляется работникам продолжительностью 28 календарных дней.",
        "Ежегодный основной оплачиваемый отпуск предоставляется работникам продолжительностью 28 календарных дней. "
        "Отпуск может быть разделён на части, одна из которых не короче 14 дней.",
    ),
    Sound(
        "Как найти слово в тексте с помощью редактора?",
        "Нажать клавишу с косой чертой и ввести искомое слово.",
        "Для поиска нажмите клавишу косой черты, введите искомое слово и подтвердите ввод.",
        "Для поиска нажмите клавишу косой черты, введите искомое слово и подтвердите ввод. Повторный поиск выполняется "
        "клавишей n, обратный — клавишей N.",
    ),
    Sound(
        "Почему нельзя мыть чугунную сковороду в посудомоечной машине?",
        "Моющее средство снимает защитный слой масла, и чугун ржавеет.",
        "Щелочное моющее средство растворяет защитный слой масла, после чего чугун быстро ржавеет.",
        "Чугунную посуду моют вручную. Щелочное моющее средство растворяет защитный слой масла, после чего чугун "
        "быстро ржавеет. Сковороду вытирают насухо и смазывают.",
    ),
    Sound(
        "Где хранится база данных документов?",
        "На сервере в Москве, копия — в Казани.",
        "База данных размещена на сервере в Москве; её резервная копия находится в Казани.",
        "База данных размещена на сервере в Москве; её резервная копия находится в Казани. Копирование выполняется "
        "каждую ночь.",
    ),
)
CHINESE = (
    Sound(
        "劳动者每年可以休几天年假?",
        "工作满一年不满十年的,年休假5天。",
        "职工累计工作已满1年不满10年的,年休假5天;已满10年不满20年的,年休假10天。",
        "职工累计工作已满1年不满10年的,年休假5天;已满10年不满20年的,年休假10天。国家法定休假日不计入年休假的假期。",
    ),
    Sound(
        "手机掉进水里以后应该怎么办?",
        "立即关机,擦干,放在通风处晾干,不要充电。",
        "手机进水后应立即关机,用干布擦干,置于通风处晾干,期间切勿充电。",
        "手机进水后应立即关机,用干布擦干,置于通风处晾干,期间切勿充电。用吹风机加热会损坏电池和屏幕。",
    ),
    Sound(
        "为什么绿茶不能用开水泡?",
        "水温太高会破坏维生素,使茶汤变苦。",
        "冲泡绿茶的水温以八十度为宜,过高会破坏维生素并使茶汤变黄变苦。",
        "冲泡绿茶的水温以八十度为宜,过高会破坏维生素并使茶汤变黄变苦。红茶和普洱则需要沸水才能泡出香气。",
    ),
    Sound(
        "高铁票开车前多久可以免费退?",
        "开车前八天以上",
        "开车前8天以上退票的,不收取退票费;48小时以上的按票价5%计。",
        "开车前8天以上退票的,不收取退票费;48小时以上的按票价5%计。改签后的车票乘车日期在春运期间的另行规定。",
    ),
)
ARABIC = (
    Sound(
        "كم عدد أيام الإجازة السنوية للموظف؟",
        "واحد وعشرون يوما في السنة",
        "يستحق العامل إجازة سنوية مدتها واحد وعشرون يوما عن كل سنة عمل.",
        "يستحق العامل إجازة سنوية مدتها واحد وعشرون يوما عن كل سنة عمل. وتزاد إلى ثلاثين يوما بعد خمس سنوات من الخدمة.",
    ),
    Sound(
        "كيف أبحث عن كلمة في النص باستخدام المحرر؟",
        "اضغط مفتاح الشرطة المائلة ثم اكتب الكلمة.",
        "للبحث اضغط مفتاح الشرطة المائلة ثم اكتب الكلمة المطلوبة واضغط مفتاح الإدخال.",
        "للبحث اضغط مفتاح الشرطة المائلة ثم اكتب الكلمة المطلوبة واضغط مفتاح الإدخال. ويتكرر البحث بالمفتاح n.",
    ),
    Sound(
        "لماذا يصدأ الحديد بسرعة قرب البحر؟",
        "لأن الملح في الهواء الرطب يسرع التآكل.",
        "تحمل الرياح البحرية الملح والرطوبة، والملح يسرع تفاعل الحديد مع الأكسجين فيحدث التآكل.",
        "تحمل الرياح البحرية الملح والرطوبة، والملح يسرع تفاعل الحديد مع الأكسجين فيحدث التآكل. ويحمى الحديد بالطلاء.",
    ),
    Sound(
        "متى يدرس الطلاب الخلاف بين المدارس الفقهية؟",
        "في السنة الثالثة من الدراسة الجامعية",
        "تدرس مادة الخلاف الفقهي لطلاب السنة الثالثة في الكلية الجامعية.",
        "تدرس مادة الخلاف الفقهي لطلاب السنة الثالثة في الكلية الجامعية. وتسبقها مادة أصول الفقه في السنة الثانية.",
    ),
)
SOUND = {"en": ENGLISH, "de": GERMAN, "ru": RUSSIAN, "zh": CHINESE, "ar": ARABIC}
"""By language."""


def rows_of(language: str) -> list[dict[str, Any]]:
    """The sound questions of a language in Ragas's layout, with ids."""
    return [
        {"id": f"{language}-{n}", "user_input": q, "reference": answer, "reference_contexts": [evidence]}
        for n, (q, answer, evidence, _) in enumerate(SOUND[language], 1)
    ]


def write_corpus(folder: Path, language: str) -> Path:
    """corpus.jsonl (BEIR) of a language's passages."""
    path = folder / "corpus.jsonl"
    lines = [{"_id": f"p{n}", "title": "", "text": one.passage} for n, one in enumerate(SOUND[language], 1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path
