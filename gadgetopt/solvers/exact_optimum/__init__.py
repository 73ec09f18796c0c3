"""Optima of linear programs in rational numbers, from the basis in which HiGHS ends.

refinement   the exact optimum, and repairs of a basis that is optimal within tolerances only
outcomes     HiGHS's outcomes brought to exact optima and incumbents
incumbents   incumbents of mixed models: integers fixed, the rest solved exactly
elastic      by how much rows have to be violated: 0, or a proof of infeasibility
program      a linear program in integers, its vertices, and what a point violates
bases        bases of HiGHS in numbers
rays         improving rays, which HiGHS's tolerance may hide
shifted_duals  duals near a solver's that prove a bound beside columns without bounds
values       the rational values of a solved model's variables
"""
