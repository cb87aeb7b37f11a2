"""Run the program, as `pastchats-memory` and as `python -m pastchats_memory`."""

import gc
import os
import signal
import sys
from contextlib import suppress

EXPLAINED, INTERRUPTED = 2, 130
LEAST_MEMORY = {"RLIMIT_AS": ("v", 640), "RLIMIT_DATA": ("d", 256)}
"""By limit its letter in `ulimit`, and the megabytes with which a model loads on four threads."""


def main() -> None:
    """Answer an agent's event or a command line, and end the process.

    A hook runs at every prompt, and needs none of the command line's imports. A query first begins to load the model, which
    takes longest, and then imports the command line.
    """
    _normalise_process()
    if sys.argv[1:2] == ["hook"]:
        gc.disable()  # the process ends within a second, and all its memory with it
        from pastchats_memory import hooks

        hooks.main(sys.argv[2:])
    _refuse_little_memory()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell has us ignore it
        signal.signal(signal.SIGINT, _interrupted)
    if sys.argv[1:2] in (["recall"], ["search"]):
        gc.disable()  # the process ends within a second, and all its memory with it
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy would start threads that nothing here has work for
        if {"keyword", "--help", "-h"}.isdisjoint(sys.argv):
            with suppress(ImportError):  # the command explains which library cannot be imported
                from pastchats_memory.embed.packaged import load_in_background

                load_in_background()
    from pastchats_memory import __version__

    if sys.argv[1:] == ["--version"] and sys.stdout is not None:  # click alone would take most of the time
        with suppress(OSError):  # click explains it
            sys.stdout.write(f"pastchats-memory, version {__version__}\n")
            sys.stdout.flush()
            return
    from pastchats_memory import cli

    cli.main()


def _normalise_process() -> None:
    """Undo what a parent may have left behind, so that files, children and time limits work.

    An interrupt or a hang-up that the parent ignores stays ignored: shells and `nohup` mean that.
    """
    os.umask(0o077)  # whatever is written here is the person's alone, and the person may read it
    for stream in range(3):  # else the next file that is opened would be taken for input or output
        try:
            os.fstat(stream)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGCHLD, signal.SIGALRM):  # ignored, children vanish and limits never end a process
            signal.signal(number, signal.SIG_DFL)


def _refuse_little_memory() -> None:
    """End the process if a limit leaves too little memory: the libraries of the model would abort it without a reason."""
    if sys.platform == "win32":
        return
    try:
        import resource
    except ModuleNotFoundError:  # a Python that was built without it
        return

    for name, (letter, least) in LEAST_MEMORY.items():
        limit = resource.getrlimit(getattr(resource, name))[0]
        if limit != resource.RLIM_INFINITY and limit < least << 20:
            sys.stderr.write(
                f"Error: a process may use only {limit >> 20} MB of memory here, and this program needs {least} MB\n"
                f"Raise the limit with `ulimit -{letter} unlimited`, and run the same command again.\n"
            )
            raise SystemExit(EXPLAINED)


def _interrupted(*_: object) -> None:
    """End the process at once: an exception during the imports of two threads can deadlock them.

    `index`, which has to finish a batch, restores KeyboardInterrupt once it is under way.
    """
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
