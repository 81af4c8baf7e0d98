"""What routes ask for: access: how they get at the service; node_ids: what a node id means; bodies: what is written."""
