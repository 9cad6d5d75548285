"""The errors of both packages, in one place.

Every error says what is wrong, where, and what to do (``hint``); ``retryable``
says whether the same call may succeed later without a change.

::

    RagError
    ├── ConfigError             a setting, an option or an argument is wrong
    │   ├── FilterError         a filter names an unknown key, or compares what cannot be compared
    │   ├── FusionError         weights or k that no fusion can use
    │   └── NotInstalledError   it needs a package that is not installed
    ├── ReadError               one file could not be read (the others go on)
    │   ├── EncryptedError      it needs a password
    │   ├── DamagedError        truncated, or no PDF inside
    │   │   ├── TooLargeError   it unfolds beyond the limits of text, pages or memory
    │   │   ├── TooSlowError    reading it takes longer than the limit
    │   │   └── CrashError      it ends the process that reads it
    │   ├── NotPdfError         another kind of file under this name
    │   ├── EmptyFileError      0 bytes
    │   └── NoTextError         no page has text: a scan
    ├── StoreError              the index as a whole
    │   ├── IndexNotFoundError  there is none at this path
    │   ├── IndexExistsError    there is one already
    │   ├── IndexEmptyError     nothing was ingested into it
    │   ├── FolderNotEmptyError the folder holds other files, so no index is made in it
    │   ├── IndexUnsafeError    a link or a foreign file stands where one of the index should
    │   ├── IndexDamagedError   the database cannot be read
    │   ├── IndexNewerError     written by a newer version of this program
    │   ├── IndexMismatchError  made with another model, chunking, tokenizer or set of tables
    │   ├── IndexLockedError    another process writes              (retryable)
    │   ├── IndexReadOnlyError  it may not be written here
    │   └── MissingNodesError   a strategy reads nodes that were not built
    ├── EmbeddingError          the embedding model failed           (retryable)
    │   ├── ModelNotFoundError  no such model here, or at its server
    │   └── EmbeddingRefusedError  a server refused the key, or a text
    ├── RetrievalError          every arm of a query failed
    ├── RerankError             the reranker failed
    └── LLMError                the language model failed
        ├── LLMAuthError        401, 403: the key is missing or wrong
        ├── LLMNotFoundError    the server does not know this model
        ├── LLMRequestError     the server refused the request (400, 413, 422)
        ├── LLMRateLimitError   429                                  (retryable)
        ├── LLMServerError      5xx, or a malformed answer           (retryable)
        ├── LLMConnectionError  refused, unreachable                 (retryable)
        ├── LLMTimeoutError     no answer in time                    (retryable)
        └── LLMStreamError      the stream broke before its end      (retryable)
"""

from __future__ import annotations

from pipelines.file_names import escaped


class RagError(Exception):
    """Base of all errors: ``message`` says what and where, ``hint`` what to do.

    >>> try:
    ...     Index.open("nowhere")
    ... except RagError as error:
    ...     print(type(error).__name__, error.retryable)
    IndexNotFoundError False
    """

    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        # A message may quote untrusted names, and callers print it.
        self.message, self.hint = escaped(message), escaped(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (reading in workers): keep the hint.
        return (_rebuild, (type(self), self.message, self.hint))


def _rebuild(kind: type[RagError], message: str, hint: str) -> RagError:
    return kind(message, hint=hint)


class ConfigError(RagError):
    """A setting, an option or an argument is wrong."""


class FilterError(ConfigError):
    """A filter names an unknown key, or compares what cannot be compared."""


class FusionError(ConfigError):
    """Weights or a constant that no fusion can use."""


class NotInstalledError(ConfigError):
    """What was asked for needs a package that is not installed."""


class ReadError(RagError):
    """One file could not be read."""


class EncryptedError(ReadError):
    """The file needs a password."""


class DamagedError(ReadError):
    """The file is truncated or its structure does not parse."""


class TooLargeError(DamagedError):
    """The file unfolds into more pages, text or memory than the limits allow."""


class TooSlowError(DamagedError):
    """Reading the file takes more time than the limits allow."""


class CrashError(DamagedError):
    """The file ends the process that reads it."""


class NotPdfError(ReadError):
    """Another kind of file under a PDF's name."""


class EmptyFileError(ReadError):
    """The file has 0 bytes."""


class NoTextError(ReadError):
    """No page of the file has text: a scan."""


class StoreError(RagError):
    """The index as a whole cannot be used as asked."""


class IndexNotFoundError(StoreError):
    """There is no index at this path."""


class IndexExistsError(StoreError):
    """There is an index at this path already."""


class IndexEmptyError(StoreError):
    """Nothing was ingested into the index."""


class FolderNotEmptyError(StoreError):
    """The folder holds files that are not an index's, so no index is made in it."""


class IndexUnsafeError(StoreError):
    """A link or a foreign file stands where a file of the index should."""


class IndexDamagedError(StoreError):
    """The database of the index cannot be read."""


class IndexNewerError(StoreError):
    """The index was written by a newer version of this program."""


class IndexMismatchError(StoreError):
    """The index was made with another model, chunking, tokenizer or set of tables."""


class IndexLockedError(StoreError):
    """Another process writes to the index."""

    retryable = True


class IndexReadOnlyError(StoreError):
    """The index may not be written here."""


class MissingNodesError(StoreError):
    """A strategy reads nodes that this index does not hold."""


class EmbeddingError(RagError):
    """The embedding model failed."""

    retryable = True


class ModelNotFoundError(EmbeddingError):
    """There is no embedding model of this name here, or at its server."""

    retryable = False


class EmbeddingRefusedError(EmbeddingError):
    """The server of an embedding model refused the key, or what it was sent."""

    retryable = False


class RetrievalError(RagError):
    """Every arm of a query failed."""


class RerankError(RagError):
    """The reranker failed, or gave no usable order."""


class LLMError(RagError):
    """The language model failed."""


class LLMAuthError(LLMError):
    """The server refused the key (401, 403)."""


class LLMNotFoundError(LLMError):
    """The server does not know this model (404)."""


class LLMRequestError(LLMError):
    """The server refused the request itself (400, 413, 422)."""


class LLMRateLimitError(LLMError):
    """Too many requests (429)."""

    retryable = True


class LLMServerError(LLMError):
    """The server failed (5xx), or its answer is malformed."""

    retryable = True


class LLMConnectionError(LLMError):
    """The server could not be reached."""

    retryable = True


class LLMTimeoutError(LLMError):
    """The server did not answer in time."""

    retryable = True


class LLMStreamError(LLMError):
    """The stream broke before the answer was finished."""

    retryable = True
