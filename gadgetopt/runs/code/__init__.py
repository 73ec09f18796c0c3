"""The code that made a run, which is part of its key.

source_code    digests of the library's and the method's source
functions      functions that a user gives as methods, sent to other processes
function_code  the digest of such a function with all that it uses
"""
