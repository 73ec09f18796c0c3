"""An exact model as integers for CP-SAT.

integer_form: rows and objective scaled to integers, or a reason why not.
integer_bounds: bounds of columns that follow from the rows.
translation: the CP-SAT model, with one-hot structure recognised.
cp_model: OR-Tools' models, imported without pandas.
"""
