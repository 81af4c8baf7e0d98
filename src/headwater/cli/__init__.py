"""The `headwater` command. The only room that wires the others together and configures logging."""
