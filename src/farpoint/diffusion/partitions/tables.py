"""Parquet files that are checked before anything parses them: rows, bytes and a digest of each are kept elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidFile, MissingExtra, OutputError
from farpoint.files import file_digest, whole_file

_ROW_GROUP = 1 << 17


@dataclass(frozen=True)
class TableFacts:
    """What the file of a table must be like.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facts = write_table(Path(folder) / "a.parquet", {"state": np.arange(3)})
    ...     facts.n_rows, read_table(Path(folder) / "a.parquet", facts)["state"]
    (3, array([0, 1, 2]))
    """

    n_rows: int
    n_bytes: int
    digest: str

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> TableFacts:
        """Return the facts that were written as JSON."""
        return cls(int(facts["n_rows"]), int(facts["n_bytes"]), str(facts["digest"]))

    def check(self, path: Path) -> None:
        """Fail if the file is not this one; not a byte may be another.

        Raises
        ------
        InvalidFile
            If it is missing or damaged.
        """
        try:
            same = path.stat().st_size == self.n_bytes and file_digest(path) == self.digest
        except OSError as error:
            raise InvalidFile(f"{path} must be there; got {error.strerror}. Write it again.") from error
        if not same:
            raise InvalidFile(f"{path} must be whole; it is damaged or that of another partition. Write it again.")


def parquet() -> Any:
    """Return pyarrow's module for Parquet files; fail with how to install it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            f"partitions must have pyarrow installed; got {error}. Install it: pip install 'farpoint[dask]'."
        ) from error
    return pyarrow.parquet


def write_table(path: Path, columns: Mapping[str, NDArray[Any]]) -> TableFacts:
    """Write columns to a Parquet file; return what it must be like when it is read."""
    import pyarrow

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{path.parent} must be a folder that can be written; got {error.strerror}.") from error
    table = pyarrow.table(dict(columns))
    with whole_file(path) as temporary:
        parquet().write_table(table, temporary, row_group_size=_ROW_GROUP, write_page_checksum=True)
        return TableFacts(table.num_rows, temporary.stat().st_size, file_digest(temporary))


def read_table(
    path: Path,
    facts: TableFacts,
    columns: Sequence[str] | None = None,
    within: tuple[str, int, int] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return columns of a Parquet file after it was checked; ``within`` limits a column to first … last."""
    facts.check(path)
    filters = None if within is None else [(within[0], ">=", within[1]), (within[0], "<=", within[2])]
    try:
        table = parquet().read_table(
            path, columns=None if columns is None else list(columns), filters=filters, page_checksum_verification=True
        )
        if filters is None and table.num_rows != facts.n_rows:
            raise ValueError(f"{table.num_rows} rows")
        return {name: np.asarray(table[name].to_numpy()) for name in table.column_names}
    except (OSError, ValueError) as error:
        raise InvalidFile(f"{path} must be a table of {facts.n_rows} rows; got {error}.") from error
