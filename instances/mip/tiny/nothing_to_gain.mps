* Free MPS. The range -1 keeps x - y between -1 and 0; the right side -1 of the objective is the
* constant +1. So the objective x - y + 1 is at least 0, which x = 0, y = 1 has.
NAME nothing
ROWS
 N cost
 E near
COLUMNS
 M1 'MARKER' 'INTORG'
 x cost 1 near 1
 y cost -1 near -1
 M2 'MARKER' 'INTEND'
RHS
 rhs cost -1
RANGES
 rng near -1
BOUNDS
 UP bnd x 5
 UP bnd y 5
ENDATA
