"""The output of tests, builds, linters and type checks is read for every runner."""

from __future__ import annotations

import pytest
from one_episode import verdict

from pastchats_memory.episodes.outcome import EpisodeTurn
from pastchats_memory.episodes.outcome.checks import read_check_output
from pastchats_memory.text.shell import classify_check

GREEN = [
    "============================== 12 passed in 0.81s ==============================",
    "======= 12 passed, 1 skipped, 2 xfailed in 3.10s =======",
    "12 passed, 3 warnings in 0.12s",
    "Ran 3 tests in 0.001s\n\nOK",
    "Ran 3 tests in 0.001s\n\nOK (skipped=1)",
    "Test Suites: 4 passed, 4 total\nTests:       31 passed, 31 total\nSnapshots:   0 total",
    " Test Files  2 passed (2)\n      Tests  7 passed (7)\n   Duration  1.20s",
    "  12 passing (30ms)\n  1 pending",
    "# tests 12\n# pass 12\n# fail 0",
    " 12 pass\n 0 fail\nRan 12 tests across 2 files.",
    "ok | 12 passed | 0 failed (30ms)",
    "  9 passed (8.2s)",
    "ok  \tshop/cart\t0.012s",
    "ok  \tshop/cart\t(cached)\n?   \tshop/cmd\t[no test files]",
    "test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured",
    "     Summary [   0.2s] 12 tests run: 12 passed, 0 skipped",
    "Tests run: 12, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
    "BUILD SUCCESSFUL in 3s\n7 actionable tasks: 7 executed",
    "12 examples, 0 failures",
    "12 runs, 30 assertions, 0 failures, 0 errors, 0 skips",
    "OK (12 tests, 30 assertions)",
    "Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12",
    "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
    "100% tests passed, 0 tests failed out of 12",
    "Executed 12 tests, with 0 failures (0 unexpected) in 0.1 seconds",
    "** TEST SUCCEEDED **",
    "Finished in 0.03 seconds\n12 tests, 0 failures",
    "All tests successful.\nResult: PASS",
    "All checks passed!",
    "Found 3 errors (3 fixed, 0 remaining).",
    "Success: no issues found in 20 source files",
    "0 errors, 0 warnings, 0 informations",
    "✖ 1 problem (0 errors, 1 warning)",
    "Checked 85 files in 137ms. No fixes applied.",
    "All matched files use Prettier code style!",
    "12 files inspected, no offenses detected",
    "0 issues.",
    "12 files left unchanged.",
    "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.5s",
    "webpack 5.9 compiled successfully in 320 ms",
    "✓ built in 1.21s",
    "tsc exit=0",
    "Traceback (most recent call last):\nValueError: expected by the test\n12 passed in 0.81s",
    "Success! The configuration is valid.",
    "#12 naming to docker.io/library/app done\n#12 DONE 0.3s",
    "✔ Test run with 12 tests in 3 suites passed after 0.004 seconds.",
    "//pkg:cart_test PASSED in 0.1s\nExecuted 1 out of 1 test: 1 test passes.",
    "-- Generating done (0.0s)\n-- Build files have been written to: /w/build",
    "[ 50%] Building CXX object main.o\n[100%] Built target app",
    "Test summary: total: 12, failed: 0, succeeded: 12, skipped: 0, duration: 1.0s",
    " Tasks:    3 successful, 3 total\nCached:    0 cached, 3 total",
    " NX   Successfully ran target build for project web",
    "[==========] 12 tests from 3 test suites ran. (1 ms total)\n[  PASSED  ] 12 tests.",
    "[ FAIL 0 | WARN 0 | SKIP 0 | PASS 12 ]",
    "12 scenarios passed, 0 failed, 0 skipped",
    "ruff.....................Passed\nmypy.....................Passed",
    "PASS src/app.test.tsx\n  ✓ renders (20 ms)",
    "12/12 tests passed",
]

RED = [
    "========================= 1 failed, 11 passed in 0.90s =========================",
    "=========================== 1 error in 0.12s ===========================",
    "Ran 3 tests in 0.001s\n\nFAILED (failures=1)",
    "Tests:       2 failed, 5 passed, 7 total",
    " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 6 passed (7)",
    "  12 passing (30ms)\n  1 failing\n\n  1) cart adds",
    "# pass 11\n# fail 1",
    " 11 pass\n 1 fail",
    "FAILED | 11 passed | 1 failed (30ms)",
    "  1 failed\n    [chromium] > cart.spec.ts\n  8 passed (8.2s)",
    "--- FAIL: TestTotal (0.00s)\nFAIL\nFAIL\tshop/cart\t0.010s",
    "shop/cart/cart.go:9:2: undefined: total\nFAIL\tshop/cart [build failed]",
    "test result: FAILED. 8 passed; 1 failed; 0 ignored",
    "error[E0382]: borrow of moved value: `cart`",
    "error: could not compile `shop` (lib) due to 1 previous error",
    "Tests run: 12, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD FAILURE",
    "12 tests completed, 1 failed\n\nBUILD FAILED in 3s",
    "12 examples, 1 failure",
    "12 runs, 30 assertions, 1 failures, 0 errors, 0 skips",
    "FAILURES!\nTests: 12, Assertions: 30, Failures: 1.",
    "Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12",
    "Build FAILED.\n    1 Error(s)",
    "92% tests passed, 1 tests failed out of 12",
    "Executed 12 tests, with 1 failure (0 unexpected) in 0.1 seconds",
    "Some tests failed.",
    "not ok 3 - adds",
    "Result: FAIL",
    "src/a.ts(3,1): error TS2322: Type 'string' is not assignable",
    "Found 3 errors in 2 files.",
    "Found 3 errors in 1 file (checked 20 source files)",
    "3 errors, 0 warnings, 0 informations",
    "✖ 3 problems (2 errors, 1 warning)",
    "Found 4 errors.",
    "app.py:1:1: F401 'os' imported but unused",
    "3 issues:\n* staticcheck: 3",
    "12 files inspected, 3 offenses detected",
    "Code style issues found in 2 files. Run Prettier to fix.",
    "2 files would be reformatted, 10 files would be left unchanged.",
    "Failed to compile.\n\n./app/page.tsx",
    "make: *** [Makefile:9: all] Error 2",
    "ninja: build stopped: subcommand failed.",
    'npm error Missing script: "build"',
    "cart.c:3:1: error: expected ';' before 'return'",
    "12 passed in 0.81s\nmake: *** [test] Error 1",
    "Process completed with exit code 1.",
    "sh: pytest: command not found",
    "//pkg:cart_test FAILED in 0.3s\nExecuted 1 out of 1 test: 1 fails locally.",
    "CMake Error at CMakeLists.txt:3 (find_package):",
    '✘ [ERROR] Could not resolve "react"',
    " NX   Ran target test for project web (2s)\n    ✖  1/1 failed",
    "[  FAILED  ] 1 test, listed below:",
    "[ FAIL 1 | WARN 0 | SKIP 0 | PASS 11 ]",
    "1 chart(s) linted, 1 chart(s) failed",
    "collected 0 items / 1 error",
    "Type error: Property 'x' does not exist on type 'Y'.",
    "./a.go:3:2: undefined: x",
    "thread 'main' panicked at src/main.rs:3:5:",
    "[ERROR] COMPILATION ERROR :",
    "e: file:///w/A.kt:3:5 Unresolved reference: x",
    "11/12 tests passed",
    "Segmentation fault (core dumped)",
    "ld: symbol(s) not found for architecture arm64",
]  # fmt: skip


@pytest.mark.parametrize("output", GREEN)
def test_a_passing_check_is_recognised(output: str) -> None:
    reported = read_check_output(output)
    assert reported is not None
    assert reported[0], reported


@pytest.mark.parametrize("output", RED)
def test_red_is_read_as_red(output: str) -> None:
    reported = read_check_output(output)
    assert reported is not None
    assert not reported[0], reported


@pytest.mark.parametrize(
    "output",
    [
        "mvn: The term 'mvn' is not recognized as a name of a cmdlet, function, script file, or executable program.",
        "'mvn' is not recognized as an internal or external command,\noperable program or batch file.",
        'mvn : Die Benennung "mvn" wurde nicht als Name eines Cmdlet, einer Funktion oder eines Programms erkannt.',
        "El término 'mvn' no se reconoce como nombre de un cmdlet",
        "Le terme «mvn» n'est pas reconnu comme nom d'applet de commande",
        'Der Befehl "mvn" ist entweder falsch geschrieben oder konnte nicht gefunden werden.',
        "O termo 'mvn' não é reconhecido como nome de cmdlet",
        "Termine 'mvn' non riconosciuto come nome di cmdlet",
        'Имя "mvn" не распознано как имя командлета',
        '"mvn" не является внутренней или внешней командой',
        "'mvn' 不是内部或外部命令，也不是可运行的程序",
        "用語 'mvn' は、コマンドレットの名前として認識されません。",
        "无法将“mvn”项识别为 cmdlet、函数、脚本文件或可运行程序的名称。",
        "+ FullyQualifiedErrorId : CommandNotFoundException",
    ],
)
@pytest.mark.parametrize("kind", ["result", "error"])
def test_a_missing_program_is_no_check(kind: str, output: str) -> None:
    missing = EpisodeTurn("tool", kind, f"$ mvn test\n{output}")
    shown = EpisodeTurn("assistant", "answer", "That is all there is to say.")
    assert verdict(EpisodeTurn("assistant", "answer", "I run the tests."), missing, shown) == "unknown"


@pytest.mark.parametrize("output", ["", "src/cart.py\nsrc/shop.py", "no tests ran in 0.01s", "0 failed"])
def test_undecided_output_has_no_result(output: str) -> None:
    assert read_check_output(output) is None


@pytest.mark.parametrize(
    ("commands", "family"),
    [
        (["pytest -q tests", "python3 -m pytest", "python -m unittest discover", "uv run pytest", ".venv/bin/pytest"], "test"),
        (["npm run test:unit -- --watch=false", "pnpm test", "CI=1 npx vitest run", "cd web && npm t", "node --test"], "test"),
        (["go test ./...", "timeout 60 cargo test", "cargo nextest run", "./gradlew :app:test", "mvn -q verify"], "test"),
        (["make test", "bundle exec rspec", "php artisan test", "python manage.py test", "swift test"], "test"),
        (["docker compose exec api pytest -x", "docker run --rm app npm test", "ruff check . && pytest"], "test"),
        (["npx tsc --noEmit", "npm run lint", "yarn lint:fix", "cargo clippy", "go vet ./...", "ruff check ."], "lint"),
        (["uv run mypy .", "terraform validate", "flutter analyze", "aider --lint", "git add . && git commit -m x; go vet ./..."], "lint"),
        (["npm run build -- --prod", "cargo build --release", "make", "docker build .", "docker compose build"], "build"),
        (["cmake -B build && cmake --build build", "ng build", "pnpm --filter web build", "gradle assemble"], "build"),
        (["cat pytest.ini", "grep -rn pytest .", "ls node_modules/eslint", "echo make", "git commit -m test"], None),
        (["npm install", "npm run dev", "cargo add serde", "docker compose up -d", "python script.py", "go run ."], None),
        (["grep -n todo app.py", "ls latest", "git status", ""], None),
        (["make clean", "make -C web up", "mvn clean", "./gradlew clean", "make stop logs"], None),
        (["make clean all test", "make clean; make test", "bash -c 'npm test'", 'sh -ec "cd web; npm test"', 'make "test"'], "test"),
        (["make -j8", "make install", "mvn clean install", "make clean && make"], "build"),
    ],
)  # fmt: skip
def test_a_command_is_known_by_what_it_checks_and_naming_a_runner_is_not_running_it(
    commands: list[str], family: str | None
) -> None:
    for command in commands:
        assert classify_check(command) == family, command


def test_a_written_file_is_found_in_a_command_of_any_length() -> None:
    for piece in ("\n", "sh "):
        assert classify_check(f"cat <<a\n{piece * 300_000}") is None


def test_text_within_a_command_is_not_run() -> None:
    for command in (
        'git commit -m "Fix the login; pytest passes"',
        'git commit -m"Fix the login; make test"',
        "grep -rn 'cd web; npm test' docs",
        "git add . && git commit -am 'Fix the login (npm test)'",
        'git commit -m "$(cat <<\'EOF\'\nFix the "login"\n\nmake test passes\nEOF\n)"',
        'gh issue create --title "Login" --body "How to see it:\nmake test\n"',
        "cat > check.sh <<'EOF'\nset -e\npytest -q\nEOF",
        'echo "next; make test"',
    ):
        assert classify_check(command) is None, command
    for command in ("bash -lc 'cd web && npm test --silent'", "ssh ci <<'EOF'\npytest -q\nEOF", 'pytest -m "not slow"',
                    'git commit -m "Fix; mend" && pytest', "cat > a.py <<EOF\nx = 1\nEOF\npytest -q",
                    "grep -c x <<<text\npytest -q"):  # fmt: skip
        assert classify_check(command) == "test", command
