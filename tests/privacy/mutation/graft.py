"""Puts a mutant in the place of a module that is already loaded, and of everything that was imported from it.

Loading the project and its tests takes seconds, a test that notices a mutant often a hundredth of one. So everything is
loaded once; in a process of its own each mutant then lends its code to the functions and classes that are there.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NO_CONSTANTS = (type, types.ModuleType, types.FunctionType)


def graft(name: str, path: Path, tree: ast.Module) -> bool:
    """Whether the module `name` is another one now; False says that the mutant would have to be loaded afresh."""
    old = sys.modules[name]
    new = types.ModuleType(name)
    new.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), new.__dict__)
    changed = _graft_names(vars(old), vars(new), name)
    _forget()
    return changed


def _graft_names(old: Any, new: Any, module: str) -> bool:
    changed = False
    for key, made in list(new.items()):
        if key.startswith("__") and not callable(made):
            continue
        had = old.get(key)
        if isinstance(made, type) and isinstance(had, type) and made.__module__ == module:
            changed |= _graft_class(had, made, module)
        elif _is_another(made, had):
            _replace(key, had, made)
            changed = True
        else:
            changed |= _graft_functions(had, made, module)
    return changed


def _is_another(made: object, had: object) -> bool:
    """Whether a constant has another value; objects that show nothing but their address are none."""
    if isinstance(made, NO_CONSTANTS) or had is None:
        return False
    return " at 0x" not in repr(made) and repr(made) != repr(had)


def _graft_class(old: type, new: type, module: str) -> bool:
    changed = False
    for key, made in vars(new).items():
        had = vars(old).get(key)
        if not key.startswith("__") and _is_another(made, had):
            setattr(old, key, made)
            changed = True
        else:
            changed |= _graft_functions(had, made, module)
    return changed


def _graft_functions(old: Any, new: Any, module: str) -> bool:
    changed = False
    for had, made in zip(_functions(old), _functions(new), strict=False):
        if made.__module__ != module:
            continue
        if had.__defaults__ != made.__defaults__ or had.__kwdefaults__ != made.__kwdefaults__:
            had.__defaults__, had.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
            changed = True
        if had.__code__ != made.__code__:
            if had.__code__.co_freevars != made.__code__.co_freevars:
                return False
            had.__code__ = made.__code__
            changed = True
    return changed


def _functions(found: Any) -> Iterator[types.FunctionType]:
    """The functions behind a name: itself, or what a property, a cache or another decorator holds."""
    if isinstance(found, types.FunctionType):
        yield found
    if isinstance(found, property):
        yield from (each for each in (found.fget, found.fset) if isinstance(each, types.FunctionType))
    elif isinstance(found, functools.cached_property):
        yield from _functions(found.func)
    elif isinstance(found, classmethod | staticmethod):
        yield from _functions(found.__func__)
    elif hasattr(found, "__wrapped__"):
        yield from _functions(found.__wrapped__)


def _replace(key: str, had: object, made: object) -> None:
    """A constant lives in every module that imported it."""
    for module in list(sys.modules.values()):
        if vars(module).get(key) is had:
            setattr(module, key, made)


def _forget() -> None:
    """What the code as it was has computed and kept."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("core.", "tests.")):
            for found in [*vars(module).values()]:
                holders = vars(found).values() if isinstance(found, type) else (found,)
                for each in holders:
                    clear = getattr(getattr(each, "__func__", each), "cache_clear", None)
                    if callable(clear):
                        clear()
