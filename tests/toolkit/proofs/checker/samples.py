"""Small models and proofs about them, as texts."""

#: max 5 a + 4 b + 3 c with 2 a + 3 b + c <= 5, binary: 9 with a and b.
MPS = """NAME parcel
OBJSENSE
 MAX
ROWS
 N worth
 L room
COLUMNS
 M1 'MARKER' 'INTORG'
 a worth 5 room 2
 b worth 4 room 3
 c worth 3 room 1
 M2 'MARKER' 'INTEND'
RHS
 rhs room 5
ENDATA
"""
LP = """Maximize worth: 5 a + 4 b + 3 c
Subject To
 room: 2 a + 3 b + c <= 5
Binaries
 a b c
End
"""
EXACT_TEXT = """max 0 1 3 1
0 -5 1 -4 2 -3
i 0 1
i 0 1
i 0 1
1 - 5 0 2 1 3 2 1
"""
NL = """g3 1 1 0
 3 1 1 0 0
 0 0
 0 0
 0 0 0
 0 0 0 1
 3 0 0 0 0
 3 3
 0 0
 0 0 0 0 0
C0
n0
O0 1
n0
r
1 5
b
0 0 1
0 0 1
0 0 1
J0 3
0 2
1 3
2 1
G0 3
0 5
1 4
2 3
"""
#: In the first leaf b is 0, in the second c; the row with the duals 5/2 is what the third rests on.
TREE = ["tree", "b 1 0", "l 0 1", "b 2 0", "l 0 1", "l 1 1 0 -5"]
VIPR = """VER 1.0
VAR 3
a b c
INT 3
0 1 2
OBJ max
3 0 5 1 4 2 3
CON 7 6
la G 0 1 0 1
lb G 0 1 1 1
lc G 0 1 2 1
ua L 1 1 0 1
ub L 1 1 1 1
uc L 1 1 2 1
room L 5 3 0 2 1 3 2 1
RTP range 9 9
SOL 2
good 2 0 1 2 1
best 2 0 1 1 1
DER 5
b0 L 0 1 1 1 { asm } -1
d0 L 9 OBJ { lin 3 3 5 7 4 5 3 } -1
b1 G 1 1 1 1 { asm } -1
d1 L 9 OBJ { rnd 3 6 5/2 9 -7/2 5 1/2 } -1
d2 L 9 OBJ { uns 8 7 10 9 } 0
"""
