"""The store: chunks and vectors of every corpus in Chroma, written so that a crash shows nothing.

A corpus is one *head* and some *parts*, all of them Chroma collections. A part holds chunks with
their vectors and is never changed once it is filled; the head holds no vectors, only, as its
metadata, the manifest: name, embedder, chunking and the documents in order, each with the part
that its chunks lie in. A write fills new parts first and then changes the head by one `modify`,
which is one transaction: that is the commit. Whoever reads the head before it sees the old corpus
whole, whoever reads it after sees the new one whole. Parts that no head names are the leavings of
a crash or of a replaced document; the next write sweeps them. In Chroma Cloud, where metadata are
short, the manifest is a collection of its own, as unchanging as a part, and the head names it.

Parts are never changed because the embedded Chroma keeps vectors in an index of plain files that
another process may read half-written: with chromadb 1.5.9 a reader beside a writer on the same
collection failed ("Error finding id") or ended in a segmentation fault, while the metadata, in
SQLite, was always whole and fresh. So metadata is read at any time by one client, and vectors are
read and written only under the store's file lock, by a client of their own that is closed before
the lock is given back.

`records` is what a corpus is, `owner` whose it is, `manifest` and `rows` are how both are written
down, `collections` is which of them there are, `session` what is done under the lock, and `store`
the door.
"""
