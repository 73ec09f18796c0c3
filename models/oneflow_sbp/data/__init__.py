"""Instances: generators (`generate`) and importers of ONNX graphs (`importers`)."""
