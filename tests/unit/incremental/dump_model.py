# SPDX-License-Identifier: Apache-2.0
"""Histories of the coverage model, told as facts and decisions for test_model_replay.c.

    python3 dump_model.py MODEL-FOLDER SEED STEPS

Each refresh that the model plans becomes the facts that the planner gets and the parts, pieces and verdicts that it must
come to. What the C planner leaves to others is left out here: what engines refuse (files removed twice, schema changed, log
files gone while racing), unproven containment, whole pieces dropped where the hit part suffices, the cap of pieces,
deltas (a part that the model maintains by delta is one that C recomputes with DATA_HAS_CHANGED), own log cleanup.
Overtaken refreshes leave newer rows alone (the model's KEEP_NEWER), but for overrides, which C always computes.
"""
import sys

sys.path.insert(0, sys.argv[1])
import coverage_model as model  # noqa: E402

QUERIES = {name: i for i, name in enumerate(model.SHAPES)}
lines = []


def say(*words):
    lines.append(" ".join(map(str, words)))


def text(p):
    if p[0] == "cmp":
        _, col, op, moving, c = p
        value = f"current_date() + {c}" if moving else f"DATE'2024-01-{c + 1:02}'" if col == 0 else str(c)
        return f"{'dk'[col]} {op} {value}"
    if p[0] == "null":
        return f"{'dk'[p[1]]} IS NULL"
    if p[0] == "not":
        return f"NOT ({text(p[1])})"
    return f"({text(p[1])} {p[0].upper()} {text(p[2])})"


def source(ident):
    return f"{ident[0]} {ident[2]} {ident[3]}"


class Fingerprints(dict):
    def __missing__(self, fp):
        self[fp] = len(self)
        return self[fp]


class Told:
    """What is remembered of a run between its plan and its commit."""

    def __init__(self, rv):
        self.rv = self.read = rv  # read: winners up to here were read in earlier attempts, whatever became of their files


prints, told = Fingerprints(), {}
plan_before, rebase_before = model.make_plan, model.rebase


def say_commit(word, t, u, run, read=-1):
    c = t.commits[u]
    is_missing = read < u < t.cleaned
    hull = run.touched(c) if model.is_change(t, u) and not is_missing else 0
    say(word, u, int(is_missing), int(c.data_change), int(c.schema), int(c.state is not None), f"{hull:x}")


def say_pieces(pieces):
    """As recorded: equal fingerprints and sources are one piece."""
    merged = {}
    for p in pieces:
        if p.region:
            merged[(p.fp, p.idents)] = merged.get((p.fp, p.idents), 0) | p.region
    say("pieces", len(merged))
    for (fp, idents), region in merged.items():
        say("piece", f"{region:x}", prints[fp], len(idents), *map(source, idents))


def reasons(run, cover, window, had, kept, fp, idents, st):
    """mask of each treatment: kept, other query, other sources, changed from outside, never computed."""
    if run.full or run.override or not st:
        return [0, 0, 0, 0, window]
    fresh, query, data, seen = kept, 0, 0, 0
    for p in cover:
        part = p.region & window
        seen |= part
        if p.fp != fp:
            query |= part
        elif p.idents == idents:
            fresh |= part
        else:
            data |= part & ~kept
    return [fresh, query, data, window & had & ~seen, window & ~had]


def make_plan(world, run, pins, rv):
    t = world.tgt
    model.KEEP_NEWER = not run.override
    run.drop_whole = False
    idents, fp = tuple(p.ident for p in pins.values()), model.fingerprint(run.query, run.now)
    window, _ = model.truth(run.pred, run.now)
    u_state, st = model.find_state(t, rv)
    cover = list(st.pieces) if st else []
    had = sum(p.region for p in cover)
    for hull in model.external(t, u_state, st, rv, run) if st else ():
        cover = model.minus(cover, hull, run)
    newer = sorted({i for p in st.pieces for i in p.idents if i[0] in pins and i[2] > pins[i[0]].version
                    and not model.old_snapshot(world, i, pins[i[0]])[1]}) if st else []
    kept = window & sum(p.region for p in cover if p.fp == fp and p.idents != idents and all(
        i in newer or i == pins[i[0]].ident for i in p.idents)) if model.KEEP_NEWER and not run.full else 0
    own = window & ~kept
    fresh = sum(p.region for p in cover if p.fp == fp and p.idents == idents)
    covered = bool(st) and not run.override and not run.full and not own & ~fresh
    first = st.read_version + 1 if st else rv + 1
    commits = [u for u in range(first, rv + 1)]
    say("plan", run.uid, rv, run.now, QUERIES[run.query.shape], int(run.query.edited), int(run.override), int(run.full),
        -1 if u_state is None else u_state, int(t.txns[rv] is not None), prints[fp], int(covered), len(pins),
        *(source(i) for i in idents), len(commits), len(newer), *(f"{m:x}" for m in reasons(run, cover, window, had, kept, fp, idents, st)))
    say("pred", text(run.pred))
    for u in commits:
        say_commit("commit", t, u, run)
    for ident in newer:
        say("newer", source(ident))
    told[run.uid] = Told(rv)
    plan = plan_before(world, run, pins, rv)
    if plan is not None and (covered or plan.mine.region != own):
        raise AssertionError("the model plans otherwise than what is told of it")
    if plan is None and not covered:
        say("forget", run.uid)  # the engine found no row to change: C would ask it
    return plan


def rebase(world, run, plan, base, cur):
    """Winners since the plan was made, as engines give them."""
    t, rv = world.tgt, told[run.uid].rv
    new = rebase_before(world, run, plan, base, cur)
    refused = any(u < t.cleaned or t.commits[u].schema or t.commits[u].removes & plan.removes for u in range(base + 1, cur + 1))
    if new is None and refused:
        say("forget", run.uid)
        return None
    say("rebase", run.uid, cur, int(new is not None), cur - rv)
    for u in range(rv + 1, cur + 1):
        say_commit("winner", t, u, run, told[run.uid].read)
    told[run.uid].read = cur
    if new is not None:
        say_pieces(model.assemble([new.mine] + new.carried))
    return new


class World(model.World):
    def __init__(self, rng, log=None):
        super().__init__(rng, log)
        self.fuzzy = False

    def write(self, run, plan, removes, adds, rv):
        slipped = self.tgt.version > told[run.uid].rv and rv == told[run.uid].rv
        say("write", run.uid, self.tgt.version + 1, rv, int(slipped), f"{plan.advanced:x}")
        say_pieces(model.assemble([plan.mine] + plan.carried))
        super().write(run, plan, removes, adds, rv)


def main():
    seed, steps = int(sys.argv[2]), int(sys.argv[3])
    model.make_plan, model.rebase, model.World = make_plan, rebase, World
    model.assemble.__defaults__ = (99,)
    for weights in (model.OPS, model.CALM, model.RACE, model.DUEL):
        weights["own cleanup"] = 0
    out = lines.append

    def flush():
        sys.stdout.write("\n".join(lines) + "\n")
        lines.clear()

    done = 0
    while done < steps:
        lines.clear()
        told.clear()
        out(f"history {seed}")
        n, error = model.play(model.make_history(seed, 40))
        if error:
            raise AssertionError(f"the model itself fails: history {seed}: {error}")
        done, seed = done + n, seed + 1
        out(f"steps {n}")
        flush()
    print("end")


if __name__ == "__main__":
    main()
