"""Instances from traces of requested nodes (`batches_text`)."""
