# SPDX-License-Identifier: MIT
"""scripts.py FOLDER: tests FOLDER/hook and FOLDER/build on a made-up tree, and FOLDER/model on a small shape."""
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
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


CREATE = "        device->device = device->physical_device.createDevice(device_create_info);"
MEMORY = "    vk::MemoryAllocateFlags mem_flags {};"
CMAKE_LINE = "    target_link_libraries(ggml-vulkan PRIVATE Vulkan::Vulkan)"
PRODUCT = "void ggml_vk_mul_mat{}(ggml_backend_vk_context * ctx, int node_idx) {{"
OLD = {"ggml-vulkan.cpp": ['#include "ggml-vulkan.h"', "    ~vk_device_struct() {", MEMORY, CREATE,
                           "static " + PRODUCT.format(""), "static " + PRODUCT.format("_id")],
       "CMakeLists.txt": [CMAKE_LINE]}
NEW = {"ggml-vulkan.cpp": ['#include "ggml-vulkan-common.h"', CREATE, PRODUCT.format(""), PRODUCT.format("_id"),
                           "vk_device_struct::~vk_device_struct() {"],
       "ggml-vulkan-buffers.cpp": ['#include "ggml-vulkan-common.h"', MEMORY], "CMakeLists.txt": [CMAKE_LINE]}


def test_hook(below, tree):
    with tempfile.TemporaryDirectory() as top:
        backend = pathlib.Path(top) / below
        backend.mkdir(parents=True)
        plain = {name: "first\n" + "\nbetween\n".join(lines) + "\nlast\n" for name, lines in tree.items()}

        def read():
            return {name: (backend / name).read_text() for name in plain}

        def write(texts):
            for name, text in texts.items():
                (backend / name).write_text(text)

        write(plain)
        code, said = run(top)
        expect(code == 0 and "28 lines put into" in said, said)
        first = read()
        source = "".join(text for name, text in first.items() if name.endswith(".cpp"))
        expect(source.count("#ifdef GGML_USE_VKGEMM") == source.count("#endif") == 8, source)
        expect(source.index("add_extensions") < source.index("createDevice") < source.index("add_adapter"), source)
        code, said = run(top)
        expect(code == 0 and "as it should be: 28 lines" in said, said)
        expect(read() == first, "a second run changed something")
        code, said = run("--remove", top)
        expect(code == 0 and "28 lines taken out of" in said, said)
        expect(read() == plain, "a tree is not as it was")
        # Each line is missing, or there twice: nothing changes, and the refusal has a number of lines.
        for name, lines in tree.items():
            for line in lines:
                if name == "ggml-vulkan-buffers.cpp" and "#include" in line:
                    continue
                for text, count in ((plain[name].replace(line, "other"), 0), (plain[name] + line + "\n", 2)):
                    broken = {**plain, name: text}
                    write(broken)
                    code, said = run(top)
                    expect(code == 1 and f": {count} lines match" in said and "nothing was changed" in said, said)
                    expect(read() == broken, "a refused tree was changed")
        write(plain)
        (backend / "CMakeLists.txt").unlink()
        code, said = run(top)
        expect(code == 1 and "CMakeLists.txt is missing" in said, said)
    with tempfile.TemporaryDirectory() as top:
        code, said = run(top)
        expect(code == 1 and "not a tree of ggml" in said, said)


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def test_build():
    """On a copy of the scripts, with programs in place of cmake, git and tools/sdk that note how they were called."""
    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top).resolve()
        root, tree, sdk, notes = top / "vkgemm", top / "llama.cpp", top / "sdk", top / "notes"
        backend = tree / "ggml/src/ggml-vulkan"
        for name in ("integrations/ggml/build", "integrations/ggml/hook", "tools/lib.sh"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder.parent.parent / name, root / name)
        note = f'echo "${{0##*/}} $* (${{VULKAN_SDK:-}})" >>{notes}\n'
        write_program(root / "tools/sdk", note)
        write_program(top / "bin/cmake", note + 'case "$*" in *FAIL*) exit 1 ;; esac\n')
        write_program(top / "bin/git", note + "echo no network >&2\nexit 128\n")
        write_program(top / "bin/ninja", "exit 1\n")
        backend.mkdir(parents=True)
        sdk.mkdir()
        for name, lines in NEW.items():
            (backend / name).write_text("\n".join(lines))
        (tree / "CMakeLists.txt").touch()

        def build(*arguments, sdk=sdk):
            notes.write_text("")
            environment = {**os.environ, "PATH": f"{top}/bin:{os.environ['PATH']}", "VULKAN_SDK": str(sdk or "")}
            done = subprocess.run([str(root / "integrations/ggml/build"), *map(str, arguments)], capture_output=True,
                                  text=True, env=environment, cwd=top)
            return done.returncode, done.stdout + done.stderr, notes.read_text().splitlines()

        folders = f"-S {tree} -B {tree}/build-vkgemm -G Ninja"
        options = f"-DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_VULKAN=ON -DGGML_VKGEMM={root}"
        plain = (backend / "ggml-vulkan.cpp").read_text()
        code, said, called = build("--source", "llama.cpp", "--dry-run", "--jobs", 3)
        expect(code == 0 and not called and (backend / "ggml-vulkan.cpp").read_text() == plain, said)
        expect(said.splitlines() == [f"{root}/integrations/ggml/hook {tree}",
                                     f"env VULKAN_SDK={sdk} cmake {folders} {options}",
                                     f"env VULKAN_SDK={sdk} cmake --build {tree}/build-vkgemm --parallel 3"], said)
        for lines in ("28 lines put into", "as it should be: 28 lines"):  # the second run changes nothing
            code, said, called = build("--source", tree, "-DA=B", "--target", "x", "--target", "y", "--jobs", 1)
            expect(code == 0 and lines in said, said)
            expect(called == [f"cmake {folders} {options} -DA=B ({sdk})", f"cmake --build {tree}/build-vkgemm "
                              f"--parallel 1 --target=x --target=y ({sdk})"], str(called))
        code, said, called = build("--source", tree, "--build", "other", "--configure")
        expect(code == 0 and called == [f"cmake -S {tree} -B {top}/other -G Ninja {options} ({sdk})"], str(called))

        # Without VULKAN_SDK the SDK is that of tools/sdk, which has the headers of SPIRV-Headers but not the package.
        code, said, called = build("--source", tree, "--configure", sdk=None)
        package = tree / "build-vkgemm/spirv-headers"
        expect(code == 0 and (package / "SPIRV-HeadersConfig.cmake").is_file(), said)
        expect(called == ["sdk  ()", f"cmake {folders} {options} -DSPIRV-Headers_DIR={package} ({root}/.sdk)"],
               str(called))

        clone = f"--depth 1 --branch v0.5.0 https://github.com/ggml-org/llama.cpp {root}/build/ggml/llama.cpp"
        code, said, called = build("--dry-run")
        expect(code == 0 and clone in said.splitlines()[0], said)
        code, said, called = build()
        expect(code == 1 and len(called) == 1 and clone in called[0], str(called))
        expect("could not be cloned; where there is no network, name a source tree" in said, said)

        (top / "used").mkdir()
        (top / "used/CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={sdk}\n")
        refused = [(["--source"], "--source needs a value"), (["--what"], "unknown argument '--what'"),
                   (["--source", tree, "--jobs", "0"], "--jobs 0: it must be"),
                   (["--source", top / "none"], "is not a folder"),
                   (["--source", sdk], "has no CMakeLists.txt"),
                   (["--source", tree, "--build", top / "used"], f"was configured for {sdk}"),
                   (["--source", tree, "-DFAIL=1"], "configuring failed"),
                   (["--source", tree, "--target", "FAIL"], "building failed")]
        for arguments, why in refused:
            code, said, called = build(*arguments)
            expect(code == 1 and why in said, said)
        code, said, called = build("--source", tree, sdk=top / "none")
        expect(code == 1 and "VULKAN_SDK=" in said and not called, said)
        (backend / "CMakeLists.txt").unlink()
        code, said, called = build("--source", tree)
        expect(code == 1 and "the hook was not put into" in said and not called, said)


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


test_hook("src/ggml-vulkan", OLD)
test_hook("ggml/src/ggml-vulkan", NEW)
test_build()
test_model()
print("right")
