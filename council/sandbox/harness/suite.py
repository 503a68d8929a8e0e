"""Reads test files without running them: which tests they have, and the code that is run in their place.

The code differs from the file in five ways. A test says that it came to its end, with a key that is known to nobody
else. An `assert` that compares asks the guard to compare, which knows objects that equal everything. A message says
what was compared. Before each call, and after each import, the guard looks whether Python's own library is still what
it was. And there are canaries: more tests, that must fail.
"""

from __future__ import annotations

import ast
import marshal
import os
import random
import warnings
from collections.abc import Iterator

WORDS = ("done", "compare", "look", "tell", "ready")  # what the tests' code is given by the guard
Function = ast.FunctionDef | ast.AsyncFunctionDef
SAFE_IN_SKIPIF = {"sys", "os", "platform"}
NOT_PLAIN = {"setup_module", "teardown_module", "setup_function", "teardown_function", "load_tests", "pytest_plugins"}
SUFFIXES = "again also twice empty small large order copy text none zero first last same other plain both more".split()
OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class Case:
    """A test function. `runs` is how often it must run, if its parameters are written out. `skips`: the file itself
    says that it is skipped or expected to fail, whatever the candidate does.
    """

    def __init__(self, id: str, key: str, runs: int = 1, skips: bool = False, canary: bool = False) -> None:
        self.id, self.key, self.runs, self.skips, self.canary = id, key, runs, skips, canary


class TestFile:
    def __init__(self, path: str, tree: ast.Module) -> None:
        self.path, self.tree = path, tree
        self.cases: list[Case] = []

    @property
    def plain(self) -> bool:
        """Whether it needs no test framework: only functions without arguments."""
        for node in ast.walk(self.tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] in ("pytest", "_pytest", "unittest", "hypothesis") for name in names):
                return False
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name.startswith("Test"):
                return False
            if not isinstance(statement, Function):
                continue
            if statement.name in NOT_PLAIN:
                return False
            if is_test(statement):
                signature = statement.args
                arguments = signature.posonlyargs + signature.args + signature.kwonlyargs
                if arguments or statement.decorator_list or isinstance(statement, ast.AsyncFunctionDef):
                    return False
                if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(statement)):
                    return False
        return any(is_test(statement) for statement in self.tree.body)


def list_mentions(file: TestFile) -> set[str]:
    """The names that a file uses, and the packages that it imports."""
    found = {node.id for node in ast.walk(file.tree) if isinstance(node, ast.Name)}
    found |= {node.attr for node in ast.walk(file.tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").partition(".")[0], *(alias.name for alias in node.names)}
    return found


def list_imports(file: TestFile) -> set[str]:
    """The modules that a file imports, or may: `from a import b` could mean `a.b`."""
    found = set()
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def list_named(file: TestFile) -> set[str]:
    """The names that a file has in quotes, as `monkeypatch` and `mock.patch` are given them, and those that it sets."""
    nodes = [*ast.walk(file.tree)]
    quoted = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    parts = {part for text in quoted for part in text.split(".") if text.replace(".", "").isidentifier()}
    return parts | {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


def make_key() -> str:
    """Known to nobody else. (`secrets` takes longer to import than a test to run.)"""
    return os.urandom(12).hex()


def is_test(node: ast.AST) -> bool:
    return (
        isinstance(node, Function) and node.name.startswith("test") and not any(map(_is_fixture, node.decorator_list))
    )


def _is_fixture(decorator: ast.expr) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
    return name.split(".")[-1] in ("fixture", "yield_fixture")


def is_test_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and (node.name.startswith("Test") or is_unittest(node))


def is_unittest(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("TestCase") for base in node.bases)


def read(path: str, source: bytes) -> TestFile:
    tree = ast.parse(source, path)
    file = TestFile(path, tree)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    own_skips = _skips_all(tree)
    for node in tree.body:
        if is_test(node):
            assert isinstance(node, Function)
            file.cases.append(_case(path, "", node, own_skips))
        elif isinstance(node, ast.ClassDef) and _is_collected(node, classes):
            file.cases += _cases_of(node, path, "", own_skips, classes)
    return file


def _cases_of(
    node: ast.ClassDef, path: str, outer: str, skips: bool, classes: dict[str, ast.ClassDef]
) -> Iterator[Case]:
    prefix, skips = f"{outer}{node.name}::", skips or _is_skipped(node.decorator_list)
    for test in {test.name: test for test in _methods(node, classes, set())}.values():
        yield _case(path, prefix, test, skips)
    for inner in node.body:
        if isinstance(inner, ast.ClassDef) and inner.name.startswith("Test") and not is_unittest(node):
            yield from _cases_of(inner, path, prefix, skips, classes)


def _is_collected(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a runner looks for tests in it: not in a mixin, nor in what says that it is no test."""
    return (is_test_class(node) or _inherits(node, classes)) and _says_test(node, classes) is not False


def _says_test(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> object:
    """What `__test__` is in this class, if it or the classes of the same file that it is made from say so."""
    for statement in node.body:
        if isinstance(statement, ast.Assign) and [ast.unparse(one) for one in statement.targets] == ["__test__"]:
            return getattr(statement.value, "value", None)
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    said = (_says_test(base, classes) for base in bases if base is not node)
    return next((one for one in said if one is not None), None)


def _inherits(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    """Whether a class of the same file makes it one of `unittest`."""
    bases = [classes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in classes]
    return any(base is not node and (is_unittest(base) or _inherits(base, classes)) for base in bases)


def _methods(node: ast.ClassDef, classes: dict[str, ast.ClassDef], seen: set[str]) -> Iterator[Function]:
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id not in seen:
            yield from _methods(classes[base.id], classes, seen | {node.name})
    for statement in node.body:
        if isinstance(statement, Function) and is_test(statement):
            yield statement


def _case(path: str, prefix: str, node: Function, skips: bool) -> Case:
    key: str = getattr(node, "key", "") or make_key()
    node.key = key  # type: ignore[union-attr]
    return Case(f"{path}::{prefix}{node.name}", key, _runs(node), skips or _is_skipped(node.decorator_list))


def _runs(node: Function) -> int:
    """The product of the lists of parameters that are written out; at least one of those that are not."""
    runs = 1
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize"):
            values = decorator.args[1:2]
            if values and isinstance(values[0], ast.List | ast.Tuple):
                runs *= len([value for value in values[0].elts if not isinstance(value, ast.Starred)])
    return runs


def _is_skipped(decorators: list[ast.expr]) -> bool:
    return any(_is_skip(decorator) for decorator in decorators)


def _is_skip(decorator: ast.expr) -> bool:
    name = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).split(".")[-1]
    if name in ("skip", "expectedFailure", "xfail"):
        return True
    if name in ("skipif", "skipIf", "skipUnless") and isinstance(decorator, ast.Call):
        # The candidate must not be able to say which tests are skipped.
        values = [*decorator.args[:1], *(keyword.value for keyword in decorator.keywords if keyword.arg == "condition")]
        names = {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}
        return bool(values) and names <= SAFE_IN_SKIPIF
    return False


def _skips_all(tree: ast.Module) -> bool:
    """`pytestmark = pytest.mark.skip…` at the top of the file."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["pytestmark"]:
            marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            return any(_is_skip(mark) for mark in marks)
    return False


# ---- the code that is run ----


def weave(file: TestFile, words: dict[str, str], canaries: bool) -> bytes:
    """The file's code, marshalled. `words` are the constants in whose place the child puts the guard's functions."""
    if canaries and file.cases:
        _add_canaries(file)
    tree = _Weaver(words).visit(file.tree)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant is called
        return marshal.dumps(compile(ast.fix_missing_locations(tree), f"/job/{file.path}", "exec", dont_inherit=True))


class _Weaver(ast.NodeTransformer):
    def __init__(self, words: dict[str, str]) -> None:
        self.words = words
        self.key = ""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _function(self, node: Function) -> Function:
        """A test says that it came to its end, or to a `return`; a function inside of it does not."""
        outer, self.key = self.key, getattr(node, "key", "")
        self.generic_visit(node)
        if self.key:
            end = ast.Expr(self._call("done", ast.Constant(self.key)))
            node.body.append(ast.copy_location(end, node.body[-1]))
        self.key = outer
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if self.key:
            node.value = self._call("done", ast.Constant(self.key), *([node.value] if node.value else []))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """What a method as `assertEqual` is given is looked at, as `assert` looks at what it compares."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert"):
            node.args = [one if isinstance(one, ast.Starred) else self._seen(one) for one in node.args]
        self._make_ready(node)
        return node

    def _make_ready(self, node: ast.Call) -> None:
        """Look when everything was computed that is given to the call. A frame between the two would be noticed."""
        if node.keywords:
            node.keywords[-1].value = self._call("ready", node.keywords[-1].value)
        elif node.args and isinstance(last := node.args[-1], ast.Starred):
            last.value = self._call("ready", last.value)
        elif node.args:
            node.args[-1] = self._call("ready", node.args[-1])
        else:
            node.args = [ast.Starred(self._call("ready"), ast.Load())]

    def visit_Import(self, node: ast.Import) -> list[ast.AST]:
        return [node, ast.copy_location(ast.Expr(self._call("ready")), node)]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.AST]:
        return [node] if node.module == "__future__" else [node, ast.copy_location(ast.Expr(self._call("ready")), node)]

    def _seen(self, value: ast.expr) -> ast.expr:
        return value if isinstance(value, ast.Constant) else ast.copy_location(self._call("look", value), value)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        text = ast.unparse(node.test)[:500]
        self.generic_visit(node)
        node.test = self._compared(node.test)
        node.msg = ast.copy_location(self._call("tell", ast.Constant(text), *([node.msg] if node.msg else [])), node)
        return node

    def _compared(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            test.values = [self._compared(value) for value in test.values]
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self._compared(test.operand)
        elif isinstance(test, ast.Compare) and len(test.ops) == 1:
            operator = ast.Constant(OPERATORS[type(test.ops[0])])
            return ast.copy_location(self._call("compare", operator, test.left, test.comparators[0]), test)
        return test

    def _call(self, word: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(ast.Constant(self.words[word]), list(arguments), [])


def _add_canaries(file: TestFile) -> None:
    """Beside tests of the file, with names like theirs; one at its end, so that nothing can be done after it."""
    classes = {node.name: node for node in file.tree.body if isinstance(node, ast.ClassDef)}
    places = [(file.tree.body, "")]
    places += [(node.body, f"{name}::") for name, node in classes.items() if _is_collected(node, classes)]
    known = {case.id for case in file.cases}
    direct = {
        prefix: [id for id in known if id.rpartition("::")[0] == f"{file.path}::{prefix}"[:-2]] for _, prefix in places
    }
    places = [(body, prefix) for body, prefix in places if direct[prefix]]
    for body, prefix in [random.choice(places), places[-1]] if places else []:
        tests = [at for at, statement in enumerate(body) if is_test(statement)]  # a class may only inherit some
        model = body[random.choice(tests)] if tests else body[-1]
        like = random.choice(direct[prefix]).rpartition("::")[2]
        name = next(name for name in _names(like) if f"{file.path}::{prefix}{name}" not in known)
        canary = _canary(name, bool(prefix), prefix, file)
        at = len(body) if (body, prefix) == places[-1] else random.choice([*tests, len(body)])
        body.insert(at, ast.copy_location(canary, model))
        canary.key = make_key()  # type: ignore[attr-defined]
        file.cases.append(Case(f"{file.path}::{prefix}{name}", canary.key, canary=True))  # type: ignore[attr-defined]
        known.add(file.cases[-1].id)


def _names(like: str) -> Iterator[str]:
    while True:
        yield f"{like}_{random.choice(SUFFIXES)}"
        yield f"{like.rsplit('_', 1)[0]}_{random.choice(SUFFIXES)}_{random.choice(SUFFIXES)}"


def _canary(name: str, method: bool, prefix: str, file: TestFile) -> ast.FunctionDef:
    a, b = random.sample(range(2, 99), 2)
    forms = [f"assert {a} == {b}", f"assert [{a}] == [{b}]", f"assert {a} in [{b}]", f"assert not {a}"]
    classes = {node.name: node for node in file.tree.body if isinstance(node, ast.ClassDef)}
    owner = classes.get(prefix.removesuffix("::"))
    if owner is not None and (is_unittest(owner) or _inherits(owner, classes)):
        forms += [
            f"self.assertEqual({a}, {b})",
            f"self.assertTrue({a} > {max(a, b)})",
            f"self.assertIn({a}, [{b}])",
        ] * 2
        forms += [f"with self.assertRaises(ValueError):\n        int('{a}')"]
    source = f"def {name}({'self' if method else ''}):\n    {random.choice(forms)}\n"
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def module_names(path: str) -> list[str]:
    """The names by which a file of the tests may be imported: from the tree's top, and from each folder below it."""
    parts = path.rpartition(".")[0].split("/")
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return [".".join(parts[at:]) for at in range(len(parts))]
