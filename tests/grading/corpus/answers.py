"""What an answer may do instead of answering: (its code, the verdicts that are right for it, why).

Each is the body of a function `answer(step, graph)`. RIGHT at the end of one shows that the trick
fails, not the answer. `G` stands for Graph, `A` for apply, `C` for const; `say` writes frames of its
own to the grader, `forge` bytes.
"""

from __future__ import annotations

from autograder.process.start import ENVIRONMENT

RIGHT = "return G.of(graph.inputs, graph.outputs, graph.name)"

PRELUDE = """
import os, sys, struct, gc, threading, time
from course_lib.ir.graph.graph import Graph as G
from course_lib.ir.graph.node import Node, apply as A, const as C
from autograder.wire.codec import Codec

def forge(data, flag=0, length=None):
    for number in range(3, 12):
        try: os.write(number, struct.pack("<BQ", flag, len(data) if length is None else length) + data)
        except OSError: pass

def say(*messages):
    for message in messages:
        forge(Codec().encode(message))

def frame(text, *blobs):
    text = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<QI", len(text), len(blobs)) + struct.pack(
        f"<{len(blobs)}Q", *map(len, blobs)) + text + b"".join(blobs)
"""

Case = tuple[str, set[str], str]
W, X, T, P = {"wrong"}, {"crashed"}, {"timed out"}, {"passed"}

VALUES: dict[str, Case] = {
    "nothing": ("pass", W, "no value"),
    "text": ("return 'graph @main() -> () {}'", W, "a graph as text is none"),
    "number": ("return float('nan')", W, "nan is no graph"),
    "large_int": ("return 10 ** 10_000", W, "more digits than Python reads"),
    "bytes": ("return b'x'", W, "bytes are no plain data"),
    "a_class": ("return G", W, "a class"),
    "a_lambda": ("return lambda: graph", W, "functions go one way"),
    "a_generator": ("return (g for g in [graph])", W, "a generator"),
    "a_module": ("return sys", W, "a module"),
    "an_exception": ("return ValueError('x')", W, "an exception returned"),
    "weak": ("import weakref\nreturn weakref.proxy(graph)", W | P, "a proxy of the very graph"),
    "always_equal": (
        "class Yes:\n    def __eq__(self, o): return True\n"
        "    def __getattr__(self, n): return self\nreturn Yes()", W, "a magic object"),
    "class_lies": (
        "class Lie:\n    __class__ = G\n    nodes = inputs = outputs = ()\nreturn Lie()", W,
        "an object that calls itself a graph"),
    "int_lies": (
        "class Five(int):\n    def __eq__(self, o): return True\n    __hash__ = int.__hash__\n"
        "return Five(5)", W, "a number that equals all"),
    "dict_lies": (
        "class D(dict):\n    def items(self): return iter(lambda: (1, 2), 0)\nreturn D()",
        W | T, "a dict without an end"),
    "list_lies": (
        "class L(list):\n    def __iter__(self): return iter(lambda: 1, 0)\nreturn L([1])",
        W | T, "a list without an end"),
    "str_lies": (
        "class S(str):\n    def __str__(self): return 'x' * 30_000_000\nreturn S('a')", W,
        "a text that grows"),
    "surrogate": ("return '\\ud800'", W, "half a character"),
    "surrogate_name": ("return G('\\udfff', graph.inputs, graph.nodes, graph.outputs)", W,
                       "half a character as a name"),
    "zero_byte_name": ("return G('a\\0b\\x1b[2J', graph.inputs, graph.nodes[:-1], graph.outputs)", P,
                       "a name with control characters is only a name"),
    "long_name": ("return G('n' * 10_000_000, graph.inputs, graph.nodes, graph.outputs)", W,
                  "a graph whose name has ten million characters"),
    "name_is_no_text": ("return G(7, graph.inputs, graph.nodes, graph.outputs)", W,
                        "a number as a name"),
    "nested_deep": ("deep = []\nfor _ in range(5000): deep = [deep]\nreturn deep", W, "5,000 lists"),
    "nested_wide": ("x = []\nfor _ in range(50): x = [x, x]\nreturn x", W | T,
                    "2 ** 50 lists, by sharing"),
    "nested_wide_tuple": ("x = ()\nfor _ in range(55): x = (x, x, graph)\nreturn x", W | T,
                          "the same with graphs"),
    "contains_itself": ("x = []\nx.append(x)\nreturn x", W, "a list in itself"),
    "dict_contains_itself": ("x = {}\nx[1] = x\nreturn x", W, "a dict in itself"),
    "many_keys": ("return set(range(60_000))", W, "more keys than anyone needs"),
    "colliding_keys": (
        "import itertools\nreturn set(itertools.islice(itertools.product((-1, -2), repeat=16), 60000))",
        W | T, "keys that all have one hash"),
    "array_of_objects": ("import numpy\nreturn numpy.array([graph], dtype=object)", W, "dtype object"),
    "array_with_fields": ("import numpy\nreturn numpy.zeros(3, dtype='i4,f8')", W, "dtype with fields"),
    "array_of_dates": ("import numpy\nreturn numpy.zeros(3, dtype='M8[s]')", W, "dates"),
    "array_of_strange_floats": ("import numpy\nreturn numpy.zeros(3, dtype='g')", W, "long doubles"),
    "array_huge": ("import numpy\nreturn numpy.broadcast_to(numpy.float32(1), (1 << 28,))", W | X | T,
                   "a gigabyte that takes no memory"),
    "array_subclass": (
        "import numpy\nclass Z(numpy.ndarray):\n    def tobytes(self, *a): return b''\n"
        "return numpy.zeros(4).view(Z)", W, "an array that lies about its bytes"),
    "graph_too_large": (
        "x = A('expand', C(1.0), shape=(10**6, 10**6))\n"
        "return G(graph.name, graph.inputs, (*graph.nodes, x.inputs[0], x), graph.outputs)", W,
        "a tensor of a terabyte"),
    "graph_too_slow": (
        "x = A('expand', C(1.0, 'f16'), shape=(5000, 5000))\ny = A('matmul', x, x)\n"
        "return G.of(graph.inputs, [*graph.outputs, y])", W, "2.5e11 operations"),
    "graph_of_wrong_types": (
        "from dataclasses import replace\nfrom course_lib.ir.types import parse_type\n"
        "bad = replace(graph.outputs[0], type=parse_type('f32[7,7]'))\n"
        "return G(graph.name, graph.inputs, (*graph.nodes, bad), (bad,))", W, "a type that lies"),
    "graph_in_a_circle": (
        "n = graph.outputs[0]\nobject.__setattr__(n, 'inputs', (n,))\nreturn graph", W,
        "a node that reads itself"),
    "graph_of_other_things": ("return G('x', (1,), ('a',), (None,))", W, "a graph of no nodes"),
    "graph_of_a_generator": ("return G('x', (), (n for n in graph.nodes), graph.outputs)", W | P,
                             "nodes that are read once"),
    "graph_huge_attribute": (
        "bad = A('reshape', graph.inputs[0], shape=(6,))\n"
        "object.__setattr__(bad, 'attrs', {'shape': (1,) * 100_000})\n"
        "return G.of(graph.inputs, [bad])", W, "an attribute of 100,000 numbers"),
    "record_with_a_dict": (
        "from course_lib.ir.expr import Affine\nreturn Affine({'a': 1}, [])", W, "a forged field"),
    "record_whose_repr_raises": (
        "from course_lib.memory.liveness import Interval\nreturn Interval(None, [], {}, 'x')", W,
        "a record that cannot be shown"),
    "record_in_itself": (
        "from course_lib.ir.loops.nest import Loop\nfrom course_lib.ir.expr import Affine\n"
        "x = Loop('i', Affine(), Affine(), ())\nobject.__setattr__(x, 'body', (x,))\nreturn x", W,
        "a loop that contains itself"),
    "record_with_a_long_name": (
        "from course_lib.ir.loops.nest import Kernel\nreturn Kernel('k' * 20_000_000, (), ())", W,
        "20 MB of a name"),
    "record_of_another_kind": ("from course_lib.cost.machine import Machine\nreturn Machine('x')", W,
                               "a dataclass that is no record"),
    "negative_array": (
        "from course_lib.accelerator.systolic import SystolicArray\n"
        "x = SystolicArray()\nobject.__setattr__(x, 'rows', -5)\nreturn x", W, "it checks itself"),
}  # fmt: skip

CHEATS: dict[str, Case] = {
    "calls_the_answer": ("from autograder.units.u98.exercises import live\nreturn live(step, graph)",
                         W | X, "the library's own answer is not there"),
    "reads_hidden_checks": ("import autograder.units.u98.hidden\n" + RIGHT, X, "not shipped"),
    "imports_the_grader": ("import autograder.grading.grade\n" + RIGHT, X, "not shipped"),
    "imports_validate": ("import autograder.validate\n" + RIGHT, X, "not shipped"),
    "patches_the_checker": (
        "from autograder.check import judging, properties\njudging.judge = lambda *a, **k: 'passed'\n"
        "properties.same_meaning = lambda *a, **k: None\nreturn graph", W, "another process checks"),
    "patches_numpy": (
        "import numpy\nnumpy.allclose = numpy.array_equal = numpy.isclose = lambda *a, **k: True\n"
        "return graph", W, "another process compares"),
    "patches_the_codec": (
        "import autograder.wire.reading as c\nc.verify = lambda graph: graph\n"
        "return G('x', (), (), ())", W, "the other end verifies again"),
    "patches_json": (
        "import json\njson.dumps = lambda *a, **k: '{\"rows\": [], \"body\": true}'\nreturn graph",
        W | X, "a reply that is made up"),
    "patches_struct": (
        "import autograder.wire.writing as c\nclass S:\n    def __getattr__(self, n): return lambda *a: b''\n"
        "c.struct = S()\nreturn graph", W | X | T, "a reply without a head"),
    "patches_dumps_to_a_bomb": (
        "import autograder.wire.writing as c\nclass J:\n"
        "    def dumps(self, *a, **k): return '[' * 9_000_000\n    loads = c.json.loads\n"
        "c.json = J()\nreturn graph", W, "brackets without an end"),
    "swaps_modules": (
        "for name in list(sys.modules):\n    if name.startswith('autograder'): sys.modules[name] = None\n"
        + RIGHT, P | W | X, "its own process"),
    "changes_its_mind": ("import random\nreturn graph if random.random() < 2 else step", W, "no"),
    "looks_at_the_stack": (
        "frame = sys._getframe()\nwhile frame: names, frame = {**frame.f_globals}, frame.f_back\n"
        "return names.get('expected', graph)", W, "nothing of the grader is there"),
    "searches_memory": (
        "found = [o for o in gc.get_objects() if callable(o) and getattr(o, '__name__', '') == 'live']\n"
        "return found[0](step, graph) if found else graph", W | X, "not in this process"),
    "patches_float": ("import builtins\nbuiltins.float = lambda *a: 7.0\nreturn graph", W | X, "no"),
    "makes_everything_equal": (
        "Node.__eq__ = lambda a, b: True\nNode.__hash__ = lambda a: 1\nreturn graph", W | X, "no"),
    "tells_the_library": (
        "import course_lib.exercises as e\ne._slots.clear()\n" + RIGHT, P | W | X, "its own process"),
    "answers_for_others": (
        "import course_lib.exercises as e\nfor n in e._slots: e._slots[n].plug(lambda s, g: None)\n"
        + RIGHT, P | W | X, "the honest one starts from its own cells"),
}  # fmt: skip

ENDS: dict[str, Case] = {
    "exits": ("os._exit(0)", X, "it ends itself"),
    "exits_with_a_signal_number": ("os._exit(137)", X, "it looks killed"),
    "exits_politely": ("raise SystemExit(0)", X, "an exception"),
    "is_interrupted": ("raise KeyboardInterrupt", X, "an exception of the teacher's ctrl-C"),
    "segfaults": ("import ctypes\nctypes.string_at(0)", X, "native code"),
    "aborts": ("os.abort()", X, "native code"),
    "recurses": ("return (lambda f: f(f))(lambda f: f(f))", X, "RecursionError"),
    "recurses_in_c": (
        "sys.setrecursionlimit(10**9)\ndef f(): f()\nf()", X | T, "the stack is at its end"),
    "takes_all_memory": (
        "import numpy as np\nreturn [np.empty(1 << 28, np.uint8) for _ in range(50)]", X, "MemoryError"),
    "exits_at_exit": ("import atexit\natexit.register(os._exit, 0)\n" + RIGHT, P, "it never exits"),
    "exits_in_a_thread": (
        "threading.Timer(0.05, os._exit, [0]).start()\n" + RIGHT, P | X, "after its answer"),
    "exits_in_gc": (
        "gc.callbacks.append(lambda *a: os._exit(0))\n" + RIGHT, P | X, "whenever memory is swept"),
    "exits_when_deleted": (
        "class D:\n    def __del__(self): os._exit(0)\nd = D()\n" + RIGHT, X, "before its answer"),
    "exits_on_a_signal": (
        "import signal\nsignal.signal(signal.SIGALRM, lambda *a: os._exit(0))\nsignal.alarm(1)\n"
        + RIGHT, P | X, "later"),
    "kills_everyone": ("import signal\nos.kill(-1, signal.SIGKILL)\n" + RIGHT, X, "EPERM"),
    "kills_its_group": ("import signal\nos.killpg(0, signal.SIGKILL)\n" + RIGHT, X, "EPERM"),
    "kills_its_parent": ("import signal\nos.kill(os.getppid() or 1, signal.SIGKILL)\n" + RIGHT, X | P,
                         "its parent is not in sight"),
    "stops_itself": ("import signal\nos.kill(os.getpid(), signal.SIGSTOP)\n" + RIGHT, T | P | X,
                     "as process 1 it cannot"),
    "forks": ("os.fork()\n" + RIGHT, X, "no new processes"),
    "starts_a_process": ("import subprocess\nsubprocess.run(['true'])\n" + RIGHT, X, "no"),
    "spawns": ("os.posix_spawn('/bin/true', ['true'], {})\n" + RIGHT, X, "no"),
    "becomes_another": ("os.execv(sys.executable, ['python', '-c', 'pass'])", X, "no exec"),
    "many_threads": (
        "for _ in range(100_000): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        X | T, "threads have a limit"),
    "traces": ("import ctypes\nr = ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)\nassert r == 0\n"
               + RIGHT, X, "ptrace is refused"),
    "opens_a_namespace": (
        "import ctypes\nassert ctypes.CDLL(None).unshare(0x10000000) == 0\n" + RIGHT, X, "no"),
    "outlives_its_parent": (
        "import ctypes\nassert ctypes.CDLL(None).prctl(1, 0) == 0\n" + RIGHT, X, "prctl is refused"),
}  # fmt: skip

FILES: dict[str, Case] = {
    "writes_to_the_course": ("import course_lib\nopen(course_lib.__file__, 'w').write('raise')", X,
                             "read-only"),
    "reads_passwords": ("open('/etc/passwd').read()\n" + RIGHT, X, "not there"),
    "reads_a_secret": ("open(SECRET).read()\n" + RIGHT, X, "a file of the teacher's"),
    "lists_the_checkout": ("assert os.listdir(CHECKOUT + '/notebooks')\n" + RIGHT, X, "hidden"),
    "reads_checks_of_the_venv": ("assert os.listdir(CHECKOUT + '/autograder')\n" + RIGHT, X, "hidden"),
    "finds_submissions": ("assert os.listdir(SUBMISSIONS)\n" + RIGHT, X, "hidden"),
    "finds_submissions_in_usr": ("assert os.listdir('/usr/local')\n" + RIGHT, X, "not mounted"),
    "writes_to_root": ("open('/x', 'w').write('x')\n" + RIGHT, X, "read-only"),
    "writes_to_dev": ("open('/dev/x', 'w').write('x')\n" + RIGHT, X, "read-only"),
    "fills_tmp": ("for n in range(200): open(f'/tmp/{n}', 'wb').write(bytes(8 << 20))\n" + RIGHT, X,
                  "64 MB in all"),
    "fills_shared_memory": (
        "for n in range(200): open(f'/dev/shm/{n}', 'wb').write(bytes(8 << 20))\n" + RIGHT, X,
        "16 MB in all"),
    "writes_a_large_file": ("open('/tmp/x', 'wb').truncate(1 << 30)\n" + RIGHT, X, "16 MB"),
    "opens_many_files": ("x = [open('/tmp/x', 'w') for _ in range(1000)]\n" + RIGHT, X, "64"),
    "memory_of_no_process": ("os.memfd_create('x')\n" + RIGHT, X, "refused"),
    "system_v_memory": (
        "import ctypes\nassert ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600) >= 0\n" + RIGHT, X, "refused"),
    "other_processes": ("assert len([p for p in os.listdir('/proc') if p.isdigit()]) > 2\n" + RIGHT, X,
                        "none but itself, and bubblewrap"),
    "environment": (f"assert set(os.environ) - {set(ENVIRONMENT) | {'PWD'}}\n" + RIGHT, X,
                    "nothing of the teacher's"),
    "socket": ("import socket\nsocket.socket()\n" + RIGHT, X, "refused"),
    "local_socket": ("import socket\nsocket.socket(socket.AF_UNIX)\n" + RIGHT, X, "refused"),
    "hypervisor_socket": ("import socket\nsocket.socket(40)\n" + RIGHT, X, "refused"),
    "open_files": (
        "names = []\nfor n in range(64):\n    try: names.append(os.readlink(f'/proc/self/fd/{n}'))\n"
        "    except OSError: pass\nassert any(n.startswith('/') and 'null' not in n for n in names)\n"
        + RIGHT, X, "no file of the grader is open"),
    "is_root": ("assert os.getuid() == 0\n" + RIGHT, X, "another user"),
    "becomes_root": ("os.setuid(0)\n" + RIGHT, X, "it cannot"),
}  # fmt: skip

OUTPUT: dict[str, Case] = {
    "prints_much": ("for _ in range(2000): print('x' * 10_000)\n" + RIGHT, P, "2,000 characters stay"),
    "prints_surrogates": ("print('\\ud800')\nreturn 1", W, "what is printed becomes text"),
    "prints_a_lie": (
        "class S(str):\n    def __getitem__(self, i): return 'y' * 30_000_000\n"
        "    def __len__(self): return -1\nsys.stdout.write(S('x'))\n" + RIGHT, P | X, "a lying text"),
    "replaces_stdout": ("sys.stdout = None\nprint('x')\n" + RIGHT, P, "its own"),
    "floods_descriptors": (
        "for n in range(64):\n    try: os.write(n, bytes(1 << 16))\n    except OSError: pass\n" + RIGHT,
        W | X | T, "zeros for the grader"),
    "huge_error": ("raise ValueError('x' * 30_000_000)", X, "30 MB of words"),
    "huge_error_of_a_kind": (
        "class S(str):\n    def __getitem__(self, i): return self\nraise ValueError(S('x' * 30_000_000))",
        X, "which cannot be cut"),
    "error_with_a_huge_name": ("raise type('E' * 10_000_000, (Exception,), {})", X, "its name"),
    "error_that_cannot_be_shown": (
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E", X, "its text ends it"),
    "error_of_no_text": (
        "class E(Exception):\n    def __str__(self): return 7\nraise E", X, "its text is a number"),
    "error_with_a_lying_format": (
        "class E(Exception):\n    def __format__(self, s): return 'z' * 30_000_000\nraise E", X, "cut"),
    "error_with_surrogates": ("raise ValueError('\\ud800')", X, "half a character"),
    "error_with_markup": ("raise ValueError('<script>alert(1)</script>')", X, "escaped"),
    "error_with_a_chain": (
        "e = None\nfor n in range(100_000):\n    x = ValueError(n); x.__cause__ = e; e = x\nraise e", X,
        "100,000 causes"),
    "error_with_deep_frames": (
        "sys.setrecursionlimit(10**5)\ndef f(n): return f(n - 1) if n else 1 / 0\nf(20_000)", X,
        "20,000 frames"),
    "error_that_is_ours": (
        "from autograder.check.framework import Stop\nraise Stop('the grader failed')", X,
        "an exception of the grader"),
    "error_that_says_not_attempted": ("raise NotImplementedError", {"not attempted"}, "it says so"),
    "error_group": ("raise ExceptionGroup('x', [ValueError(n) for n in range(100_000)])", X, "many"),
}  # fmt: skip

FRAMES: dict[str, Case] = {
    "speaks_for_the_worker": ("say(('return', True, ''))\nos._exit(0)", W | X, "true is no graph"),
    "garbage": ("forge(b'garbage')\n" + RIGHT, W | X, "no message"),
    "empty_frame": ("forge(b'')\n" + RIGHT, W | X, "no message"),
    "endless_frame": ("forge(b'', length=2**60)\n" + RIGHT, X | W | T, "a frame of an exabyte"),
    "half_a_frame": ("forge(b'x', length=100_000)\nos._exit(0)", X | W, "cut short"),
    "wrong_kind": ("say((7, 8))\n" + RIGHT, X | W, "a number instead of a word"),
    "unknown_kind": ("say(('please', 'pass'))\n" + RIGHT, X | W, "out of turn"),
    "no_tuple": ("say(['return', 1])\n" + RIGHT, X | W, "a list"),
    "return_without_a_value": ("say(('return',))\n" + RIGHT, X | W, "nothing in it"),
    "many_returns": ("say(*[('return', n, '') for n in range(100)])\n" + RIGHT, W | X | P,
                     "the next call gets old answers"),
    "raises_for_the_grader": ("say(('raised', 'x' * 100_000, 'y', 7, 1))\n" + RIGHT, X | W, "cut"),
    "unsendable_forged": ("say(('unsendable', ['x'] * 1000, {}))\n" + RIGHT, W | X, "any reason"),
    "calls_back_a_number": ("say(('callback', 10**9, (), {}))\n" + RIGHT, X | W, "no such function"),
    "calls_back_nonsense": ("say(('callback', 'x', 7, None))\n" + RIGHT, X | W, "no arguments"),
    "calls_back_for_ever": ("while True: step(graph)", T, "it computes for ever"),
    "calls_back_with_a_bomb": (
        "x = graph\nfor _ in range(50): x = [x, x]\nstep(x)\n" + RIGHT, X | W | T, "2 ** 50 lists"),
    "calls_back_in_threads": (
        "ts = [threading.Thread(target=step, args=(graph,)) for _ in range(8)]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n" + RIGHT, P | W | X | T,
        "frames that interleave"),
    "closes_the_pipe": ("os.closerange(3, 64)\n" + RIGHT, X, "no way back"),
    # It may reach the attack after it, which is told so.
    "goes_on_after_its_answer": (
        "def later():\n    time.sleep(0.02); forge(b'x' * 100)\n"
        "threading.Thread(target=later, daemon=True).start()\n" + RIGHT, P | W | X, "too late"),
    "reads_the_pipe": (
        "for n in range(3, 12):\n    try: os.set_blocking(n, False); os.read(n, 1000)\n"
        "    except OSError: pass\n" + RIGHT, P | X | W, "nothing is in it"),
    "row_that_is_no_row": ("forge(frame('{\"rows\": [7], \"body\": null}'))\n" + RIGHT, W | X, "no row"),
    "rows_without_end": (
        "forge(frame('{\"rows\": [' + '{},' * 1_000_000 + '{}], \"body\": null}'))\n" + RIGHT, W | X,
        "a million rows"),
    "escaped_surrogate": (
        "forge(frame('{\"rows\": [], \"body\": {\"tuple\": [\"return\", \"\\\\\\\\ud800\", \"\"]}}'"
        ".replace('\\\\\\\\\\\\\\\\', chr(92))))\n" + RIGHT, W | X, "half a character, escaped"),
    "digits": ("forge(frame('{\"rows\": [], \"body\": ' + '9' * 1_000_000 + '}'))\n" + RIGHT, W | X,
               "a number of a million digits"),
    "blob_sizes": ("forge(struct.pack('<QI', 2, 2**31) + b'{}')\n" + RIGHT, W | X, "2 ** 31 blobs"),
    "negative_blob": (
        "forge(frame('{\"rows\": [], \"body\": {\"array\": {\"dtype\": \"<f4\", \"shape\": [1], "
        "\"blob\": -1}}}', b'abcd'))\n" + RIGHT, W | X, "the last one is not meant"),
}  # fmt: skip

ENDLESS: dict[str, Case] = {
    "loops": ("while True: pass", T, "it computes"),
    "sleeps": ("time.sleep(1000)", T, "it sleeps"),
    "loops_and_catches": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass", T, "stubborn"),
    "loops_in_c": ("return sum(range(10**12))", T, "no Python in between"),
    "waits_for_a_lock": ("lock = threading.Lock()\nlock.acquire(); lock.acquire()", T, "it waits"),
    "matches_for_ever": ("import re\nre.match('(a+)+b', 'a' * 40)", T, "a pattern"),
    "computes_in_a_thread": (
        "def f():\n    while True: pass\nthreading.Thread(target=f).start()\ntime.sleep(1000)", T,
        "another thread"),
}  # fmt: skip

GROUPS = {
    "values": VALUES,
    "cheats": CHEATS,
    "ends": ENDS,
    "files": FILES,
    "output": OUTPUT,
    "frames": FRAMES,
    "endless": ENDLESS,
}
