#!/usr/bin/env python3
"""Install the SDK into a staging root and build the examples from it, in both ways that it offers.

What is tested is what a plugin author has: nothing of the source tree is on any path but the
examples themselves, which are copied away first.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

EXAMPLES = {
    "hello": ("hello_plugin", "greet", {"name": "Ada"}, "Hello, Ada!"),
    "notes": ("notes_plugin", "write_note", {"name": "milk", "text": "two litres"}, "Saved."),
    "hello_cpp": ("hello_plugin_cpp", "greet", {"name": "Ada"}, "Hello, Ada!"),
}


def run(command, **options):
    """Run a command; on failure show what it printed and stop."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed ({done.returncode}):\n"
                 f"{done.stdout}\n{done.stderr}")
    return done.stdout


def check(ok, message):
    if not ok:
        sys.exit(message)


def build_with_cmake(args, source, prefix, name):
    build = source / "build"
    run([args.cmake, "-S", source, "-B", build, "-G", args.generator,
         f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_BUILD_TYPE={args.config or 'Debug'}",
         f"-DCMAKE_C_COMPILER={args.cc}", f"-DCMAKE_C_FLAGS={args.cflags}",
         f"-DCMAKE_CXX_COMPILER={args.cxx}", f"-DCMAKE_CXX_FLAGS={args.cxxflags}"])
    run([args.cmake, "--build", build])
    run([args.cmake, "--install", build])
    return build / f"{name}.so"


def build_with_make(args, source, environment, name):
    run(["make", "-C", source, f"CC={args.cc}", f"CXX={args.cxx}", f"CFLAGS={args.cflags}",
         f"CXXFLAGS={args.cxxflags}"], env=environment)
    run(["make", "-C", source, "install"], env=environment)
    return source / f"{name}.so"


def check_plugin(args, library, tool, arguments, wanted):
    printed = run([args.loader, library, tool, json.dumps(arguments)])
    text = json.loads(printed)["content"][0]["text"]
    check(text == wanted, f"{library}: {tool} answered {text!r}, not {wanted!r}")
    if shutil.which("nm"):
        symbols = [line.split() for line in run(["nm", "-D", "--defined-only", library]).splitlines()]
        # Weak ones are C++ templates of the standard library.
        exported = [s[-1] for s in symbols if s[-2] not in "WVu" and not re.search("asan|^__gcov_|^mangle_path$", s[-1])]
        check(exported == ["patchbay_plugin_v1"], f"{library} exports {exported}")


def check_installed(prefix, libdir, abi):
    for path in ["include/patchbay/plugin.h", "include/patchbay/toolset.h", "include/patchbay/ask.h",
                 f"{libdir}/cmake/patchbay/patchbay-config.cmake",
                 f"{libdir}/cmake/patchbay/PatchbayAddPlugin.cmake",
                 f"{libdir}/pkgconfig/patchbay-plugin.pc", f"{libdir}/patchbay/plugins/time.so"]:
        check((prefix / path).is_file(), f"{path} was not installed")
    header = (prefix / "include/patchbay/plugin.h").read_text()
    major, minor = abi.split(".")
    check(f"#define PATCHBAY_ABI PATCHBAY_ABI_VERSION({major}, {minor})" in " ".join(header.split()),
          f"the .pc file says abi={abi}, plugin.h does not")


def check_documents(args, prefix):
    """They are where they are in the tree, so that they find each other."""
    documents = prefix / args.docdir
    for name in ["README.md", "LICENSE", "docs/PLUGINS.md", "examples/hub.yaml", "schemas/manifest.schema.json"]:
        check((documents / name).is_file(), f"{args.docdir}/{name} was not installed")
    print(run([sys.executable, "-B", pathlib.Path(args.source) / "tests/check_links.py", documents]), end="")


def list_modules(prefix):
    """What the installed program finds: the names of the modules, and what it says."""
    with tempfile.TemporaryDirectory(prefix="patchbay-home-") as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PATCHBAY_", "XDG_"))}
        done = subprocess.run([prefix / "bin/patchbay", "list", "modules", "--json"], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=home, env={**environment, "HOME": home})
    check(done.returncode == 0, f"list modules failed: {done.stderr}")
    return sorted(module["name"] for module in json.loads(done.stdout)), done.stderr


def check_modules(prefix, libdir):
    """The program finds the plugins that were installed with it, wherever that is."""
    plugins = prefix / libdir / "patchbay/plugins"
    wanted = sorted(path.stem for path in plugins.glob("*.so"))
    check({"command", "files", "mcp_upstream", "time"} <= set(wanted), f"only {wanted} were installed")
    check(list_modules(prefix)[0] == wanted, f"{list_modules(prefix)}, installed are {wanted}")
    moved = prefix.with_name("moved")
    prefix.rename(moved)
    check(list_modules(moved)[0] == wanted, f"moved: {list_modules(moved)}, installed are {wanted}")
    moved.rename(prefix)
    away = plugins.with_name("away")
    plugins.rename(away)
    found, said = list_modules(prefix)
    check(found or f"{plugins} (there is no such folder)" in said, f"without plugins it says {said!r}")
    away.rename(plugins)


def main():
    parser = argparse.ArgumentParser()
    for name in ["cmake", "generator", "build", "source", "loader", "config", "libdir", "docdir", "cc",
                 "cflags", "cxx", "cxxflags"]:
        parser.add_argument(f"--{name}", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchbay-install-") as folder:
        folder = pathlib.Path(folder)
        prefix = folder / "prefix"
        libdir = args.libdir or "lib"
        run([args.cmake, "--install", args.build, "--prefix", prefix])
        environment = {**os.environ, "PKG_CONFIG_PATH": str(prefix / libdir / "pkgconfig")}
        variable = lambda name: run(["pkg-config", f"--variable={name}", "patchbay-plugin"],
                                    env=environment).strip()
        check_installed(prefix, libdir, variable("abi"))
        check_documents(args, prefix)
        check_modules(prefix, libdir)
        plugins = prefix / libdir / "patchbay/plugins"
        check(pathlib.Path(variable("plugindir")).resolve() == plugins.resolve(),
              f"plugindir is {variable('plugindir')}, not {plugins}")
        for name, (example, tool, arguments, wanted) in EXAMPLES.items():
            if name == "hello_cpp" and not shutil.which(args.cxx or "/nonexistent"):
                print("no C++ compiler: hello_cpp is not built")
                continue
            for way in ["cmake", "make"]:
                source = folder / way / example
                shutil.copytree(pathlib.Path(args.source) / "examples" / example, source,
                                ignore=shutil.ignore_patterns("build*", "*.so"))
                library = (build_with_cmake(args, source, prefix, name) if way == "cmake" else
                           build_with_make(args, source, environment, name))
                installed = plugins / f"{name}.so"
                check(installed.is_file(), f"{way}: {name}.so was not installed")
                check_plugin(args, library, tool, arguments, wanted)
                check_plugin(args, installed, tool, arguments, wanted)
                installed.unlink()
                print(f"{example} with {way}: ok")


if __name__ == "__main__":
    main()
