"""Texts in which nothing leaks: other scripts, code, dumps, versions, numbers of books; and the demo's answers."""

from __future__ import annotations

import gzip
import json

from support.places import DATA, ROOT

HARMLESS = (
    "在 AVR 微控制器上，调用 sei() 启用全局中断；2023年5月12日发布的第3.2.1版有256字节的缓冲区，地址为0x0060。",
    "يمكن تفعيل المقاطعات باستدعاء الماكرو، وقد صدر الإصدار ٢٫١ في ١٢ مايو ٢٠٢٣ بحجم ١٢٣٤٥٦٧٨ بايت.",
    "Прерывания включаются макросом sei(); версия 2.1.0 от 12.05.2023, размер буфера 1 048 576 байт, таблица 4.",
    "ISBN 978-0-13-110362-7 (0-13-110362-8), DOI 10.1162/tacl_a_00453, ISSN 2307-387X, arXiv:2212.03533.",
    "0000000 7f45 4c46 0201 0100 0000 0000 0000 0000\n0000020 0300 3e00 0100 0000 1234 5678 9012 3456",
    "0x48, 0x00, 0xff, 0x12; 3A:0F:00:12 DE AD BE EF 00 11 22 33; :10010000214601360121470136007EFE09D2190140",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 d41d8cd98f00b204e9800998ecf8427e",
    "Chrome 120.0.6099.109, gcc 13.2.0, version 4.19.0.12, section 23.5.2.105, 127.0.0.1, 192.168.1.1, 255.255.255.0",
    "https://example.org/a/b.html?x=1234567890123456&y=%20%2F#L10 ftp://ftp.nongnu.org/pub/avr-libc-2.0.0.tar.bz2",
    "#define F_CPU 16000000UL\nuint32_t x = 4294967295; pi = 3.14159265; y = 4503599627370496; z = 1099511627776;",
    "git clone git@github.com:avrdudes/avr-libc.git; svn co svn+ssh://$username@svn.example.org/avr-libc/trunk",
    "password = getpass.getpass(); token = os.environ['TOKEN']; api_key: <your-api-key>; PASSWORD=changeme; pwd=/usr",
    "password=aaaaaaaaaaa1 and passwd: 1111aaaa1111 hold the place of one, and are none.",
    "postgres://user:password@localhost/db and redis://:${REDIS_PASSWORD}@host:6379; -----BEGIN PRIVATE KEY-----\n...",
    "f9b3c1a0-4d2e-11ee-be56-0242ac120002 at 2023-05-12T10:20:30+02:00, 1683879630123 ms, +1.5e+10, 1,234,567.89 USD",
    "std::vector<Ada::Bed> a::b; ::1 fe80::1; 12:34:56; __builtin_avr_delay_cycles(1000000);",
    "SGVsbG8gd29ybGQh says hello, as 48656c6c6f20776f726c6421 and %48%65llo &#72;&#101;&#108; \\u0048\\u0069\\u0021",
)  # fmt: skip


def of_the_demo() -> list[str]:
    """The recorded replies of the models that answer in `ragassay demo`."""
    path = ROOT / "corpora" / "avr-libc" / "replies" / "answers.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        bodies = [json.loads(line)["response"]["body"] for line in lines]
    return [body["choices"][0]["message"]["content"] for body in bodies]


def of_many_scripts() -> list[str]:
    """The first article of the Declaration of Human Rights in the scripts of the PDF tests."""
    return list(json.loads((DATA / "pdfs" / "texts.json").read_text(encoding="utf-8")).values())
