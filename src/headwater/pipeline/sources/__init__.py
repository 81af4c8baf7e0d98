"""Inputs as data frames: `read` picks the module of an input's kind."""
