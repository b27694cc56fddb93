# SPDX-License-Identifier: MIT
"""scripts.py FOLDER: tests FOLDER/hook on a made-up tree, and FOLDER/model on a small shape."""
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import numpy

folder = pathlib.Path(sys.argv[1])


def loaded(name):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name, str(folder / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def run(*arguments):
    done = subprocess.run([sys.executable, str(folder / "hook"), *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what):
    if not condition:
        sys.exit("wrong: " + what)


def line_for(pattern):
    """A line that the regular expression matches."""
    return re.sub(r"\\(.)", r"\1", pattern.replace(r"\s*", "  ").replace(".*", "x"))


def test_hook():
    hook = loaded("hook")
    for below in ("src/ggml-vulkan", "ggml/src/ggml-vulkan"):
        with tempfile.TemporaryDirectory() as top:
            backend = pathlib.Path(top) / below
            backend.mkdir(parents=True)
            for name in (hook.SOURCE, hook.CMAKE):
                anchors = [line_for(pattern) for file, _, pattern, _ in hook.EDITS if file == name]
                (backend / name).write_text("first\n" + "\nbetween\n".join(anchors) + "\nlast\n")
            plain = {name: (backend / name).read_text() for name in (hook.SOURCE, hook.CMAKE)}
            code, said = run(top)
            expect(code == 0 and "24 lines put into" in said, said)
            first = (backend / hook.SOURCE).read_text()
            expect(first.count("#ifdef GGML_USE_VKGEMM") == first.count("#endif") == 7, first)
            code, said = run(top)
            expect(code == 0 and "as it should be: 24 lines" in said, said)
            expect((backend / hook.SOURCE).read_text() == first, "a second run changed something")
            code, said = run("--remove", top)
            expect(code == 0 and "24 lines taken out of" in said, said)
            for name, text in plain.items():
                expect((backend / name).read_text() == text, name + " is not as it was")
            # One anchor is missing, or there twice: nothing changes, and the refusal names it.
            anchor = line_for(hook.EDITS[-2][2])
            for text in (plain[hook.SOURCE].replace(anchor, "other"), plain[hook.SOURCE] + anchor + "\n"):
                (backend / hook.SOURCE).write_text(text)
                code, said = run(top)
                expect(code == 1 and "ggml_vk_mul_mat_id" in said and "nothing was changed" in said, said)
                expect((backend / hook.SOURCE).read_text() == text, "a refused tree was changed")
                expect((backend / hook.CMAKE).read_text() == plain[hook.CMAKE], "a refused tree was changed")
    with tempfile.TemporaryDirectory() as top:
        code, said = run(top)
        expect(code == 1 and "no tree of ggml" in said, said)


def read_header(data):
    """Facts, tensors as (name, sizes, type, offset), and where the tensors' data begin."""
    file = io.BytesIO(data)

    def get(form):
        return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))

    def text():
        return file.read(get("Q")[0]).decode()

    expect(file.read(4) == b"GGUF" and get("I") == (3,), "the first bytes")
    tensors, facts = get("QQ")
    kinds = {4: lambda: get("I")[0], 6: lambda: get("f")[0], 8: text}
    known = {text(): kinds[get("I")[0]]() for _ in range(facts)}
    found = [(text(), get(f"{get('I')[0]}Q"), *get("IQ")) for _ in range(tensors)]
    return known, found, file.tell() + -file.tell() % 32


def test_model():
    model = loaded("model")
    model.SHAPES = {"small": ("qwen3moe", 256, 2, 4, 2, 64, 256, 96, 1e4, 4, 2)}
    numbers = {number: (name, block, size) for name, (number, block, size) in model.TYPES.items()}
    for kind in ("f16", "bf16", "q8_0", "q4_0", "q4_k", "mxfp4"):
        file = io.BytesIO()
        model.write(file, "small", kind, 2, 96, 1)
        again = io.BytesIO()
        model.write(again, "small", kind, 2, 96, 1)
        data = file.getvalue()
        expect(data == again.getvalue(), kind + ": two runs differ")
        facts, tensors, begin = read_header(data)
        expect(facts["qwen3moe.expert_count"] == 4 and len(tensors) == 3 + 2 * 12, kind + ": facts")
        end = 0
        for name, sizes, number, offset in tensors:
            type_, block, size = numbers[number]
            expect(type_ == (kind if len(sizes) > 1 and "gate_inp" not in name else "f32"), name)
            expect(offset == end, f"{kind}: {name} is at {offset}, not {end}")
            count = int(numpy.prod(sizes)) // block * size
            end += count + -count % 32
        expect(begin + end == len(data), kind + ": the file's size")
    rng = numpy.random.default_rng(2)
    blocks = numpy.frombuffer(model.encoded("q8_0", 1 << 16, 0.5, rng), numpy.uint8).reshape(-1, 34)
    scales = blocks[:, :2].copy().view("<f2").astype(float)
    values = blocks[:, 2:].view(numpy.int8) * scales
    expect(abs(values.std() - 0.5) < 0.02 and abs(values.mean()) < 0.02, "the deviation of q8_0")


test_hook()
test_model()
print("right")
