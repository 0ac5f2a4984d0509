"""Questions that lean on a text not shown, and sound ones beside them, in Russian, Chinese, Japanese and Arabic."""

from __future__ import annotations

import pytest

from ragassay.synth.questions.stand_alone import leans_on


@pytest.mark.parametrize(
    "text",
    [
        "Что говорится в данном отрывке о сроках?",
        "Как описано выше, что делать?",
        "Что он возвращает?",
        "根据上述文章,应该注意什么?",
        "文中提到的方法有哪些?",
        "它返回什么?",
        "この表によると、最大値はいくつですか?",
        "本文によれば、原因は何ですか?",
        "ما الذي يوصي به الكاتب وفقا للنص أعلاه؟",
        "ما معنى هذا المقطع؟",
    ],
)
def test_what_leans(text: str):
    assert leans_on(text)


@pytest.mark.parametrize(
    "text",
    [
        "Как найти слово в тексте с помощью редактора?",
        "Где хранится база данных документов?",
        "Как удалить файлы в этом разделе диска?",
        "Что такое таблица разделов?",
        "这个软件怎么安装?",
        "以上海为起点的高铁有几条?",
        "按照本法规定如何处罚?",
        "この図書館は何時に開きますか?",
        "この節約方法は安全ですか?",
        "كيف أبحث عن كلمة في النص؟",
        "ما هي شروط هذا العقد؟",
    ],
)
def test_what_stands_alone(text: str):
    assert leans_on(text) is None
