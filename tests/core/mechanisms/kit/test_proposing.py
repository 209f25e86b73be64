from core.mechanisms.kit.proposing import STEPS, Proposing, target_error
from core.privacy.budget import Budget
from core.registry import interactive


def test_the_smallest_step_that_can_be_kept_is_proposed():
    tried = []
    assert target_error(lambda alpha: bool(tried.append(alpha)) or alpha >= 0.2) == {"alpha": 0.2}
    assert tried == [0.05, 0.1, 0.15, 0.2]
    assert target_error(lambda alpha: False) == {}
    assert min(STEPS) > 0 and max(STEPS) < 1


def test_every_session_with_a_target_error_can_propose_one():
    for kind in interactive.values():
        assert isinstance(kind(budget=Budget(1)), Proposing) == ("alpha" in kind.__dataclass_fields__)
