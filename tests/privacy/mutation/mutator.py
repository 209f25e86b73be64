"""Small mistakes in a source file, one at a time: a comparison, a constant, a term, two arguments."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
SWAPPED = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}
EITHER_WAY = (
    "isinstance", "min", "max", "minimum", "maximum", "clip", "gcd", "lcm", "add", "multiply", "intersect1d",
    "array_equal", "samestat",
)  # fmt: skip
"""Functions whose first two arguments may change places, or that cannot be called otherwise."""
Change = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True)
class Mutation:
    """One mistake: where it is, what it does, and how."""

    path: str
    lines: range
    """Of its statement."""
    place: int
    """Of the node, in the order in which `ast.walk` meets the nodes of the file."""
    name: str
    """Says where it is without the line, so that it stays the same while the file changes elsewhere."""
    change: Change
    sets: frozenset[str] = frozenset()
    """Names to which its statement gives a value when the file is loaded: constants."""

    def code(self, source: str) -> ast.Module:
        """The whole file with the mistake in it."""
        tree = ast.parse(source)
        target = list(ast.walk(tree))[self.place]
        made = ast.copy_location(self.change(copy.deepcopy(target)), target)
        return ast.fix_missing_locations(_Replaced(target, made).visit(tree))


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutations(path: str, source: str) -> Iterator[Mutation]:
    """Every mistake that can be made in a file; words, types and errors are left alone."""
    tree = ast.parse(source)
    spared = {id(node) for part in _spared(tree) for node in ast.walk(part)}
    inside, lines, sets, seen = _places(tree), _lines(tree), _sets(tree), Counter[str]()
    for place, node in enumerate(ast.walk(tree)):
        if id(node) not in spared:
            for what, change in _changes(node):
                name = f"{path} {inside[id(node)]} | {what}: {ast.unparse(node)[:60]}"
                seen[name] += 1
                again = f" ({seen[name]})" if seen[name] > 1 else ""
                yield Mutation(path, lines[id(node)], place, name + again, change, sets.get(id(node), frozenset()))


def _sets(tree: ast.Module) -> dict[int, frozenset[str]]:
    """The constants to which each node helps to give a value."""
    found: dict[int, frozenset[str]] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
            found |= {id(node): frozenset(names) for node in ast.walk(statement)}
    return found


def _lines(tree: ast.Module) -> dict[int, range]:
    """Of the statement in which each node stands, or of the node itself where the statement holds others."""
    found: dict[int, range] = {}

    def visit(node: ast.AST, around: range | None) -> None:
        own = (
            range(node.lineno, (node.end_lineno or node.lineno) + 1) if isinstance(node, ast.stmt | ast.expr) else None
        )
        if isinstance(node, ast.stmt):
            around = None if hasattr(node, "body") else own
        found[id(node)] = around or own or range(0)
        for child in ast.iter_child_nodes(node):
            visit(child, around)

    visit(tree, None)
    return found


def _places(tree: ast.Module) -> dict[int, str]:
    """The function and the statement in which each node stands."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, function: str, statement: str) -> None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            function, statement = f"{function}.{node.name}".lstrip("."), "def"
        elif isinstance(node, ast.stmt | ast.comprehension):
            statement = ast.unparse(node).splitlines()[0][:80]
        found[id(node)] = f"{function} | {statement}".lstrip()
        for child in ast.iter_child_nodes(node):
            visit(child, function, statement)

    visit(tree, "", "")
    return found


def _spared(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
            yield node
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.decorator_list
            yield from (each for each in (node.returns,) if each)
            yield from (arg.annotation for arg in ast.walk(node.args) if isinstance(arg, ast.arg) and arg.annotation)
        elif isinstance(node, ast.ClassDef):
            yield from node.decorator_list
        elif isinstance(node, ast.Subscript) and _is_type(node.value):
            yield node


def _is_type(node: ast.AST) -> bool:
    name = getattr(node, "id", "")
    return name[:1].isupper() or name in ("list", "dict", "tuple", "set")


def _changes(node: ast.AST) -> Iterator[tuple[str, Change]]:
    if isinstance(node, ast.Compare):
        yield "compared otherwise", _compared
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for name, value in _other_values(node.value).items():
            yield name, lambda _, value=value: ast.Constant(value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "opposite", lambda _, value=node.value: ast.Constant(not value)
    elif isinstance(node, ast.BinOp) and isinstance(
        node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.Pow
    ):
        if not isinstance(node.left, ast.Constant | ast.JoinedStr) or not isinstance(node.left.value, str):
            yield "without its second term", lambda made: made.left  # type: ignore[attr-defined]
    elif isinstance(node, ast.BoolOp):
        for place in range(len(node.values)):
            yield f"without part {place + 1}", lambda made, place=place: _without(made, place)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield "without its sign", lambda made: made.operand  # type: ignore[attr-defined]
    elif isinstance(node, ast.Call):
        if _can_swap(node):
            yield "swapped arguments", _swapped
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in SWAPPED:
            yield f"{SWAPPED[name]} for {name}", lambda made, name=name: _renamed(made, SWAPPED[name])


def _other_values(value: float) -> dict[str, float]:
    """By what is done; 2 times 1 and 1 plus 1 are one mistake."""
    half = value // 2 if isinstance(value, int) else value / 2
    named = {"times 2": 2 * value, "half": half, "plus 1": value + 1, "minus 1": value - 1}
    first = {made: name for name, made in reversed(named.items())}
    return {name: made for made, name in first.items() if made != value}


def _can_swap(node: ast.Call) -> bool:
    first = node.args[:2]
    plain = len(first) == 2 and not any(isinstance(arg, ast.Starred) for arg in first)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return plain and ast.dump(first[0]) != ast.dump(first[1]) and name not in EITHER_WAY


def _compared(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops[0] = COMPARED[type(node.ops[0])]()
    return node


def _without(node: ast.AST, place: int) -> ast.AST:
    assert isinstance(node, ast.BoolOp)
    del node.values[place]
    return node if len(node.values) > 1 else node.values[0]


def _swapped(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Call)
    node.args[:2] = node.args[1::-1]
    return node


def _renamed(node: ast.AST, name: str) -> ast.AST:
    assert isinstance(node, ast.Call)
    if isinstance(node.func, ast.Attribute):
        node.func.attr = name
    elif isinstance(node.func, ast.Name):
        node.func = ast.Name(name, ast.Load())
    return node
