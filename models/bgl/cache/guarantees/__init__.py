"""Theorems on caching policies: the competitive ratio of FIFO and LRU (`paging`)."""
