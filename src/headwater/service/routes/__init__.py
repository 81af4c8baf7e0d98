"""From requests to views: a route reads its parameters, calls one function and answers. One file a resource."""
