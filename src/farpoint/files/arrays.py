"""Arrays in ``.npz`` files and facts in ``.json`` files: without pickle, of a kind and version, read back checked."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
import zipfile
from collections.abc import Mapping
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farpoint.errors import InvalidFile
from farpoint.files.names import array_path
from farpoint.files.whole import whole_file, write_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[Any]]

# Compressed arrays may be this much larger than their file; zeros shrink a thousandfold, which no result of ours does.
_LARGEST_RATIO, _ROOM = 200, 2**26


def write_arrays(
    path: str | PathLike[str],
    kind: str,
    facts: Mapping[str, Any],
    arrays: Arrays,
    *,
    version: int = 1,
    compressed: bool = False,
) -> None:
    """Write named arrays and a table of plain facts (anything that JSON holds) to one ``.npz`` file.

    Parameters
    ----------
    path : path
        A name without an ending has ``.npz`` added, here and in `read_arrays`.
    kind : str
        What the file is, for example ``"farpoint-options"``; `read_arrays` asks for the same.
    facts : mapping
    arrays : mapping of arrays
    version : int
        Of the kind: another version is refused by `read_arrays`.
    compressed : bool

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(f"{folder}/a.npz", "example", {"t": 4}, {"scores": np.ones(3)})
    ...     read_arrays(f"{folder}/a.npz", "example")
    ({'t': 4}, {'scores': array([1., 1., 1.])})
    """
    import numpy as np

    header = {"format": kind, "version": version, "facts": dict(facts)}
    header["digest"] = _digest(header, arrays)
    save = np.savez_compressed if compressed else np.savez
    with whole_file(array_path(path)) as temporary, temporary.open("wb") as file:
        save(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]


def read_arrays(
    path: str | PathLike[str], kind: str, *, version: int = 1
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the facts and arrays that `write_arrays` wrote.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, of another kind or of another version.
    """
    import numpy as np

    path = array_path(path)
    if path.suffix == ".npy" and path.exists():
        raise InvalidFile(f"{path} must be a .npz file of {kind}; got a .npy file, which holds one array only.")
    try:
        with _open_regular(path) as opened:
            _check_sizes(opened)
            with np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        found, its_version = header.get("format"), header.get("version")
        digest, facts = header.pop("digest", None), header.get("facts")
        whole = isinstance(facts, dict) and digest == _digest(header, arrays)
    except FileNotFoundError as error:
        raise InvalidFile(
            f"{path} must be a file of {kind}; got no file of that name in {path.absolute().parent}."
        ) from error
    except KeyError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.") from error
    except Exception as error:  # on damaged bytes numpy and zipfile raise almost anything, a SyntaxError included
        raise InvalidFile(f"{path} must be a whole .npz file of {kind}; it is damaged or of another kind.") from error
    if found != kind:
        raise InvalidFile(f"{path} must be a file of {kind}; got another kind of .npz file.")
    if its_version != version:
        raise InvalidFile(
            f"{path} must be of version {version}; got version {its_version}. Update Farpoint to read it."
        )
    if not whole:
        raise InvalidFile(f"{path} must be whole; it is damaged (its contents were changed).")
    return facts, arrays


def _open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a file for reading; fail if it is a pipe, which would wait for a writer, or a device."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    return Path(path).open("rb")


def _check_sizes(opened: BufferedReader) -> None:
    """Fail before anything is unpacked if arrays are larger than the file can hold, or than their headers say."""
    from numpy.lib import format as npy

    room = _ROOM + _LARGEST_RATIO * os.fstat(opened.fileno()).st_size
    with zipfile.ZipFile(opened) as archive:
        members = archive.infolist()
        if len({member.filename.removesuffix(".npy") for member in members}) < len(members):
            raise ValueError("two of its arrays have the same name")
        for member in members:
            room -= member.file_size
            if room < 0 or (member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size):
                raise ValueError("its arrays are larger than the file can hold")
            with archive.open(member) as file:
                read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
                shape, _, dtype = read_header[npy.read_magic(file)](file)
                if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                    raise ValueError("an array is not as large as its header says")
    opened.seek(0)


def write_facts(path: str | PathLike[str], kind: str, facts: Mapping[str, Any], *, version: int = 1) -> None:
    """Write a table of plain facts (anything that JSON holds) to a ``.json`` file with a digest of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_facts(f"{folder}/a.json", "example", {"t": 4})
    ...     read_facts(f"{folder}/a.json", "example")
    {'t': 4}
    """
    write_text(path, _sealed({"format": kind, "version": version, **facts}))


def read_facts(path: str | PathLike[str], kind: str, *, version: int = 1) -> dict[str, Any]:
    """Return the facts that `write_facts` wrote; not a byte of the file may be another.

    Raises
    ------
    InvalidFile
        If the file is missing, damaged, of another kind or of another version.
    """
    try:
        with _open_regular(path) as opened:
            content = opened.read()
        facts = json.loads(content)
        facts.pop("seal")
        its_kind, its_version = facts["format"], facts["version"]
        whole = content == _sealed(facts).encode()
    except FileNotFoundError as error:
        raise InvalidFile(f"{path} must be a file of {kind}; got no file of that name.") from error
    except Exception as error:  # damaged bytes may be anything, too deep for the parser included
        raise InvalidFile(f"{path} must be a whole .json file of {kind}; it is damaged or of another kind.") from error
    if (its_kind, its_version) != (kind, version):
        raise InvalidFile(f"{path} must be {kind} of version {version}; got {its_kind} of version {its_version}.")
    if not whole:
        raise InvalidFile(f"{path} must be whole; it is damaged (its contents were changed).")
    return {name: value for name, value in facts.items() if name not in ("format", "version")}


def _sealed(facts: Mapping[str, Any]) -> str:
    """Return facts as JSON, with a digest of that JSON as the last of them."""
    seal = hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()
    return json.dumps({**facts, "seal": seal})


def file_digest(path: str | PathLike[str]) -> str:
    """Return a digest of the bytes of a regular file, which is read piece by piece.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(f"{folder}/note.txt", "complete")
    ...     file_digest(f"{folder}/note.txt")
    '...'
    """
    with _open_regular(path) as opened:
        return hashlib.file_digest(opened, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _digest(header: Mapping[str, Any], arrays: Arrays) -> str:
    """Return a digest of the header, and of the name, type, shape and content of every array."""
    import numpy as np
    from numpy.lib.format import dtype_to_descr

    digest = hashlib.blake2b(json.dumps(header, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {dtype_to_descr(array.dtype)} {array.shape}".encode())
        # Read where it lies: a copy of large arrays would double the memory.
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
