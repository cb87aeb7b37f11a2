"""Strip what a model thinks before its answer, where both stand in one text."""

import re

_THOUGHTS = (
    re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL),
    re.compile(r"\A\s*<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|\Z)", re.DOTALL),
)
_SOLUTION = re.compile(r"\A\s*<\|begin_of_solution\|>|<\|end_of_solution\|>\s*\Z")


def without_thoughts(text: str) -> str:
    """Remove a model's thoughts from its answer. Return `""` if the text was cut off while the model still thought."""
    for thoughts in _THOUGHTS:
        text = thoughts.sub("", text)
    return _SOLUTION.sub("", text).strip()
