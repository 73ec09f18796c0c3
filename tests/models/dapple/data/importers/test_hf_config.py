"""A configuration of a published model becomes an instance whose optimum is proved at once."""

import pytest

import gadgetopt


def test_the_optimum_of_llama_on_one_box(root):
    """Sixteen microbatches of one sequence of 4096 tokens on eight H100."""
    config = root / "docs" / "configs" / "llama-3-8b.json"
    (document,) = gadgetopt.import_("hf-config", config, "dapple", seq=4096, device="h100")
    assert document.data.comm_model == "simple"
    result = gadgetopt.solve(document)
    assert result.status == "optimal"
    assert result.bound_voucher == "verified"
    assert float(result.objective) == pytest.approx(0.918554, rel=1e-6)
