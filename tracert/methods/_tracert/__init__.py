"""The parts of Tracert-RAG: settings, corridor, bottleneck, costs, walk, record and ends."""
