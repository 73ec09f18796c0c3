"""The paper's learned scheduler at work (reconstructed): `learned`; `../learning` trains it."""
