"""The promises of the timer queue's contract, one chapter a module, and what their checks are made with.

queues/conformance.py puts the chapters together. offer.py says what a class offers, trial.py writes calls down as they
are made, schedules.py makes random ones, shrinking.py makes a failing one small, ledger.py counts what may not be lost.
"""
