"""PDFs that are made to harm who reads them: each a few KB, written object by object.

Every one is a PDF by its header and, but for what its name says, a plain one of one page.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

Objects = dict[int, bytes]
_PAGE, _CONTENT = 4, 5


def write_bad_pdf(path: Path, kind: str) -> Path:
    """Write one of ``KINDS`` and return its path."""
    path.write_bytes(KINDS[kind]())
    return path


def pdf(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """Return a PDF of these objects, with a table of where each stands."""
    data = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(data)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, size = len(data), max(objects) + 1
    data += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        if number in places:
            data += b"%010d 00000 n \n" % places[number]
        else:
            data += b"0000000000 65535 f \n"
    data += b"trailer\n<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(data)


def stream(data: bytes, extra: bytes = b"", *, deflate: int = 1) -> bytes:
    """Return a stream that is deflated so many times."""
    for _ in range(deflate):
        data = zlib.compress(data, 9)
    filters = b"/FlateDecode" * deflate
    return b"<</Filter[%b]/Length %d%b>>stream\n%b\nendstream" % (filters, len(data), extra, data)


def one_page(content: bytes = b"BT /F1 12 Tf 72 700 Td (A plain line of text.) Tj ET") -> Objects:
    """Return the objects of a plain document."""
    return {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
        3: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        _PAGE: page(),
        _CONTENT: stream(content),
    }


def page(resources: bytes = b"", box: bytes = b"[0 0 612 792]", content: bytes = b"5 0 R") -> bytes:
    """Return a page object."""
    return (
        b"<</Type/Page/Parent 2 0 R/MediaBox%b/Contents %b"
        b"/Resources<</Font<</F1 3 0 R>>%b>>>>" % (box, content, resources)
    )


def form(content: bytes, resources: bytes = b"") -> bytes:
    """Return a form: a piece of content that pages and forms draw."""
    extra = (
        b"/Type/XObject/Subtype/Form/BBox[0 0 612 792]"
        b"/Resources<</Font<</F1 3 0 R>>%b>>" % resources
    )
    return stream(content, extra)


def bomb(unit: bytes, megabytes: int, times: int = 1) -> bytes:
    """Return a stream that unfolds to so many MB of a repeated unit, deflated so many times."""
    return packed_stream(repeated(unit, megabytes), times=times)


def repeated(unit: bytes, megabytes: int, start: bytes = b"") -> bytes:
    """Return so many MB of a unit, deflated once: one MB is deflated, and its blocks repeated."""
    packer = zlib.compressobj(9)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(unit * (1_000_000 // len(unit))) + packer.flush(zlib.Z_FULL_FLUSH)
    # The checksum at the end is missing: readers take what came before it.
    return head + block * megabytes + b"\x03\x00"


def packed_stream(data: bytes, extra: bytes = b"", *, times: int = 1) -> bytes:
    """Return a stream of data that is deflated already, and is again for each further time."""
    for _ in range(times - 1):
        data = zlib.compress(data, 9)
    filters = b"/FlateDecode" * times
    return b"<</Filter[%b]/Length %d%b>>stream\n%b\nendstream" % (filters, len(data), extra, data)


def _page_label_cycle() -> bytes:
    return pdf(
        one_page()
        | {
            1: b"<</Type/Catalog/Pages 2 0 R/PageLabels 6 0 R>>",
            6: b"<</Kids[6 0 R]/Limits[0 100]>>",
        }
    )


def _spaces_bomb() -> bytes:
    return pdf(one_page() | {_CONTENT: bomb(b" ", 1500)})


def _double_bomb() -> bytes:
    return pdf(one_page() | {_CONTENT: bomb(b" ", 6000, times=2)})


def _nested_forms() -> bytes:
    objects = one_page(b"/X Do") | {_PAGE: page(b"/XObject<</X 10 0 R>>")}
    for level in range(10, 22):
        objects[level] = form(b"/X Do " * 10, b"/XObject<</X %d 0 R>>" % (level + 1))
    objects[22] = form(b"BT /F1 8 Tf 9 9 Td (laughing out loud) Tj ET " * 10)
    return pdf(objects)


def _form_draws_itself() -> bytes:
    objects = one_page(b"/X Do") | {_PAGE: page(b"/XObject<</X 10 0 R>>")}
    objects[10] = form(b"BT /F1 8 Tf (again) Tj ET /X Do /X Do", b"/XObject<</X 10 0 R>>")
    return pdf(objects)


def _object_stream_bomb() -> bytes:
    """A document whose objects lie in a stream that unfolds to 1.5 GB."""
    objects = one_page()
    del objects[_PAGE]
    inside = b"4 0 " + page() + b" " * 100
    extra = b"/Type/ObjStm/N 1/First 4"
    objects[10] = packed_stream(repeated(b" ", 1500, start=inside), extra)
    return _with_xref_stream(objects, compressed={_PAGE: (10, 0)})


def _with_xref_stream(
    objects: Objects,
    compressed: Mapping[int, tuple[int, int]],
    previous: Callable[[int], int] | None = None,
) -> bytes:
    data = bytearray(b"%PDF-1.7\n")
    rows = {0: (0, 0, 255)}
    for number, body in sorted(objects.items()):
        rows[number] = (1, len(data), 0)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start, own = len(data), max(objects) + 1
    rows |= {number: (2, *place) for number, place in compressed.items()} | {own: (1, start, 0)}
    table = b"".join(
        bytes([kind]) + at.to_bytes(4, "big") + bytes([generation])
        for kind, at, generation in (rows.get(number, (0, 0, 255)) for number in range(own + 1))
    )
    extra = b"/Type/XRef/W[1 4 1]/Size %d/Root 1 0 R" % (own + 1)
    if previous is not None:
        extra += b"/Prev %d" % previous(start)
    data += b"%d 0 obj\n%b\nendobj\nstartxref\n%d\n%%%%EOF\n" % (own, stream(table, extra), start)
    return bytes(data)


def _xref_loop() -> bytes:
    return _with_xref_stream(one_page(), {}, previous=lambda start: start)


def _deep_page_tree() -> bytes:
    """The only page lies 60,000 levels deep."""
    objects = one_page()
    depth = 60_000
    for level in range(depth):
        below = level + 11 if level + 1 < depth else _PAGE
        above = level + 9 if level else 2
        objects[level + 10] = b"<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>" % (below, above)
    objects[2] = b"<</Type/Pages/Kids[10 0 R]/Count 1>>"
    return pdf(objects)


def _page_tree_cycle() -> bytes:
    return pdf(one_page() | {2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2/Parent 2 0 R>>"})


def _claims_many_pages() -> bytes:
    return pdf(one_page() | {2: b"<</Type/Pages/Kids[4 0 R]/Count 2000000000>>"})


def _one_page_many_times() -> bytes:
    kids = b"4 0 R " * 30_000
    return pdf(one_page() | {2: b"<</Type/Pages/Kids[%b]/Count 30000>>" % kids})


def _font_bomb() -> bytes:
    objects = one_page()
    objects[3] = (
        b"<</Type/Font/Subtype/TrueType/BaseFont/Bomb/FirstChar 0/LastChar 255"
        b"/Widths[%b]/FontDescriptor 6 0 R>>" % (b"500 " * 256)
    )
    objects[6] = b"<</Type/FontDescriptor/FontName/Bomb/Flags 4/FontFile2 7 0 R>>"
    objects[7] = bomb(b"\0", 1500)
    return pdf(objects)


def _character_map_bomb() -> bytes:
    objects = one_page()
    objects[3] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>"
    objects[7] = bomb(b" ", 1500)
    return pdf(objects)


def _character_map_uses_itself() -> bytes:
    objects = one_page()
    objects[3] = b"<</Type/Font/Subtype/Type0/BaseFont/Own/Encoding 7 0 R/DescendantFonts[8 0 R]>>"
    objects[7] = stream(b"begincmap endcmap", b"/Type/CMap/CMapName/Own/UseCMap 7 0 R")
    objects[8] = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Own/CIDSystemInfo<<>>>>"
    return pdf(objects)


def _inline_image_bomb() -> bytes:
    image = b"BI /W 2000000000 /H 2000000000 /BPC 8 /CS /RGB ID xxxx EI"
    return pdf(one_page(image + b" BT /F1 9 Tf (after the image) Tj ET"))


def _jbig2_bomb() -> bytes:
    """A picture whose header claims 4 billion by 4 billion points."""
    header = bytes.fromhex("00000000300001000000") + b"\x00\x00\x00\x13"
    body = b"\xff" * 8 + b"\x00" * 11
    objects = one_page(b"/I Do BT /F1 9 Tf (after the image) Tj ET")
    objects[_PAGE] = page(b"/XObject<</I 10 0 R>>")
    data = header + body
    objects[10] = (
        b"<</Type/XObject/Subtype/Image/Width 4000000000/Height 4000000000/BitsPerComponent 1"
        b"/ColorSpace/DeviceGray/Filter/JBIG2Decode/Length %d>>stream\n%b\nendstream"
        % (len(data), data)
    )
    return pdf(objects)


def _outline_cycle() -> bytes:
    return pdf(
        one_page()
        | {
            1: b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>",
            6: b"<</Type/Outlines/First 7 0 R/Last 7 0 R/Count 1>>",
            7: b"<</Title(again)/Parent 6 0 R/Next 7 0 R/First 7 0 R/Last 7 0 R>>",
        }
    )


def _huge_media_box() -> bytes:
    box = b"[-1e30 -1e30 1e30 1e30]"
    return pdf(one_page() | {_PAGE: page(box=box)})


def _length_refers_to_itself() -> bytes:
    return pdf(one_page() | {_CONTENT: b"<</Length 5 0 R>>stream\nBT ET\nendstream"})


def _deep_arrays() -> bytes:
    return pdf(one_page() | {6: b"[" * 500_000 + b"]" * 500_000, _PAGE: page(b"/X 6 0 R")})


def _deep_content() -> bytes:
    return pdf(one_page(b"[" * 3_000_000 + b"] TJ BT /F1 9 Tf (after the arrays) Tj ET"))


def _saves_without_end() -> bytes:
    """A hundred million states are put aside and none is taken back."""
    return pdf(one_page() | {_CONTENT: bomb(b"q ", 200)})


def _slow_pages() -> bytes:
    """Each of 19,000 pages draws millions of lines, of which nothing stays."""
    kids = b"4 0 R " * 19_000
    return pdf(
        one_page()
        | {
            2: b"<</Type/Pages/Kids[%b]/Count 19000>>" % kids,
            _CONTENT: bomb(b"0 0 m n ", 20),
        }
    )


def _long_label() -> bytes:
    label = b"<</Nums[0<</S/D/P(%b)>>]>>" % (b"long " * 200_000)
    return pdf(one_page() | {1: b"<</Type/Catalog/Pages 2 0 R/PageLabels 6 0 R>>", 6: label})


def _roman_label() -> bytes:
    """A label in Roman numerals for page two billion: millions of letters."""
    label = b"<</Nums[0<</S/R/St 2000000000>>]>>"
    return pdf(one_page() | {1: b"<</Type/Catalog/Pages 2 0 R/PageLabels 6 0 R>>", 6: label})


def _catalog_is_missing() -> bytes:
    objects = one_page()
    objects[1] = b"null"
    return pdf(objects)


KINDS: Mapping[str, Callable[[], bytes]] = {
    "page label cycle": _page_label_cycle,
    "1.5 GB of spaces": _spaces_bomb,
    "6 GB deflated twice": _double_bomb,
    "nested forms": _nested_forms,
    "form draws itself": _form_draws_itself,
    "object stream of 1.5 GB": _object_stream_bomb,
    "xref loop": _xref_loop,
    "deep page tree": _deep_page_tree,
    "page tree cycle": _page_tree_cycle,
    "claims two billion pages": _claims_many_pages,
    "one page 30,000 times": _one_page_many_times,
    "font of 1.5 GB": _font_bomb,
    "character map of 1.5 GB": _character_map_bomb,
    "character map uses itself": _character_map_uses_itself,
    "inline image of 4 billion GB": _inline_image_bomb,
    "JBIG2 image": _jbig2_bomb,
    "outline cycle": _outline_cycle,
    "huge media box": _huge_media_box,
    "length refers to itself": _length_refers_to_itself,
    "deep arrays": _deep_arrays,
    "deep content": _deep_content,
    "100 million saved states": _saves_without_end,
    "slow pages": _slow_pages,
    "label of 1 MB": _long_label,
    "label in Roman numerals": _roman_label,
    "no catalog": _catalog_is_missing,
}
