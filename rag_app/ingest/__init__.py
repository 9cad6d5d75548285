"""Files → nodes → vectors → store, a transaction per file."""

from __future__ import annotations

from rag_app.ingest.inputs import Input
from rag_app.ingest.removing import remove
from rag_app.ingest.repairing import RepairedFile, RepairReport, repair
from rag_app.ingest.report import FileReport, IngestReport, RemoveReport
from rag_app.ingest.run import OnFile, Progress, ingest
from rag_app.ingest.writing import PiecesReport, PieceWriter

__all__ = [
    "FileReport",
    "IngestReport",
    "Input",
    "OnFile",
    "PieceWriter",
    "PiecesReport",
    "Progress",
    "RemoveReport",
    "RepairReport",
    "RepairedFile",
    "ingest",
    "remove",
    "repair",
]
