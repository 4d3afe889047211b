"""The only place that writes files: whole or not at all, and read back checked.

Every file appears under its name only when it is complete (`whole_file`). Arrays are kept in ``.npz`` files without
pickle, with a header that names their kind and version and a digest of everything in them. A `PieceFolder` keeps the
finished pieces of one long computation, so that it can be interrupted; a `results_folder` shows all results of a
command or none. What is unfinished is locked by the process that writes it, so that the next one removes what a killed
one left.
"""

from farpoint.files.arrays import file_digest, read_arrays, read_facts, write_arrays, write_facts
from farpoint.files.pieces import PieceFolder
from farpoint.files.results import results_folder
from farpoint.files.unfinished import has_unfinished, remove_unfinished
from farpoint.files.whole import whole_file, write_rows, write_text

__all__ = [
    "PieceFolder",
    "file_digest",
    "has_unfinished",
    "read_arrays",
    "read_facts",
    "remove_unfinished",
    "results_folder",
    "whole_file",
    "write_arrays",
    "write_facts",
    "write_rows",
    "write_text",
]
