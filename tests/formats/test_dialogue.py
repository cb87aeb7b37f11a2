import pytest
from golden import FIXTURES, expected, inputs, plain, refused, rows, shared, turns
from hypothesis import given, settings
from hypothesis import strategies as st

from pastchats_memory.formats.base.markdown import front_matter, in_code, in_details
from pastchats_memory.formats.base.source import NotText, SourceFile
from pastchats_memory.formats.markdown.dialogue import DIALOGUE
from pastchats_memory.formats.markdown.dialogue.markers import parse_marker
from pastchats_memory.formats.markdown.dialogue.parts import has_tool_lines
from pastchats_memory.formats.markdown.notes import NOTES
from pastchats_memory.formats.markdown.perplexity import PERPLEXITY
from pastchats_memory.formats.markdown.terminal import SCROLLBACK
from pastchats_memory.formats.registry import detect_format
from pastchats_memory.model import Task, Turn


@pytest.mark.parametrize("path", inputs("dialogue"), ids=lambda path: path.name)
def test_a_dialogue_goes_to_its_reader_and_gives_its_turns_with_their_lines(path):
    assert detect_format(SourceFile(path, named=True, notes=True)) is DIALOGUE
    found = rows(DIALOGUE, path)
    assert [plain(row) for row in found] == expected(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    for turn in (row for row in found if isinstance(row, Turn) and row.role != "tool"):  # a tool's is an excerpt
        place = "\n".join(lines[turn.line - 1 : turn.end_line])
        assert [line for line in turn.content.split("\n") if line not in place] == []


@pytest.mark.parametrize("path", refused("dialogue"), ids=lambda path: path.name)
def test_a_document_that_is_not_a_dialogue_goes_to_another_format_or_none(path):
    assert detect_format(SourceFile(path)) is not DIALOGUE


@pytest.mark.parametrize(
    ("line", "role", "syntax"),
    [
        ("## User", "user", "atx"),
        ("## user:", "user", "atx"),
        ("# You", "user", "atx"),
        ("## 🧑 You", "user", "atx"),
        ("## **Me**", "user", "atx"),
        ("### 12. assistant (2026-01-31T08:15:00Z)", "assistant", "atx"),
        ("## Turn 3: User", "user", "atx"),
        ("## Claude 3.5 (sonnet):", "assistant", "atx"),
        ("## GPT-4o", "assistant", "atx"),
        ("###### ChatGPT said:", "assistant", "atx"),
        ("## Prompt:", "user", "atx"),
        ("## Assistant — 2026-01-31 10:00", "assistant", "atx"),
        ("#### You: [10:00]", "user", "atx"),
        ("## You asked:", "user", "atx"),
        ("## Assistant Response", "assistant", "atx"),
        ("### Claude Sonnet 4", "assistant", "atx"),
        ("## [USER]", "user", "atx"),
        ("- **User**: hello", "user", "list"),
        ("ASSISTANT: hello", "assistant", "plain"),
        ("**User:** hello", "user", "bold"),
        ("**You**: hello", "user", "bold"),
        ("**ChatGPT**", "assistant", "bold"),
        ("__Human__", "user", "bold"),
        ("<h6 class='x'>You said:</h6>", "user", "html"),
        ("> [!nexus_agent]", "assistant", "callout"),
        ("> [!QUESTION]- What?", "user", "callout"),
        ("Human: hello", "user", "plain"),
        ("assistant:", "assistant", "plain"),
        ("## 用户：", "user", "atx"),
        ("## Người dùng", "user", "atx"),
        ("## Nguoi dung", "user", "atx"),
        ("## Trợ lý", "assistant", "atx"),
        ("## Użytkownik", "user", "atx"),
        ("### Користувач", "user", "atx"),
        ("**Kullanıcı:** merhaba", "user", "bold"),
        ("## المستخدم", "user", "atx"),
        ("### Пользователь", "user", "atx"),
        ("##### Du hast gesagt:", "user", "atx"),
        ("### 17:35:37 - USER", "user", "atx"),
        ("### [2026-01-31 10:00] Claude", "assistant", "atx"),
    ],
)
def test_a_role_line_is_known_in_any_spelling(line, role, syntax):
    found = parse_marker([line], 0)
    assert found is not None
    assert (found.role, found.syntax) == (role, syntax)


@pytest.mark.parametrize(
    "line",
    [
        "## User Guide", "## User - Advanced", "## Assistant: how it works", "## Users", "## Your data", "## Method",
        "#User", "## ", "**User** is a table", "**Username:** ada", "> [!NOTE] User", "Username: ada",
        "User:name", "## Model Settings", "## Code", "## Agent pro and con", "- **User** table", "## A user (rarely) says", "",
    ],
)  # fmt: skip
def test_a_line_that_only_mentions_a_role_is_no_parse_marker(line):
    assert parse_marker([line], 0) is None


@pytest.mark.parametrize(
    "text",
    ["#" * 100_000, "**" * 100_000, "> [!" * 50_000, "## User" + " —" * 50_000, "<h1" * 50_000, "## " + "(" * 100_000],
)
def test_a_long_hostile_line_marks_no_speaker(text):
    assert parse_marker([text], 0) is None


def test_fences_of_any_length_are_paired():
    lines = ["`" * (3 + number % 9) for number in range(100_000)]
    assert len(in_code(lines)) == 100_000
    assert in_code(["```", "x", "~~~", "```", "y"]) == [True, True, True, True, False]
    assert in_code(["````", "```", "````", "```py"]) == [True, True, True, False]


def test_front_matter_is_text_and_nothing_in_it_is_run():
    found = front_matter(
        ["---", "a: 1 # one", "b: 'x: y'", 'c: [p, "q"]', "d:", "- r", "e: !!python/object:x", "---", "rest"]
    )
    assert found.fields == {"a": "1", "b": "x: y", "c": ["p", "q"], "d": ["r"], "e": "!!python/object:x"}
    assert found.lines == 8
    assert front_matter(["---", "no key", "---"]).lines == 0
    assert front_matter(["---", "a: 1"]).lines == 0


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_markdown_file_changed_anywhere_is_read_without_an_exception(data, tmp_path_factory):
    path = data.draw(st.sampled_from(inputs("dialogue") + inputs("notes")))
    raw = path.read_bytes()
    start, end = sorted((data.draw(st.integers(0, len(raw))), data.draw(st.integers(0, len(raw)))))
    put = data.draw(
        st.sampled_from([b"", b"```\n", b"---\n", b"\xff\xfe", b"<details>", b"\0", b"## User\n", raw[start:end] * 2])
    )
    target = tmp_path_factory.mktemp("changed") / path.name
    target.write_bytes(raw[:start] + put + raw[end:])
    source = SourceFile(target, named=True)
    try:
        claims = [reader for reader in (DIALOGUE, NOTES) if reader.detect(source)]
    except NotText:
        claims = []
    for reader in claims:
        for row in reader.read(source):
            if isinstance(row, Task):
                continue
            assert row.content.strip()
            assert 1 <= row.line <= row.end_line


@pytest.mark.parametrize(
    ("above", "beside", "moments"),
    [
        ("", "", ["2026-07-04T04:00:00.000Z"] * 2),
        ("---\ndate: 2026-07-03\n---\n", "", ["2026-07-03T04:00:00.000Z"] * 2),
        ("Started 2026-07-03 08:00\n\n", "", ["2026-07-03T12:00:00.000Z"] * 2),
        ("_Started 2026-07-03 08:00 UTC_\n\n", "", ["2026-07-03T08:00:00.000Z"] * 2),
        ("", " — 2026-07-03 08:00", ["2026-07-03T12:00:00.000Z", "2026-07-03T12:00:00.000Z"]),
        ("", " (2026-07-03 08:00:10 UTC)", ["2026-07-03T08:00:10.000Z", "2026-07-03T08:00:00.000Z"]),
    ],
)
def test_a_time_without_a_zone_is_that_of_the_clock_on_the_wall(tmp_path, in_zone, above, beside, moments):
    in_zone("America/New_York")
    path = tmp_path / "2026-07-04-port.md"
    path.write_text(f"{above}## User{beside}\n\nWhich port?\n\n## Assistant\n\n8081.\n", encoding="utf-8")
    assert [turn.timestamp for turn in turns(DIALOGUE, path)] == moments


def test_real_markdown_of_other_formats_goes_to_them():
    folder = shared("transcripts")
    for part in ("aider", "specstory", "backlog-md", "markdown-export"):
        for path in (folder / part).glob("*.md"):
            assert detect_format(SourceFile(path)) is not DIALOGUE, path


def test_a_real_export_with_numbered_headings_is_read():
    (path,) = shared("transcripts", "opencode").glob("*.md")
    assert [turn.role for turn in turns(DIALOGUE, path)] == ["user", "assistant"]


def test_comments_in_front_matter_say_nothing_and_folds_in_folds_are_one():
    lines = ["---", "title: Kiln", "# a comment", "  of two lines", "---"]
    assert front_matter(lines).fields == {"title": "Kiln\n  of two lines"}
    folds = ["<details>", "<details>", "</details>", "</details>", "open"]
    assert in_details(folds, [False] * 5) == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (SCROLLBACK, "# Kiln\n\n> A controller.\n\n✦ fast\n\n✦ small\n\n## Use\n\n## Terms\n"),
        (SCROLLBACK, "> A controller.\n\n✦ fast\n✦ small\n✦ free\n"),
        (SCROLLBACK, "✦ It is open.\n\n✦ It is closed.\n\n> Thanks\n"),
        (SCROLLBACK, "> Is it open?\n\n⏺ Yes.\n"),
        (PERPLEXITY, ""),
        (PERPLEXITY, "\n\n"),
        (PERPLEXITY, "# Kiln\n\nIt fires.[^1_1]\n\n[^1_1]: https://kiln.example\n"),
        (PERPLEXITY, '# Kiln\n\nIt fires.\n\n<div align="center">⁂</div>\n\nThe end.\n'),
        (PERPLEXITY, 'Kiln.[^1_1]\n\n<div align="center">⁂</div>\n'),
        (PERPLEXITY, "# Kiln\n\n⁂\n\nIt fires.[^1_1]\n"),
        (PERPLEXITY, '<img src="https://kiln.example/logo.png" width="120"/>\n\n# Kiln\n\nIt fires.\n'),
    ],
)
def test_a_document_with_signs_of_a_copied_screen_or_thread_is_neither(tmp_path, reader, text):
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    assert not reader.detect(SourceFile(path))


def test_signs_of_a_screen_in_an_aider_chat_are_the_chats(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(
        "# aider chat started at 2026-05-04 10:00:00\n\n> Is it open?\n\n✦ Yes.\n\n✦ Wide.\n", encoding="utf-8"
    )
    assert detect_format(SourceFile(path)).name == "aider"


@pytest.mark.parametrize(
    "action", ["Ran", "Edited", "Added", "Deleted", "Explored", "Searched", "Called", "Waited", "Viewed", "Updated"]
)
def test_actions_of_codex_are_no_message(tmp_path, action):
    path = tmp_path / "screen.txt"
    path.write_text(f"› Mend it.\n\n• {action} kiln.py\n  └ done\n\n• It is mended.\n", encoding="utf-8")
    assert [turn.content for turn in turns(SCROLLBACK, path)] == ["Mend it.", "It is mended."]


@pytest.mark.parametrize(
    ("reader", "path"),
    [(reader, path) for reader in (SCROLLBACK, PERPLEXITY) for path in inputs(reader.name)],
    ids=lambda value: getattr(value, "FORMAT", None) or value.name,
)
def test_a_copy_without_roles_gives_its_messages(reader, path):
    assert detect_format(SourceFile(path)) is reader
    assert [plain(row) for row in turns(reader, path)] == expected(path)


@pytest.mark.parametrize(
    ("person", "answerer"),
    [
        ("## You", "## GitHub Copilot"),
        ("### User request", "### Codex"),
        ("## User's prompt", "## Claude's response"),
        ("### [1] User", "### [2] AI Assistant"),
        ("## Turn 1 (User)", "## Turn 1 (Assistant)"),
        ("## User", "## Assistant · claude-sonnet-4"),
        ("## Human", "## Cursor Agent"),
        ("👤 **User**", "🤖 **Gemini CLI**"),
        ("_**User (2026-06-09 06:10Z)**_", "_**Agent (model claude-opus-4-8)**_"),
        ("=== USER ===", "=== ASSISTANT ==="),
        ("[USER]", "[ASSISTANT]"),
        ("--- User ---", "--- GPT-5 Codex ---"),
    ],
)
def test_roles_are_known_in_many_spellings(tmp_path, person, answerer):
    path = tmp_path / "port.md"
    path.write_text(f"# Ports\n\n{person}\n\nWhich port?\n\n{answerer}\n\n8081.\n", encoding="utf-8")
    assert [(turn.role, turn.content) for turn in turns(DIALOGUE, path)] == [
        ("user", "Which port?"),
        ("assistant", "8081."),
    ]


@pytest.mark.parametrize(
    ("call", "given", "came"),
    [
        ("**Tool: bash**", "**Input:**", "**Output:**"),
        ("**Tool Call: bash**", "**Arguments:**", "**Tool Result:**"),
        ("**Tool Use:** `bash`", "Parameters", "### Result"),
        ("🔧 Using tool: bash", "Input:", "✓ Error"),
    ],
)
def test_calls_are_known_in_many_spellings(tmp_path, call, given, came):
    path = tmp_path / "kiln.md"
    block = f'{call}\n\n{given}\n```json\n{{"command": "make kiln"}}\n```\n\n{came}\n```\nhot\n```\n'
    path.write_text(f"## User\n\nFire it.\n\n## Assistant\n\nNow.\n\n{block}\n{block}\nIt is hot.\n", encoding="utf-8")
    messages = turns(DIALOGUE, path)
    assert [turn.content for turn in messages if turn.role != "tool"] == ["Fire it.", "Now.\n\nIt is hot."]
    assert messages[1].metadata["tools"] == ["bash make kiln"]


@pytest.mark.parametrize("line", ["- Tool: bash", "> Tool: bash", "# Tool: bash", "* Tool: bash", "Tool: bash"])
def test_a_list_of_tools_is_no_call(line):
    assert not has_tool_lines([line, line])


@pytest.mark.parametrize(
    "musing", ["> Kilns are hot.\n> Thought for 3s", "> Hm.\n> Worked for 1m", "> So.\n> Reasoned for 2s"]
)
def test_a_line_with_the_duration_of_thoughts_ends_them(tmp_path, musing):
    path = tmp_path / "kiln.md"
    path.write_text(f"## User\n\nHow hot?\n\n## Assistant\n\n{musing}\n\n1280 degrees.\n", encoding="utf-8")
    assert [turn.content for turn in turns(DIALOGUE, path)] == ["How hot?", "1280 degrees."]


def test_thoughts_that_have_titles_end_with_the_last_of_them(tmp_path):
    path = tmp_path / "kiln.md"
    thoughts = "**Weighing the Clay**\n\nIt is heavy.\n\n\n**Choosing the Heat**\n\nHot is best."
    path.write_text(
        f"## User\n\nHow hot?\n\n## Assistant\n\n_Thinking:_\n\n{thoughts}\n\n1280 degrees.\n\n**Slowly**, too.\n",
        encoding="utf-8",
    )
    assert [turn.content for turn in turns(DIALOGUE, path)] == ["How hot?", "1280 degrees.\n\n**Slowly**, too."]


@pytest.mark.parametrize(
    "words",
    [
        "**Tool: hammer**\nSize: 3",
        "So an export looks:\n\n```md\n**Tool: bash**\n\n**Input:**\n\n**Tool: read**\n```",
        "<details>\n<summary>The whole list</summary>\n\n1, 2, 3\n\n</details>",
        '{"content_type": "text", "parts": []}',
    ],
)
def test_words_that_look_like_an_exporters_notes_stay(tmp_path, words):
    path = tmp_path / "kiln.md"
    path.write_text(f"## User\n\n/review the kiln\n\n## Assistant\n\n{words}\n", encoding="utf-8")
    messages = [(turn.role, turn.kind, turn.content) for turn in turns(DIALOGUE, path)]
    assert messages == [("user", "command", "/review the kiln"), ("assistant", "answer", words)]


@pytest.mark.parametrize("nothing", ["No response requested.", "(no content)"])
def test_a_placeholder_is_no_text(tmp_path, nothing):
    path = tmp_path / "kiln.md"
    path.write_text(f"## User\n\nHow hot?\n\n## Assistant\n\n{nothing}\n", encoding="utf-8")
    assert [turn.content for turn in turns(DIALOGUE, path)] == ["How hot?"]


@pytest.mark.parametrize(
    ("asked", "answered"), [("[docs]", "[src]"), ("=== Users ===", "=== Agents ==="), ("**Q:** Why?", "**A:** So.")]
)
def test_other_lines_of_that_shape_say_nobody_s_role(tmp_path, asked, answered):
    path = tmp_path / "port.md"
    path.write_text(f"{asked}\n\nWhich port?\n\n{answered}\n\n8081.\n", encoding="utf-8")
    assert not DIALOGUE.detect(SourceFile(path))


def test_no_thread_is_looked_for_in_data():
    assert not PERPLEXITY.detect(SourceFile(FIXTURES / "export" / "export-q1-turns.jsonl"))


@pytest.mark.parametrize("text", ["", '<img src="https://r2cdn.perplexity.ai/logo.png" width="120"/>\n'])
def test_a_logo_alone_says_nothing(tmp_path, text):
    path = tmp_path / "a.md"
    path.write_text(text, encoding="utf-8")
    assert list(PERPLEXITY.read(SourceFile(path))) == []


def test_a_prompt_that_ends_with_a_fence_that_was_just_opened_is_read(tmp_path):
    path = tmp_path / "chat.md"
    path.write_text("### User Input\n\nMove it.\n\n```sh\n\n### Planner Response\n\nMoved.\n", encoding="utf-8")
    assert [turn.content for turn in turns(DIALOGUE, path)] == ["Move it.", "Moved."]


def test_a_title_like_an_accounts_name_leaves_the_dialogue_below_it_as_it_is(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(
        "# Notes: labels\n\n**User:** Why twice?\n\n**GitHub Copilot:** The loop runs twice.\n", encoding="utf-8"
    )
    assert [(turn.role, turn.content) for turn in turns(DIALOGUE, path)] == [
        ("user", "Why twice?"),
        ("assistant", "The loop runs twice."),
    ]


def test_a_title_above_a_copied_chat_is_nobodys_name(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("# Labels\n\nada: Why twice?\n\nGitHub Copilot: The loop runs twice.\n", encoding="utf-8")
    assert [turn.role for turn in turns(DIALOGUE, path)] == ["user", "assistant"]


def test_a_document_with_a_colon_in_its_title_is_no_chat_of_copilots(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(
        "# Labels: how they are printed\n\n**Copilot** helps.\n\n# Pages: how many\n\nTwo.\n", encoding="utf-8"
    )
    assert not DIALOGUE.detect(SourceFile(path))


MARKS = {
    "comments with a key": ("<!-- role:user -->\n\n{}\n", "<!-- role:assistant -->\n\n{}\n"),
    "comments with a prefix": ("<!-- :role: user -->\n{}\n", "<!-- llm-role: assistant, action: ask -->\n{}\n"),
    "comments": ("<!-- user -->\n{}\n", "<!-- assistant -->\n{}\n"),
    "comments with attributes": ('<!-- message role="user" id="1" -->\n{}\n', '<!-- message role="assistant" id="2" -->\n{}\n'),
    "comments around": ("<!-- begin:user -->\n{}\n<!-- end:user -->\n", "<!-- begin:assistant -->\n{}\n<!-- end:assistant -->\n"),
    "quoted speakers": ("> **User:** {}\n", "> **Assistant:** {}\n"),
    "quoted speakers above": ("> **User:**\n> {}\n", "> **Assistant:**\n> {}\n"),
    "tags": ("<user>\n{}\n</user>\n", "<assistant>\n{}\n</assistant>\n"),
    "ChatML": ("<|im_start|>user\n{}<|im_end|>", "<|im_start|>assistant\n{}<|im_end|>"),
    "brackets": ("[USER]: {}\n", "[ASSISTANT]: {}\n"),
    "code": ("`user`: {}\n", "`assistant`: {}\n"),
    "italics": ("*User:* {}\n", "*Assistant:* {}\n"),
    "HTML bold": ("<b>User:</b> {}\n", "<strong>Assistant:</strong> {}\n"),
    "underlined headings": ("User\n----\n\n{}\n", "Assistant\n---------\n\n{}\n"),
    "pictures as headings": ("## 🧑\n\n{}\n", "## 🤖\n\n{}\n"),
    "pictures": ("👤 {}\n", "🤖 {}\n"),
    "numbered": ("1. **User:** {}", "2. **Assistant:** {}"),
    "rows of a table": ("| User | {} |", "| Assistant | {} |"),
    "a full-width colon": ("**用户：** {}\n", "**助手：** {}\n"),
    "German": ("## Nutzer\n\n{}\n", "## KI\n\n{}\n"),
}  # fmt: skip
MESSAGES = ("Which kiln is hot?", "The red one.", "Why?", "It is new.")


@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
def test_each_notation_of_speakers_makes_a_dialogue(tmp_path, marks):
    path = tmp_path / "talk.md"
    path.write_text("\n".join(marks[place % 2].format(words) for place, words in enumerate(MESSAGES)), encoding="utf-8")
    found = [(turn.role, turn.content) for turn in turns(detect_format(SourceFile(path)), path)]
    assert found == list(zip(["user", "assistant"] * 2, MESSAGES, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "<!-- toc -->\n- [Use](#use)\n<!-- tocstop -->\n\n# Use\n\nRun it.\n",
        "<!-- region:user -->\nSome words.\n<!-- endregion -->\n",
        "<!-- user: please fill in -->\n\n**Describe it**\n\nText.\n\n<!-- assistant -->\n",
        "> **Note:** This is new.\n\n> **Warning:** It may break.\n\nText.\n",
        "# Guide\n\n> **User:** who signs in.\n\n> **Assistant:** who helps.\n\n> **Admin:** who owns it.\n",
        "# How to prompt\n\nA chat:\n\n> **User:** Hi\n>\n> **Assistant:** Hello!\n\nNow write one.\n\n## More\n\nText.\n",
        "| Role | Rights |\n|---|---|\n| User | reads |\n| Assistant | writes |\n| Admin | deletes |\n",
        "# Features\n\n🤖 Automatic\n\n👤 Friendly\n\n🚀 Fast\n",
        "- **User:** gives the task.\n- **Assistant:** writes code.\n- **Reviewer:** reads it.\n",
        "[User]: https://example.org/user\n[Assistant]: https://example.org/assistant\n",
    ],
)
def test_a_document_that_names_roles_stays_a_note(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    assert detect_format(SourceFile(path)) is None


def test_results_below_several_calls_belong_to_them_in_order(tmp_path):
    path = tmp_path / "chat.md"
    path.write_text(
        "## User\n\nRun both checks.\n\n## Assistant\n\n"
        '**Tool: Bash**\n\nInput: {"command": "make lint"}\n\n**Tool: Bash**\n\nInput: {"command": "make test"}\n\n'
        "## User\n\n[Tool (Error)]\nThe linter stopped.\n\n[Tool (Error)]\nThe tests stopped.\n\n"
        "[Tool (Error)]\nNobody called this.\n\n## Assistant\n\nBoth fail.\n"
    )
    assert [turn.content for turn in turns(DIALOGUE, path) if turn.role == "tool"] == [
        "$ make lint\nThe linter stopped.",
        "$ make test\nThe tests stopped.",
        "tool\nNobody called this.",
    ]


ASKED = [("user", "How do I bake?"), ("assistant", "Slowly."), ("user", "And then?"), ("assistant", "Let it rest.")]


@pytest.mark.parametrize(
    "notation",
    [
        "> User: {0}\n\n> Assistant: {1}\n\n> User: {2}\n\n> Assistant: {3}\n",
        "> User:\n> {0}\n\n> Assistant:\n> {1}\n\n> User:\n> {2}\n\n> Assistant:\n> {3}\n",
        "- User: {0}\n- Assistant: {1}\n- User: {2}\n- Assistant: {3}\n",
        "* You:\n  {0}\n* Claude:\n  {1}\n* You:\n  {2}\n* Claude:\n  {3}\n",
        "1. User: {0}\n2. AI: {1}\n3. User: {2}\n4. AI: {3}\n",
        "**Q:** {0}\n\n**A:** {1}\n\n**Q:** {2}\n\n**A:** {3}\n",
        "**Q**: {0}\n\n**A**: {1}\n\n**Q**: {2}\n\n**A**: {3}\n",
        "Q: {0}\n\nA: {1}\n\nQ: {2}\n\nA: {3}\n",
        "用户：{0}\n\n助手：{1}\n\n用户：{2}\n\n助手：{3}\n",
        "Пользователь: {0}\n\nАссистент: {1}\n\nПользователь: {2}\n\nАссистент: {3}\n",
        "Usuario:\n{0}\n\nAsistente:\n{1}\n\nUsuario:\n{2}\n\nAsistente:\n{3}\n",
        "- Du: {0}\n- Mistral: {1}\n- Du: {2}\n- Mistral: {3}\n",
        "User: {0}\nAssistant: {1}\nUser: {2}\nAssistant: {3}\n",
        "> 👤 User: {0}\n\n> 🤖 Assistant: {1}\n\n> 👤 User: {2}\n\n> 🤖 Assistant: {3}\n",
        "+ User: {0}\n+ Assistant: {1}\n+ User: {2}\n+ Assistant: {3}\n",
        "### Q\n{0}\n### A\n{1}\n### Q\n{2}\n### A\n{3}\n",
        "<details>\n<summary>User</summary>\n\n{0}\n\n</details>\n\n<details open>\n<summary>\n\n**Assistant**\n\n</summary>\n\n{1}\n\n</details>\n\n<details><summary>User</summary>\n{2}\n</details>\n<details open><summary><b>🤖 Assistant</b></summary>{3}</details>\n",
    ],
    ids=range(17),
)
def test_speakers_are_found_in_quotations_lists_letters_languages_and_folds(notation, tmp_path):
    path = tmp_path / "chat.md"
    path.write_text(notation.format(*(text for _, text in ASKED)), encoding="utf-8")
    assert detect_format(SourceFile(path)) is DIALOGUE
    assert [(turn.role, turn.content) for turn in turns(DIALOGUE, path)] == ASKED


def test_items_of_a_list_in_a_message_keep_their_lines_and_lose_their_indentation(tmp_path):
    path = tmp_path / "chat.md"
    path.write_text("- User: Why?\n- Assistant:\n  First this.\n    Then that.\n- User: Thanks.\n- Assistant: Sure.\n")
    assert [turn.content for turn in turns(DIALOGUE, path)][1] == "First this.\n  Then that."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "roles.md",
            "- User: the person\n- Assistant: the model\n- User: again\n- Admin: the owner\n- Assistant: again\n",
        ),
        (
            "terms.md",
            "# Terms\n\n- User: types\n- Assistant: answers\n- User: asks\n- Assistant: ends\n\n# Use\n\nRead on.\n",
        ),
        ("faq.md", "**Q:** How?\n\n**A:** So.\n\n**Q:** Why?\n\n**A:** Since.\n"),
        ("one.md", "**Q:** How?\n\n**A:** So.\n"),
        ("fold.md", "<details>\n<summary>User</summary>\n\nNames of users.\n\n</details>\n"),
        (
            "quoted.md",
            "He wrote:\n\n> User: hi\n\nI answered:\n\n> Assistant: hello\n\nThen he wrote:\n\n> User: bye\n\nSo I wrote:\n\n> Assistant: bye\n",
        ),
    ],
)
def test_lists_of_terms_and_frequent_questions_are_no_dialogue(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    assert detect_format(SourceFile(path)) is not DIALOGUE


def test_a_fold_within_another_one_names_no_speaker(tmp_path):
    path = tmp_path / "chat.md"
    path.write_text(
        "<details>\n<summary>User</summary>\n\nLook:\n\n<details>\n<summary>Assistant</summary>\nNo.\n</details>\n\n</details>\n\n"
        "<details>\n<summary>Assistant</summary>\n\nSeen.\n\n</details>\n"
    )
    found = turns(DIALOGUE, path)
    assert [turn.role for turn in found] == ["user", "assistant"]
    assert "No." in found[0].content
