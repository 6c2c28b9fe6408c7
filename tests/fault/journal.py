# SPDX-License-Identifier: Apache-2.0
"""tidegate under tests/fault/shim.c: the journal of its calls, and the disks that power losses leave.

The disk is stricter than any file system that we know: what a file holds is durable once the file was fsynced, a name
once the folder it stands in was; until then the old contents (none in a new file) and the old names may come back.
"""
import collections
import os
import pathlib
import re
import signal
import subprocess

SHIM = pathlib.Path(os.environ["TIDEGATE_BUILD"]) / "tests/fault_shim.so"
Call = collections.namedtuple("Call", "number name result inode detail path second")


def read_journal(path):
    calls = []
    for line in pathlib.Path(path).read_text().splitlines():
        number, name, result, inode, *rest = line.split("\t")
        calls.append(Call(int(number), name, result, int(inode), *rest))
    return calls


def kind(call):
    """The call and what it was for, such as "link commit"."""
    path = call.second if call.second != "-" else call.path
    name = path.rsplit("/", 1)[-1]
    for pattern, word in [
        (r"\.tmp-.*\.json", "lines of a checkpoint"), (r"\.tmp-.*\.parquet", "hidden checkpoint"), (r"\.tmp-.*", "hidden file"),
        (r"\d{20}\.json", "commit"), (r"\d{20}\.checkpoint\.parquet", "checkpoint"), (r"_last_checkpoint", "hint"),
        (r"_delta_log", "log folder"), (r"\.dropped-.*", "dropped log folder"), (r"part-.*\.parquet", "data file"),
        (r"\w+=.*", "partition folder"), (r".*\.jsonl", "event log"), (r"events|pipeline-storage", "storage folder"),
        (r"pipeline\.json", "identity"), (r"t|u", "table folder"), (r"main|default|warehouse", "folder above the table"), (r"\.", "folder above the table"),
    ]:
        if re.fullmatch(pattern, name):
            return f"{call.name} {word}"
    return f"{call.name} {name}"


class Traced:
    """One folder in which tidegate runs with the shim; the journals of its runs follow each other."""

    def __init__(self, folder, notes):
        self.folder = pathlib.Path(os.path.realpath(folder))
        self.notes = pathlib.Path(notes)
        self.shadow = self.notes / "shadow"
        self.shadow.mkdir(parents=True)
        self.log = self.notes / "journal"
        self.log.touch()

    def run(self, arguments, kill=0, after=False):
        """Ends well, or dies at the call that kill names. True: it died."""
        env = {**os.environ, "LD_PRELOAD": str(SHIM), "TG_SHIM_ROOT": str(self.folder), "TG_SHIM_LOG": str(self.log),
               "TG_SHIM_SHADOW": str(self.shadow), "TG_SHIM_KILL": str(kill)}
        if after:
            env["TG_SHIM_AFTER"] = "1"
        done = subprocess.run([os.environ["TIDEGATE_BIN"], *arguments], cwd=self.folder, env=env, capture_output=True,
                              text=True, timeout=120, check=False)
        if kill and done.returncode == -signal.SIGKILL:
            return True
        assert done.returncode == 0, f"tidegate {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return False

    def journal(self):
        return read_journal(self.log)


class Node:
    def __init__(self, is_folder, content=b"", names=None):
        self.is_folder = is_folder
        self.content = content  # of a file: what is durable
        self.names = dict(names or {})  # of a folder: as running programs see it
        self.durable = dict(names or {})


class Disk:
    def __init__(self, folder, shadow):
        self.nodes = {}
        self.shadow = pathlib.Path(shadow)
        self.root = self.read(pathlib.Path(folder))

    def read(self, path):
        if path.is_dir():
            node = Node(True, names={p.name: self.read(p) for p in path.iterdir()})
        else:
            node = Node(False, path.read_bytes())
        self.nodes[path.lstat().st_ino] = node
        return node

    def place(self, path):
        """The folder that a path stands in, and its name there."""
        *folders, name = path.split("/")
        node = self.root
        for folder in folders:
            node = node.names[folder]
        return node, name

    def apply(self, call):
        if call.result != "0":
            return
        if call.detail == "new":
            folder, name = self.place(call.path)
            folder.names[name] = self.nodes[call.inode] = Node(call.name == "mkdir")
        elif call.name in ("link", "rename"):
            if call.name == "rename":
                folder, name = self.place(call.path)
                del folder.names[name]
            folder, name = self.place(call.second)
            folder.names[name] = self.nodes[call.inode]
        elif call.name in ("unlink", "rmdir"):
            folder, name = self.place(call.path)
            del folder.names[name]
        elif call.name == "fsync":
            node = self.nodes[call.inode]
            if node.is_folder:
                node.durable = dict(node.names)
            else:
                node.content = (self.shadow / call.detail).read_bytes()

    def names(self):
        """What running programs see: path -> is it a folder?"""
        return {path: node.is_folder for path, node in walk(self.root, lambda folder: folder.names)}

    def survivor(self, choose):
        """path -> contents (None: a folder) after a power loss. choose: which names of a folder are found then."""
        return {path: None if node.is_folder else node.content for path, node in walk(self.root, choose)}


def walk(node, choose, prefix=""):
    for name, child in sorted(choose(node).items()):
        yield prefix + name, child
        if child.is_folder:
            yield from walk(child, choose, f"{prefix}{name}/")


def only_durable(folder):
    return folder.durable


def all_names(folder):
    return folder.names


def some_names(random):
    """Each name as it was or as it is, by chance."""
    def choose(folder):
        found = {}
        for name in sorted({*folder.durable, *folder.names}):
            child = random.choice([folder.durable, folder.names]).get(name)
            if child:
                found[name] = child
        return found
    return choose


def put(tree, folder):
    for path, content in tree.items():
        if content is None:
            (folder / path).mkdir(parents=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
