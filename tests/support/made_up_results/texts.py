"""Who takes part in the made-up run, and what they say: also texts that attack whoever shows them."""

from __future__ import annotations

import re

AGENTS = ("hybrid-rag-fusion", "bm25-rag-fusion", "hybrid-rag", "bm25-rag", "knn-rag-fusion", "knn-rag")
CRITERIA = ("relevance", "accuracy", "completeness", "precision")
WRITERS = ("openai:gpt-4o", "anthropic:claude-sonnet-4-5")
JUDGE = "anthropic:claude-sonnet-4-5"
LONG_WORD = "x" * 5000
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\u202egnp.exe\u202c \u2066isolated\u2069",
    "\x1b[31mred\x1b[0m \x07",
    LONG_WORD,
    '"><svg/onload=alert(3)> {{ 7*7 }} {% raw %} &amp; https://evil.example/x',
)
QUESTIONS = (
    "How do I keep a variable in program memory so that it does not use up RAM?",
    "Why does my interrupt routine never see the change that main() made to a flag?",
    "Which fuse bits must be set before the internal oscillator can be calibrated?",
    "What is the difference between pgm_read_byte() and pgm_read_byte_far()?",
    "How can I use printf() with floating-point numbers without filling the flash?",
    "What happens to registers when an ISR calls another function?",
    "Is it safe to call malloc() when the stack grows towards the heap?",
    "How do I write to the EEPROM without wearing it out?",
    "Which timers may be used while the watchdog resets the device?",
    "How are delays made exact when the optimiser is switched off?",
    "Where does the linker put constants that are larger than 64 KB?",
    "What must a boot loader do before it erases a page?",
)
PASSAGE = (
    "The section .progmem.data holds constants that stay in flash. Reading them needs the LPM instruction, for which "
    "<avr/pgmspace.h> has macros; a plain pointer would read from RAM at the same address and give whatever is there. "
    "Devices with more than 64 KB of flash need the far variants, which take a 32-bit address and use RAMPZ."
)
ANSWER = (
    "Declare the variable with PROGMEM and read it through pgm_read_byte() [1].\n\n"
    "1. Include <avr/pgmspace.h>.\n2. Put the data at file scope, or make it static [2].\n"
    "3. Where the flash is larger than 64 KB, use the _far variants [3].\n\n"
    "The passages do not say what this costs in cycles."
)
VOCABULARY = tuple(dict.fromkeys(re.findall(r"[A-Za-z0-9_.()/<>]+", f"{PASSAGE} {ANSWER} {' '.join(QUESTIONS)}")))
REASONS = (
    "It names the macro and the header, and both are in the passages.",
    "It answers the question, but leaves out devices with more than 64 KB of flash.",
    "It speaks of another device and does not answer what was asked.",
)
TOLD = (
    "The test set has 12 of the 14 queries asked for: openai:gpt-4o gave 6 of 8.",
    "9 of 1,042 judgments failed and are counted nowhere.",
)
NOTE = "knn-rag has no rating: it has won no game, so any rating low enough would do."
STRENGTH = dict(zip(AGENTS, (1.2, 0.9, 0.7, 0.35, 0.0, -0.6), strict=True))
DOC = "avr-libc-user-manual.pdf"
REWRITES = ("PROGMEM constants avr-gcc", "store table in flash", "pgm_read_byte usage", "reduce RAM use")
SETTINGS = {
    "k": 5,
    "retrieval_engine": "embedded",
    "embedding": "intfloat/multilingual-e5-base",
    "rrf_k": 60,
    "answer_model": WRITERS[0],
    "judge_model": JUDGE,
    "judge_mode": "label",
    "games": "all",
    "tournaments": 500,
    "bootstrap": 1000,
    "confidence": 0.95,
    "seed": 7,
    "max_cost_usd": None,
}
