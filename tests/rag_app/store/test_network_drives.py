"""No writing on network drives."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.errors import IndexReadOnlyError
from rag_app.store import network_drives
from rag_app.store.network_drives import file_system, refuse_network_drive
from rag_app.store.protocol import Store

MOUNTS = """\
/dev/vda / ext4 rw 0 0
server:/export /mnt/share nfs4 rw 0 0
user@host:/ /mnt/my\\040disk fuse.sshfs rw 0 0
/dev/vdb /mnt/share/local ext4 rw 0 0
tmpfs /mnt/covered tmpfs rw 0 0
//server/x /mnt/covered cifs rw 0 0
nonsense
"""


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    path = tmp_path / "mounts"
    path.write_text(MOUNTS)
    return path


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/user", "ext4"),
        ("/mnt/share/index", "nfs4"),
        ("/mnt/shared", "ext4"),
        ("/mnt/share/local/index", "ext4"),
        ("/mnt/my disk/index", "fuse.sshfs"),
        ("/mnt/covered", "cifs"),
    ],
)
def test_the_nearest_and_newest_mount_decides(mounts: Path, path: str, kind: str) -> None:
    assert file_system(Path(path), mounts) == kind


def test_a_machine_without_a_list_of_mounts_is_not_refused(tmp_path: Path) -> None:
    assert file_system(tmp_path, tmp_path / "none") == ""
    refuse_network_drive(tmp_path, tmp_path / "none")


def test_a_network_drive_is_refused_with_its_kind(mounts: Path) -> None:
    with pytest.raises(IndexReadOnlyError, match=r"network drive \(nfs4\)"):
        refuse_network_drive(Path("/mnt/share/index"), mounts)


def test_writing_on_a_network_drive_is_refused_and_reading_is_not(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listing = tmp_path / "mounts"
    listing.write_text(f"server:/x {tmp_path} nfs rw 0 0\n")
    monkeypatch.setattr(network_drives, "MOUNTS", listing)
    with pytest.raises(IndexReadOnlyError, match="network drive"), store.writer():
        pass
    with store.snapshot() as snapshot:
        assert snapshot.sources() == []
