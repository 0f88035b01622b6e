"""Adapters for what people use today."""
