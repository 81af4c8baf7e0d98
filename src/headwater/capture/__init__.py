"""Capture: tells what engines do that do not tell it themselves.

connect    Kafka Connect: the life of every connector, from the worker's own topics
"""
