"""How much code a queue is, method by method, read off its source without importing it.

What is counted in the body of a method, the bodies of inner functions and lambdas included:

statements        every statement, simple or compound, one each, and each one inside it again; not the `def` line of
                  the method, no docstrings
branches          every place where the way forks: `if` and `elif`, `while`, `for` (in a comprehension too, where it is
                  the same loop), each `if` of a comprehension, `a if c else b`, each `and` and `or`, each `except`,
                  each `case`
index operations  every subscript of data, read, written or deleted, an index or a slice, one each; not those of
                  annotations

The counts describe this source and nothing else: what a method calls is not in them, but the helper methods of the
class are listed beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
FORKS = (ast.If, ast.While, ast.For, ast.AsyncFor, ast.IfExp, ast.ExceptHandler, ast.match_case)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Row = dict[str, str | int]


def complexity(target: str) -> list[Row]:
    """Return `{"method", "statements", "branches", "index_operations"}` for each method of the class "module:Class".

    Inherited methods are there as well, where the base class belongs to this laboratory or to the package of the class;
    a base's come first and an override takes the place of what it overrides. A setter is listed as "name.setter".
    Raises LookupError when there is no such module, source or class, SyntaxError when it is no Python.

    >>> [row["method"] for row in complexity("queues.timer.array:Array")][:3]
    ['__init__', 'enqueue', '_insert']
    """
    module, _, name = target.partition(":")
    packages = {"queues", module.partition(".")[0]}
    methods: dict[str, Function] = {}
    for class_ in reversed(list(lineage(module, name, packages, set()))):
        methods |= methods_of(class_)
    return [{"method": method, **counts(function)} for method, function in methods.items()]


def counts(function: Function) -> dict[str, int]:
    """Return the three counts of one function.

    >>> counts(ast.parse("def f(a: list[int]):\\n    'Text.'\\n    return a[0] if a and a[0] else None").body[0])
    {'statements': 1, 'branches': 2, 'index_operations': 2}
    """
    found = {"statements": 0, "branches": 0, "index_operations": 0}
    for node in body_nodes(function):
        found["statements"] += isinstance(node, ast.stmt)
        found["branches"] += branches(node)
        found["index_operations"] += isinstance(node, ast.Subscript)
    return found


def branches(node: ast.AST) -> int:
    """Return how many forks this node is by itself."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, FORKS))


def body_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield every node below the body of `function`, leaving out docstrings, annotations and decorators."""
    left: list[ast.AST] = list(without_docstring(function.body))
    while left:
        node = left.pop()
        yield node
        left += children(node)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below, without those that are no work: docstrings, annotations, decorators."""
    if isinstance(node, ast.AnnAssign):
        return [node.target, *([node.value] if node.value is not None else [])]
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        defaults = [*node.args.defaults, *(value for value in node.args.kw_defaults if value is not None)]
        body = [node.body] if isinstance(node, ast.Lambda) else without_docstring(node.body)
        return [*defaults, *body]
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *node.keywords, *without_docstring(node.body)]
    return list(ast.iter_child_nodes(node))


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body but for a text at its beginning."""
    first = body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return body[1:] if is_text else body


def methods_of(class_: ast.ClassDef) -> dict[str, Function]:
    """Return the functions that the body of a class defines, by name; of two with one name the later counts."""
    found: dict[str, Function] = {}
    for statement in class_.body:
        if isinstance(statement, FUNCTIONS):
            kinds = [node.attr for node in statement.decorator_list if isinstance(node, ast.Attribute)]
            suffix = next((f".{kind}" for kind in kinds if kind in ("setter", "deleter")), "")
            found[statement.name + suffix] = statement
    return found


def lineage(module: str, name: str, packages: set[str], seen: set[tuple[str, str]]) -> Iterator[ast.ClassDef]:
    """Yield the class and its bases within `packages`, depth first, as the bases are written, each once."""
    module, class_ = find_class(module, name)
    if (module, class_.name) in seen:
        return
    seen.add((module, class_.name))
    yield class_
    for base in class_.bases:
        where, base_name = origin(module, ast.unparse(base).partition("[")[0])
        if where.partition(".")[0] in packages and has_class(where, base_name):
            yield from lineage(where, base_name, packages, seen)


def has_class(module: str, name: str) -> bool:
    """Whether the source of `module` leads to a class called `name`."""
    try:
        find_class(module, name)
    except LookupError:
        return False
    return True


def find_class(module: str, name: str) -> tuple[str, ast.ClassDef]:
    """Return the class called `name` and the module that defines it, following imports and plain assignments."""
    asked = f"{module}:{name}"
    for _ in range(32):  # an import circle has no end
        body: list[ast.stmt] = parsed(module).body
        outer, _, inner = name.partition(".")
        for node in top_level(body):
            if isinstance(node, ast.ClassDef) and node.name == outer:
                return module, nested(node, inner, asked)
        before = module, name
        module, name = origin(module, name)
        if (module, name) == before:
            break
    raise LookupError(f"no class in the source of {asked!r}: expected 'package.module:Class'")


def nested(class_: ast.ClassDef, path: str, asked: str) -> ast.ClassDef:
    """Return the class at the end of a dotted path inside a class."""
    for name in filter(None, path.split(".")):
        inner = [node for node in class_.body if isinstance(node, ast.ClassDef) and node.name == name]
        if not inner:
            raise LookupError(f"no class in the source of {asked!r}: {class_.name} has no class {name}")
        class_ = inner[-1]
    return class_


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that a module executes, under `if`, `try` and `with` too, not inside functions."""
    for statement in body:
        yield statement
        for field in ("body", "orelse", "finalbody"):
            if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
                yield from top_level(getattr(statement, field, []))


def origin(module: str, name: str) -> tuple[str, str]:
    """Return where `name`, as written in `module`, comes from: (module, name), the same ones if it is at home there.

    >>> origin("queues.timer.linked_known_tail", "Linked")
    ('queues.timer.linked', 'Linked')
    """
    first, _, rest = name.partition(".")
    for node in top_level(parsed(module).body):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == first:
                    source = absolute(module, node)
                    return (f"{source}.{alias.name}", rest) if rest else (source, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                known_as = alias.asname or alias.name
                if name.startswith(f"{known_as}."):
                    return alias.name, name.removeprefix(f"{known_as}.")
        elif (
            isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and name in map(ast.unparse, node.targets)
        ):
            return module, node.value.id
    return module, name


def absolute(module: str, node: ast.ImportFrom) -> str:
    """Return the full name of the module that an import statement in `module` names."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    if source_of(module).name == "__init__.py":
        parts.append("")
    return ".".join([*parts[: -node.level], *([node.module] if node.module else [])])


def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(source_of(module).read_bytes(), filename=f"{module}")


def source_of(module: str) -> Path:
    """Return the file of a module without importing it or the packages around it."""
    top, *rest = module.split(".")
    spec: ModuleSpec | None = None
    with suppress(ValueError):  # a name such as "", or a module without a spec
        spec = find_spec(top)
    name = top
    for part in rest:
        name = f"{name}.{part}"
        places = spec.submodule_search_locations if spec is not None else None
        spec = PathFinder.find_spec(name, list(places)) if places else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise LookupError(f"no Python source of module {module!r}: expected one that can be imported from here")
    return Path(spec.origin)
