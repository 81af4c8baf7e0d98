"""The graph as GraphQL, read only, in Marquez's schema.

schema      the types, in GraphQL's own language
ask         the state of one query: its objects, and their limit
objects     the objects of each type, with the members of their shapes
around      the graph around a job
links       the fields that lead from one object to others
answer      from a query's text to its JSON answer
"""
