"""What Headwater knows of the world: names, events, facets, facts. Pure; imports only `errors`."""
