"""Document to passages: loaders, chunking, and the types of a corpus."""
