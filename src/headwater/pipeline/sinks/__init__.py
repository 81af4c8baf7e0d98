"""Data frames to outputs: `write` picks the module of an output's kind."""
