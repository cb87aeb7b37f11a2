"""Write the question about an episode that a judge gets."""

from pastchats_memory.model.episodes import Sheet
from pastchats_memory.text.data_file import read_text
from pastchats_memory.text.display import one_line, quote
from pastchats_memory.text.recall_block import JUDGE_MARK


def write_question(sheet: Sheet) -> str:
    """Return the rules and the quoted episode, without paths and names of projects.

    The first line marks the session of a judge, which is never indexed.
    """
    texts = [
        ("Request:", sheet.asked),
        ("Answer:", sheet.answered),
        ("Commands and files:", "\n".join(map(one_line, sheet.done))),
        *(("Result:", text) for text in sheet.results),
        ("Next message of the user:", sheet.said_next or "(none)"),
    ]
    quoted = "\n".join(f"{heading}\n{quote(text)}" for heading, text in texts if text.strip())
    return f"{JUDGE_MARK}\n{read_text(__file__, 'judge_rules.txt')}\n{quoted}\n"
