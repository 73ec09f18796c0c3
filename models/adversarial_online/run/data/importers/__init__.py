"""Streams from traces of clusters (`traces`) and from tables of bids (`bids_csv`)."""
