# SPDX-License-Identifier: Apache-2.0
"""Cancelling through the C interface: the running call of one session, and nothing else."""
import ctypes
import threading
import time

import pytest

CANCELLED = 130
TEN = "(VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10))"
LONG = "SELECT sum(" + " + ".join(f"t{i}.v" for i in range(11)) + ") FROM " + ", ".join(
    f"{TEN} AS t{i}(v)" for i in range(11))


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.tg_rows_next_json.restype = ctypes.c_char_p

    def open(self, warehouse):
        class Options(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_size_t), ("spec", ctypes.c_char_p), ("warehouse", ctypes.c_char_p),
                        ("now", ctypes.c_char_p), ("timezone", ctypes.c_char_p)]

        options = Options(ctypes.sizeof(Options), None, str(warehouse).encode(), None, None)
        session = ctypes.c_void_p()
        assert self.lib.tg_session_open(ctypes.byref(options), ctypes.byref(session), None) == 0
        return session

    def execute(self, session, sql):
        """The status, after the first row was asked for."""
        rows, status = ctypes.c_void_p(), ctypes.c_int()
        code = self.lib.tg_session_execute(session, sql.encode(), ctypes.byref(rows), None)
        if code == 0:
            self.lib.tg_rows_next_json(rows, ctypes.byref(status), None)
            self.lib.tg_rows_close(rows)
        return code or status.value


@pytest.fixture
def library(library_path):
    return Library(library_path)


def test_a_cancel_between_calls_and_sessions_touches_none(library, tmp_path):
    a, b = library.open(tmp_path), library.open(tmp_path)
    assert library.execute(a, "CREATE TABLE t AS SELECT 1 AS x") == 0
    library.lib.tg_session_cancel(a)
    assert library.execute(b, "INSERT INTO t SELECT 2") == 0
    assert library.execute(a, "SELECT * FROM t") == 0
    library.lib.tg_session_cancel(a)
    assert library.execute(a, "DELETE FROM t") == 0  # needs no query
    library.lib.tg_session_cancel(a)
    library.lib.tg_session_close(a)
    library.lib.tg_session_close(b)
    c = library.open(tmp_path)
    assert library.execute(c, "SELECT * FROM t") == 0
    library.lib.tg_session_close(c)


def test_the_running_call_ends_and_the_session_goes_on(library, tmp_path):
    a, b = library.open(tmp_path), library.open(tmp_path)
    status = []
    call = threading.Thread(target=lambda: status.append(library.execute(a, LONG)))
    call.start()
    time.sleep(0.3)
    library.lib.tg_session_cancel(b)
    time.sleep(0.2)
    assert call.is_alive()
    library.lib.tg_session_cancel(a)
    call.join(timeout=60)
    assert status == [CANCELLED]
    assert library.execute(a, "SELECT 1") == 0
    library.lib.tg_session_close(a)
    library.lib.tg_session_close(b)
