"""The paper's programs, one per file; models of ours are in `proving/formulations`.

`joint`: all slots, for any model of a slot's rings.
`embedding`: the virtual network embedding (12)-(19).
`ddljs`: the program (2)-(9), over simple paths.
"""
