"""What several rooms solve on the way.

label_graph     an instance as integer tables on nodes and pairs of nodes
elimination     bucket elimination, exact or split into mini-buckets
order           an elimination order, smallest table first
"""
