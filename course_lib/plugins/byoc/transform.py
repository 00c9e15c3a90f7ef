"""The passes that divide a module, in small: fold constants, fuse by patterns, merge, hand over.

    main: matmul, add, sigmoid, matmul      FuseOpsByPattern: a function around each match
    ==>  main: region(x), sigmoid, region(y)          MergeCompositeFunctions: neighbours joined
    ==>  main: call_dps_packed("..."), sigmoid, ...   RunCodegen: a call of what was generated

A match becomes a function with the attribute Composite, a region one with Codegen. Next room:
`machine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from course_lib.plugins.byoc.dpl import CallPattern, DFPattern, Found, match
from course_lib.plugins.byoc.machine import Registered, folded
from course_lib.plugins.byoc.tree import (
    Attrs,
    ExternFunc,
    Function,
    GenericConst,
    GlobalVar,
    IRModule,
    Op,
    RelaxCall,
    TupleGetItem,
    TupleType,
    Var,
    VarBinding,
    function,
    reads,
)

Pass = Callable[[IRModule], IRModule]


@dataclass(frozen=True, eq=False)
class FusionPattern:
    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] | None = None
    check: Callable[[PatternCheckContext], bool] | None = None


@dataclass(frozen=True, eq=False)
class PatternCheckContext:
    """What a check is asked about."""

    matched_expr: RelaxCall
    annotated_expr: Mapping[str, Any]
    matched_bindings: Mapping[Var, RelaxCall]
    var_usages: Mapping[Var, Sequence[Var]]
    value_to_bound_var: Mapping[Any, Var]


def FoldConstant() -> Pass:
    """What is computed from constants alone becomes a constant."""
    return lambda module: module.with_main(folded(module["main"]))


def FuseOpsByPattern(
    patterns: Sequence[FusionPattern | tuple],
    bind_constants: bool = True,
    annotate_codegen: bool = False,
) -> Pass:
    """A function for each match, the first patterns first."""
    rows = [row if isinstance(row, FusionPattern) else FusionPattern(*row) for row in patterns]
    for row in rows:
        if not isinstance(row.name, str) or not isinstance(row.pattern, DFPattern):
            raise TypeError(f"a name and a pattern are expected, got {row.name!r:.60}")
    return lambda module: _fuse(module, rows, bind_constants, annotate_codegen)


def _fuse(module: IRModule, rows: Sequence[FusionPattern], bind: bool, annotate: bool) -> IRModule:
    main, groups = module["main"], list[tuple[str, list[VarBinding]]]()
    taken: set[Var] = set()
    for row in rows:
        for binding in main.bindings:
            inside = _matched(row, binding, main) if binding.var not in taken else []
            if inside and not taken & {b.var for b in inside}:
                taken |= {b.var for b in inside}
                groups.append((row.name, inside))
    more: dict[str, Function] = {}
    named = []
    for name, inside in groups:
        made, operands = outlined(inside, main, bind, Composite=name)
        if annotate:
            made = _region([(made, operands)], made.params, made, name)
        symbol = _symbol(inside, more)
        more[symbol] = replace(made, attrs=_with(made.attrs, symbol)) if annotate else made
        named.append((symbol, inside, operands))
    return module.with_main(_calls(main, named), more.items())


def _matched(row: FusionPattern, binding: VarBinding, main: Function) -> list[VarBinding]:
    """The bindings of a match whose last one this is; none if there is no such match, or if the
    check refuses it."""
    values: dict[Var, Any] = {b.var: b.value for b in main.bindings}
    found: Found = {}
    if not isinstance(binding.value, RelaxCall) or not match(
        row.pattern, binding.value, found, values
    ):
        return []
    calls = [v for p, v in found.items() if isinstance(p, CallPattern)]
    inside = [b for b in main.bindings if any(b.value is call for call in calls)]
    if row.check:
        users: dict[Var, list[Var]] = {var: [] for var in (*main.params, *values)}
        for b in main.bindings:
            for var in reads(b.value):
                users[var].append(b.var)
        for result in main.results if len(main.results) > 1 else ():  # a tuple reads them
            users[result].append(Var("result", result.ty))
        around = row.annotation_patterns or {}
        context = PatternCheckContext(
            binding.value,
            {key: found[pattern] for key, pattern in around.items() if pattern in found},
            {b.var: b.value for b in inside if isinstance(b.value, RelaxCall)},
            users,
            {b.value: b.var for b in main.bindings},
        )
        if not row.check(context):
            return []
    return inside


def outlined(
    inside: Sequence[VarBinding], main: Function, bind: bool = True, **attrs: str
) -> tuple[Function, tuple[Var | GenericConst, ...]]:
    """Some bindings of `main` as a function of their own, and what it is called with."""
    own = {b.var for b in inside}
    params: dict[Any, Var] = {}

    def operand(arg: Var | GenericConst) -> Var | GenericConst:
        outside = arg not in own if isinstance(arg, Var) else not bind
        if outside and arg not in params:
            name = arg.name if isinstance(arg, Var) else f"c{len(params)}"
            params[arg] = Var(f"{name}_in_{inside[-1].var.name}", arg.ty)
        return params[arg] if outside else arg

    bindings = []
    for b in inside:
        assert isinstance(b.value, RelaxCall)
        args = tuple(operand(arg) for arg in b.value.args)
        bindings.append(VarBinding(b.var, replace(b.value, args=args)))
    made = function(params.values(), bindings, _leaving(inside, main), **attrs)
    return made, tuple(params)


def _leaving(inside: Sequence[VarBinding], main: Function) -> list[Var]:
    """The values that something else reads."""
    own = {b.var for b in inside}
    read = {v for b in main.bindings if b.var not in own for v in reads(b.value)}
    read |= {*main.results}
    return [b.var for b in inside if b.var in read]


def _symbol(inside: Iterable[VarBinding], taken: Mapping[str, Any]) -> str:
    ops = [b.value.op.name.replace(".", "_") for b in inside
           if isinstance(b.value, RelaxCall) and isinstance(b.value.op, Op)]  # fmt: skip
    name = "fused_" + "_".join(ops)
    return name if name not in taken else f"{name}_{len(taken)}"


def _with(attrs: Attrs, symbol: str) -> Attrs:
    return Attrs((*attrs.pairs, ("global_symbol", symbol)))


def _calls(main: Function, groups: Sequence[tuple[str, list[VarBinding], Any]]) -> Function:
    """`main` with a call in place of each group, in an order in which each value is there before
    it is read."""
    of = {b.var: k for k, (_, inside, _) in enumerate(groups) for b in inside}
    done: list[VarBinding] = []
    ready, begun = {*main.params}, set[Any]()

    def emit(binding: VarBinding) -> None:
        key = of.get(binding.var, binding.var)
        if binding.var in ready:
            return
        if key in begun:
            raise ValueError(f"a region would wait for itself: it needs {binding.var.name}")
        begun.add(key)
        inside = groups[of[binding.var]][1] if binding.var in of else [binding]
        own = {b.var for b in inside}
        for var in (v for b in inside for v in reads(b.value) if v not in own):
            if var not in ready:
                emit(by_var[var])
        done.extend(_call(groups[of[binding.var]], main) if binding.var in of else [binding])
        ready.update(own)

    by_var = {b.var: b for b in main.bindings}
    last = {k: max(main.bindings.index(b) for b in inside)
            for k, (_, inside, _) in enumerate(groups)}  # fmt: skip
    for number, binding in enumerate(main.bindings):
        if binding.var not in of or last[of[binding.var]] == number:
            emit(binding)
    return function(main.params, done, main.results)


def _call(group: tuple[str, list[VarBinding], Any], main: Function) -> list[VarBinding]:
    symbol, inside, operands = group
    results = _leaving(inside, main)
    if len(results) == 1:
        call = RelaxCall(GlobalVar(symbol), operands, Attrs(), results[0].ty)
        return [VarBinding(results[0], call)]
    types = tuple(r.ty for r in results)
    whole = Var(f"{inside[-1].var.name}_all", TupleType(types))  # type: ignore[arg-type]
    parts = [VarBinding(r, TupleGetItem(whole, k)) for k, r in enumerate(results)]
    return [VarBinding(whole, RelaxCall(GlobalVar(symbol), operands, Attrs(), whole.ty)), *parts]


# ── regions ──


def MergeCompositeFunctions() -> Pass:
    """Calls of functions with the attribute Composite become regions, neighbours of one backend
    one region if nothing would then wait for itself."""
    return _merge


def _merge(module: IRModule) -> IRModule:
    main = module["main"]
    composite = {g: f for g, f in module.functions.items() if "Composite" in f.attrs}

    def called(binding: VarBinding) -> Function | None:
        call = binding.value
        known = isinstance(call, RelaxCall) and isinstance(call.op, GlobalVar)
        return composite.get(call.op) if known else None  # type: ignore[union-attr]

    groups: list[list[VarBinding]] = []
    for binding in main.bindings:
        if called(binding) is None:
            if isinstance(binding.value, TupleGetItem):  # goes with what it is a part of
                for group in groups:
                    if group[-1].var == binding.value.tuple_value or any(
                        b.var == binding.value.tuple_value for b in group
                    ):
                        group.append(binding)
            continue
        near = [g for g in groups if {b.var for b in g} & {*reads(binding.value)}
                and _backend(called(g[0])) == _backend(called(binding))
                and not _around(g, binding, main)]  # fmt: skip
        if near:
            near[0].append(binding)
        else:
            groups.append([binding])
    more: dict[str, Function] = {}
    named = []
    for group in groups:
        made, operands = _joined(group, main, called)
        symbol = f"fused_{len(more)}_{_backend(called(group[0]))}"
        more[symbol] = replace(made, attrs=_with(made.attrs, symbol))
        named.append((symbol, group, operands))
    return module.with_main(_calls(main, named), more.items())


def _backend(function: Function | None) -> str:
    assert function is not None
    name, dot, _ = str(function.attrs["Composite"]).partition(".")
    if not dot:
        raise ValueError(f'a pattern is named "backend.something", got {name!r:.60}')
    return name


def _around(group: Sequence[VarBinding], binding: VarBinding, main: Function) -> bool:
    """Does a path lead from the group over something else to the binding?"""
    own = {b.var for b in group}
    behind: set[Var] = set()
    for b in main.bindings:
        if b.var not in own and b.var != binding.var and ({*reads(b.value)} & (own | behind)):
            behind.add(b.var)
    return bool(behind & {*reads(binding.value)})


def _joined(
    group: Sequence[VarBinding], main: Function, called: Callable[[VarBinding], Function | None]
) -> tuple[Function, Any]:
    own = {b.var for b in group}
    operands = dict.fromkeys(
        arg for b in group if isinstance(b.value, RelaxCall) for arg in b.value.args
        if not isinstance(arg, Var) or arg not in own
    )  # fmt: skip
    params = {arg: Var(f"{getattr(arg, 'name', 'c')}_to_{group[-1].var.name}_{k}", arg.ty)
              for k, arg in enumerate(operands)}  # fmt: skip
    bindings: list[VarBinding] = []
    for b in group:
        inner = called(b)
        if inner is None:
            bindings.append(b)
            continue
        assert isinstance(b.value, RelaxCall)
        name = Var(f"{b.var.name}_function", b.var.ty)
        args = tuple(params.get(arg, arg) for arg in b.value.args)
        call = RelaxCall(name, args, Attrs(), b.value.ty)
        bindings += [VarBinding(name, inner), VarBinding(b.var, call)]
    codegen = _backend(called(group[0]))
    results = _leaving(group, main)
    return function(params.values(), bindings, results, Codegen=codegen), tuple(operands)


def _region(calls: Any, params: Iterable[Var], made: Function, name: str) -> Function:
    """A function with Codegen around one with Composite."""
    outer = [Var(f"{p.name}_to", p.ty) for p in made.params]
    types = tuple(r.ty for r in made.results)
    ty: Any = types[0] if len(types) == 1 else TupleType(types)  # type: ignore[arg-type]
    inner, value = Var(f"{made.results[0].name}_function", ty), Var(f"{made.results[0].name}_y", ty)
    call = RelaxCall(inner, tuple(outer), Attrs(), ty)
    return function(outer, [VarBinding(inner, made), VarBinding(value, call)], [value],
                    Codegen=name.partition(".")[0])  # fmt: skip


def RunCodegen(registered: Registered, target_options: dict | None = None) -> Pass:
    """`relax.ext.NAME`, which was registered, gets all functions with Codegen NAME."""

    def run(module: IRModule) -> IRModule:
        regions = {g: f for g, f in module.functions.items() if "Codegen" in f.attrs}
        for name in dict.fromkeys(str(f.attrs["Codegen"]) for f in regions.values()):
            if f"relax.ext.{name}" not in registered:
                raise ValueError(f"RunCodegen finds no function with the name relax.ext.{name}")
            functions = [f for f in regions.values() if f.attrs["Codegen"] == name]
            made = registered[f"relax.ext.{name}"](functions, target_options or {}, {})
            if not isinstance(made, (list, tuple)) or made:
                raise TypeError(f"relax.ext.{name} must return a list of machine code: []")
        main = module["main"]
        bindings = [
            VarBinding(b.var, replace(b.value, op=ExternFunc(b.value.op.name_hint)))
            if isinstance(b.value, RelaxCall) and b.value.op in regions
            and isinstance(b.value.op, GlobalVar) else b
            for b in main.bindings
        ]  # fmt: skip
        return module.with_main(function(main.params, bindings, main.results))

    return run
