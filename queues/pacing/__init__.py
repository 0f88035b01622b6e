"""Tickers and rate limiters: what each call means stands in queues/pacing/contract.py."""
