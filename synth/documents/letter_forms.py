"""Letters for the forms of letters that PDFs name instead: Arabic and Hebrew presentation forms, Chinese radicals.

A font has one glyph for the letter and the form, and a PDF made from glyphs may say either; a query has the letter.
"""

from __future__ import annotations

import re
import unicodedata

_FORMS = re.compile("[\u2f00-\u2fd5\ufb1d-\ufb4f\ufb50-\ufbff\ufc00-\ufdcf\ufe10-\ufe19\ufe30-\ufe44\ufe70-\ufefc]")
"""Kangxi radicals, forms of Hebrew and Arabic letters and ligatures, punctuation of columns that run downwards."""

_RADICALS = (
    "⺂⺃⺅⺉⺋⺎⺏⺐⺒⺓⺔⺕⺖⺘⺙⺛⺞⺟⺠⺡⺣⺤⺦⺨⺫⺭⺯⺰⺱⺲⺳⺹⺺⺾⺿⻂⻃⻄⻅"
    "⻆⻈⻉⻋⻌⻍⻎⻐⻑⻒⻓⻔⻖⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳"
)
_IDEOGRAPHS = (
    "乛乚亻刂㔾兀尣尢巳幺彑彐忄扌攵旡歺母民氵灬爫丬犭罒礻糹纟罓罒㓁耂肀艹艹衤覀西见"
    "角讠贝车辶辶辶钅長镸长门阝青韦页风飞食飠饣马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟"
)
_SAME_GLYPH = str.maketrans(_RADICALS, _IDEOGRAPHS)
"""The radicals without a decomposition in Unicode that are one glyph with an ideograph in Noto Sans CJK."""


def plain_letters(text: str) -> str:
    """The text with letters for their forms; ligatures of letters become their letters, in the order of reading."""
    if text.isascii():
        return text
    return _FORMS.sub(_letters, text.translate(_SAME_GLYPH))


def _letters(form: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", form[0]).replace(" ", "")
