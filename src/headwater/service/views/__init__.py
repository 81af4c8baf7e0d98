"""From knowledge to the shapes that go out: one file a resource, every function pure but for reading the store."""
