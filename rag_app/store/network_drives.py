"""Network drives, on which several processes cannot share a database."""

from __future__ import annotations

from pathlib import Path

from pipelines.errors import IndexReadOnlyError

# File systems whose locks or shared memory SQLite's write-ahead log cannot trust.
NETWORK_FILE_SYSTEMS = frozenset(
    {
        "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "coda", "9p",
        "ceph", "glusterfs", "lustre", "beegfs", "gpfs", "davfs", "davfs2", "ocfs2",
        "fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.glusterfs", "fuse.ceph-fuse",
        "fuse.davfs2", "fuse.gcsfuse", "fuse.goofys", "fuse.smbnetfs", "fuse.curlftpfs",
    }
)  # fmt: skip
MOUNTS = Path("/proc/mounts")


def file_system(path: Path, mounts: Path | None = None) -> str:
    """Return the type of the file system that holds ``path`` (``""``: not known here)."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""  # not Linux: there is no such list to read
    best, kind = -1, ""
    target = path.absolute().resolve()
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        place = Path(fields[1].replace("\\040", " "))
        # A later line covers an earlier one at the same place.
        if target.is_relative_to(place) and len(place.parts) >= best:
            best, kind = len(place.parts), fields[2]
    return kind


def refuse_network_drive(path: Path, mounts: Path | None = None) -> None:
    """Accept only a file system on which several processes may share a database.

    Raises:
        IndexReadOnlyError: a network file system, with its type.
    """
    kind = file_system(path, mounts)
    if kind in NETWORK_FILE_SYSTEMS:
        raise IndexReadOnlyError(
            f"{path} lies on a network drive ({kind}), where a database can be damaged by "
            "writing: its locks and shared memory do not work between machines",
            hint="keep the index on a local disk; reading a copy from the drive is fine",
        )
