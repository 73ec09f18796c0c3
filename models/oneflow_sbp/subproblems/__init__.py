"""What several rooms solve on the way.

An instance as integer tables: graph, label_graph (made from an instance).
Elimination: order, classes (rows that labels share), elimination; lagrangian (memory priced in),
mixing (of assignments that fit the memory and that do not).
Where it is too wide: dominance, messages (reparametrisation), reweighted (both with elimination).
Networks: training (backward passes).
"""
