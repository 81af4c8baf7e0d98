"""The graph as GraphQL, read only, in Marquez's schema.

schema      the types, in GraphQL's own language
ask         one query while it is answered: its objects, and how many it may reach
objects     an object of each type: what it is, and the members that its shape has
around      the graph around a job
links       the fields that lead from one object to others
answer      from a query's text to the JSON that goes out
"""
