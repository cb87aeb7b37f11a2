"""Write `contracts/schemas/*.json` from the answers in `pastchats_memory.views.answers`."""

from __future__ import annotations

import json
from pathlib import Path

from pastchats_memory.views.answers.registry import ANSWERS
from pastchats_memory.views.json_schema import derive_schema

FOLDER = Path(__file__).resolve().parents[1] / "contracts" / "schemas"


def generate() -> dict[str, str]:
    """Return the text of every schema file by its name."""
    files = {}
    for name, view in ANSWERS.items():
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"https://pastchats-memory.invalid/schemas/{name}",
            **derive_schema(view),
        }
        files[f"{name.partition('/')[0]}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return files


def main() -> None:
    """Write the files whose content changes, and delete those of schemas that are gone."""
    files = generate()
    for path in FOLDER.glob("*.json"):
        if path.name not in files:
            path.unlink()
            print(f"deleted {path.name}")
    for name, text in files.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")


if __name__ == "__main__":
    main()
