# SPDX-License-Identifier: Apache-2.0
"""libtidegate through its public header, and the program, as two ways to do the same."""
import ctypes
import json
import os
import subprocess


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("spec", ctypes.c_char_p), ("warehouse", ctypes.c_char_p),
                ("now", ctypes.c_char_p), ("timezone", ctypes.c_char_p)]


class Override(ctypes.Structure):
    _fields_ = [("flow_name", ctypes.c_char_p), ("predicate_override", ctypes.c_char_p)]


class Request(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dry_run", ctypes.c_int), ("refresh", ctypes.POINTER(ctypes.c_char_p)),
                ("refresh_count", ctypes.c_size_t), ("on_event", ctypes.c_void_p), ("context", ctypes.c_void_p),
                ("overrides", ctypes.POINTER(Override)), ("override_count", ctypes.c_size_t),
                ("full_refresh", ctypes.POINTER(ctypes.c_char_p)), ("full_refresh_count", ctypes.c_size_t),
                ("full_refresh_all", ctypes.c_int), ("allow_reset", ctypes.c_void_p), ("allow_reset_count", ctypes.c_size_t),
                ("allow_shrink", ctypes.c_int), ("allow_clock_back", ctypes.c_int)]


class Failed(Exception):
    """An update or a statement that did not succeed; its text is for people."""

    def __init__(self, status, cls, text):
        super().__init__(f"status {status}, {cls}: {text}")
        self.status, self.cls = status, cls


def _declare(library):
    for name, result in (("tg_session_open", ctypes.c_int), ("tg_session_update", ctypes.c_int),
                         ("tg_session_execute", ctypes.c_int), ("tg_session_close", None), ("tg_rows_close", None),
                         ("tg_failure_free", None), ("tg_failure_class", ctypes.c_char_p),
                         ("tg_failure_text", ctypes.c_char_p)):
        getattr(library, name).restype = result
    return library


class Session:
    def __init__(self, library, spec, now, zone):
        self.library, self.uses = library, 0
        self.handle = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), spec.encode(), None, now.encode(), zone.encode())
        self.call(library.tg_session_open, ctypes.byref(options), ctypes.byref(self.handle))

    def call(self, function, *arguments):
        failure = ctypes.c_void_p()
        status = function(*arguments, ctypes.byref(failure))
        if status != 0:
            cls = self.library.tg_failure_class(failure).decode() if failure else ""
            text = self.library.tg_failure_text(failure).decode() if failure else ""
            self.library.tg_failure_free(failure)
            raise Failed(status, cls, text)

    def update(self, flow, predicate, is_full=False):
        """The summary. predicate: of this update only, or None."""
        overrides = (Override * 1)(Override(flow.encode(), (predicate or "").encode()))
        tables = (ctypes.c_char_p * 1)(flow.encode())
        request = Request(ctypes.sizeof(Request), 0, None, 0, None, None, overrides, int(predicate is not None),
                          tables, int(is_full), allow_clock_back=1)  # clocks wander in both directions
        summary = ctypes.c_char_p()
        self.uses += 1
        self.call(self.library.tg_session_update, self.handle, ctypes.byref(request), ctypes.byref(summary))
        return json.loads(summary.value)

    def execute(self, sql):
        rows = ctypes.c_void_p()
        self.uses += 1
        self.call(self.library.tg_session_execute, self.handle, sql.encode(), ctypes.byref(rows))
        self.library.tg_rows_close(rows)

    def close(self):
        self.library.tg_session_close(self.handle)


class Tidegate:
    """Sessions by clock and zone: opening an engine costs more than a step."""

    KEPT, USES = 10, 400  # a session's memory grows with its updates

    def __init__(self, folder):
        self.folder, self.spec = folder, f"{folder}/spark-pipeline.yml"
        self.library = _declare(ctypes.CDLL(os.environ["TIDEGATE_LIB"]))
        self.sessions = {}

    def session(self, now, zone, slot=0):
        session = self.sessions.pop((now, zone, slot), None)
        if session and session.uses > self.USES:
            session.close()
            session = None
        if not session:
            session = Session(self.library, self.spec, now, zone)
        self.sessions[(now, zone, slot)] = session  # the newest is last
        while len(self.sessions) > self.KEPT:
            self.sessions.pop(next(iter(self.sessions))).close()
        return session

    def close(self):
        for session in self.sessions.values():
            session.close()
        self.sessions = {}

    def command(self, verb, now, zone, flow, predicate):
        """[program, "run", ...]"""
        extra = ["--replace-where", f"{flow}={predicate}"] if predicate is not None else []
        return [os.environ["TIDEGATE_BIN"], verb, "--now", now, "--timezone", zone, "--json", "--allow-clock-back", *extra]

    def run(self, verb, now, zone, flow, predicate):
        """The summary of the program."""
        done = subprocess.run(self.command(verb, now, zone, flow, predicate), cwd=self.folder, text=True,
                              capture_output=True, check=False, timeout=120)
        if done.returncode != 0:
            raise Failed(done.returncode, "", done.stdout + done.stderr)
        return json.loads(done.stdout.splitlines()[-1])
