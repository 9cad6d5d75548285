"""The speed results as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.tables import markdown


def speed_tables(results: Mapping[str, Any]) -> str:
    """Return a table for each section that was measured."""
    makers = {
        "cold": _cold,
        "ingest": _ingest,
        "stages": _stages,
        "full": _full,
        "memory": _memory,
        "warm": _warm,
        "throughput": _throughput,
        "growth": _growth,
    }
    return "\n\n".join(make(results[name]) for name, make in makers.items() if name in results)


def _cold(result: Mapping[str, Any]) -> str:
    ours = result["systems"]["rag ask"]["seconds"]
    rows = [
        [
            name,
            f"{s['seconds']:.2f}",
            f"{s['cpu_seconds']:.2f}",
            f"{s['peak_mb']:,.0f}",
            f"{s['seconds'] / ours:.1f}×",
        ]
        for name, s in result["systems"].items()
    ]
    head = ["", "seconds", "CPU seconds", "peak MB", "against `rag ask`"]
    return f"**Cold question**, {result['pages']:,} pages\n\n{markdown(head, rows)}"


def _ingest(result: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            f"{s['pages_per_s']:.1f}",
            f"{s['seconds']:.1f}",
            f"{s['cpu_seconds']:.1f}",
            f"{s['peak_mb']:,.0f}",
        ]
        for name, s in result["systems"].items()
    ]
    head = ["", "pages/s", "seconds", "CPU seconds", "peak MB"]
    title = f"**Ingest**, {result['pages']} pages, median of {result['rounds']}"
    return f"{title}\n\n{markdown(head, rows)}"


def _stages(result: Mapping[str, Any]) -> str:
    rows = [
        [name.removesuffix("_pages_per_s"), f"{result[name]:,.0f}"]
        for name in (
            "read_pages_per_s",
            "split_pages_per_s",
            "terms_pages_per_s",
            "embed_pages_per_s",
        )
    ]
    return f"**Stages of ingest**, one after the other\n\n{markdown(['', 'pages/s'], rows)}"


def _full(result: Mapping[str, Any]) -> str:
    rows = [
        ["ingest", f"{result['ingest_s']:.0f} s, {result['pages_per_s']:.1f} pages/s"],
        ["peak memory of ingest", f"{result['ingest_peak_mb']:,.0f} MB"],
        ["again, unchanged", f"{result['again_s']:.2f} s ({result['again_share']:.2%})"],
        ["add one file", f"{result['add_one_s']:.1f} s"],
        ["add it to an empty index", f"{result['add_one_to_empty_s']:.1f} s"],
        ["index on disk", f"{result['index_mb']:,.0f} MB"],
    ]
    title = f"**{result['files']} reports**, {result['pages']:,} pages"
    return f"{title}\n\n{markdown(['', ''], rows)}"


def _memory(result: Mapping[str, Any]) -> str:
    rows = [[name, f"{s['peak_mb']:,.0f}"] for name, s in result["systems"].items()]
    title = f"**Peak memory of ingest**, {result['pages']:,} pages"
    return f"{title}\n\n{markdown(['', 'MB'], rows)}"


def _warm(result: Mapping[str, Any]) -> str:
    columns = (
        "hybrid_ms",
        "hybrid_p95_ms",
        "hybrid_cpu_ms",
        "vector_arm_ms",
        "words_arm_ms",
        "one_pass_ms",
    )
    rows = [
        [f"{s['vectors_per_list']:,}", *(f"{s[name]:.2f}" for name in columns)]
        for s in result["sizes"]
    ]
    head = ["vectors per list", *(name.removesuffix("_ms").replace("_", " ") for name in columns)]
    simple = result["simple_vector_store"]
    note = (
        f"One pass: as memory gives {result['sizes'][0]['memory_gb_per_s']:.1f} GB/s. "
        f"At {simple['rows']:,} vectors one arm takes {simple['vector_arm_ms']:.2f} ms and "
        f"`SimpleVectorStore` {simple['simple_vector_store_ms']:.0f} ms "
        f"({simple['times_faster']:.0f}×)."
    )
    return f"**Warm query**, ms, without the model\n\n{markdown(head, rows)}\n\n{note}"


def _throughput(result: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            f"{result[name]['one_at_a_time_per_s']:.1f}",
            f"{result[name]['eight_at_once_per_s']:.1f}",
            f"{result[name]['ratio']:.2f}×",
            f"{result[name]['one_at_a_time_cores']:.2f}",
            f"{result[name]['eight_at_once_cores']:.2f}",
            f"{result[name]['two_processes_per_s']:.1f}",
        ]
        for name in ("retrieve", "answer")
    ]
    head = ["", "one at a time, /s", "eight at once, /s", "ratio", "cores busy, one", "eight"]
    head += ["two processes, /s"]
    note = f"Resident while answering: {result['resident_mb']:,.0f} MB."
    return f"**Throughput**\n\n{markdown(head, rows)}\n\n{note}"


def _growth(result: Mapping[str, Any]) -> str:
    names = list(result["exponents"])
    rows = [
        [name, *(f"{p[name]:.2f}" for p in result["points"]), f"{result['exponents'][name]:.2f}"]
        for name in names
    ]
    head = ["", *(f"{p['pages']:,} pages" for p in result["points"]), "exponent"]
    return f"**Growth**\n\n{markdown(head, rows)}"
