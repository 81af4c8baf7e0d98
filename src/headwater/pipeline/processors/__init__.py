"""Steps of a pipeline, each a function from data frame to data frame: `apply` picks the module of a step's kind."""
