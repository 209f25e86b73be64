"""What greedy choices that follow one another cost together: little more than a single one, however many they are.

**Setting** In every round i the exponential mechanism chooses a public candidate j with weight exp(e s(i, j)), s in
spans of one unit of privacy. What is scored may follow earlier choices. Of two neighbours A and B, A has what both have
and x(i, j) >= 0 more, B has y(i, j) >= 0 more, and over the candidates that are *chosen* the x sum up to at most u and
the y to at most v, u + v <= 1: what was gained once is never gained again, as in a cover each element counts until it
is covered. Adding or removing a unit is u + v = 1 with one of them 0, replacing it u = v = 1/2.

**Theorem** For every order a > 1 with (a - 1)(exp(e) - 1) < 1 the Rényi divergence of everything that is chosen, on A
from B, is at most D(e) = -e - ln(1 - (a - 1)(exp(e) - 1))/(a - 1), about a e^2/2.

*Proof.* Write X = exp(e x), Y = exp(e y) for the candidate of a round and E for its mean where only what both have is
scored. A chooses with density X/E X and B with Y/E Y, so exp((a - 1) divergence) is the mean over all rounds of the
product of (X/E X)^a (Y/E Y)^(1-a). For u and v still to come, S = exp(e u) and T = exp(e v), let

    F(u) = S^a/(1 + a (S - 1)),    G(v) = T^(1-a)/(1 - (a - 1)(T - 1)).

Both are at least 1, by Bernoulli's inequality. It is enough that one round and what can follow it make no more than
F(u) G(v); then induction over the rounds, from the last one, gives F(u) G(v) for all of them. That is,

    (E X)^-a (E Y)^(a-1) E[f(X) g(Y)] <= f(1) g(1),    f(X) = X/(a S - (a - 1) X),    g(Y) = Y/(a Y - (a - 1) T),

because X^a F(u - x) = S^a f(X) and Y^(1-a) G(v - y) = T^(1-a) g(Y). Both f and g are positive and convex, so with the
means of X and Y fixed the left side is largest where X is 1 or S and Y is 1 or T. Say X = S has chance p, Y = T has q,
and both together w. As f(S) = g(T) = 1, 1/f(1) = 1 + a (S - 1) and 1/g(1) = 1 - (a - 1)(T - 1), what remains is

    1 + a (S - 1) p - (a - 1)(T - 1) q - w a (a - 1)(S - 1)(T - 1) <= (1 + (S - 1) p)^a (1 + (T - 1) q)^(1-a).

The right side is x^a y^(1-a) at x = 1 + (S - 1) p and y = 1 + (T - 1) q, which is convex in both; its tangent plane at
(1, 1) is the left side without the last term, which is not positive.

Last, F(u) G(v) <= G(u) G(v) <= G(u + v) <= G(1) = exp((a - 1) D(e)). For the first, ln(1 + a c) - ln(1 - (a - 1) c) is
at least (2 a - 1) ln(1 + c) for c = S - 1: both are 0 at 0, and the slopes are (2 a - 1)/((1 + a c)(1 - (a - 1) c)) and
(2 a - 1)/(1 + c). For the others, ln G is convex in v and 0 at 0. []

With u = 0 a single element against many rounds of small chances comes as near as one likes: it is then covered at an
exponential time, of rate 1 on A and exp(e) on B. T theorems 55 and 58 say the same of (epsilon, delta) with
e = epsilon/(2 ln(e/delta)); as a divergence it adds up with everything else that an account pays, whatever follows.

The theorem needs no limit on the number of rounds. With one, the rounds also cost no more than so many single choices;
that is less where they are few, and all there is without a delta.
"""

from __future__ import annotations

from decimal import Decimal

MOST_TILT = 1 - Decimal("1e-9")
"""Nearer to 1 the logarithm would lose digits; so near the theorem says no more than a few units of divergence."""


def greedy_divergence(epsilon: Decimal, order: Decimal) -> Decimal | None:
    """The theorem's bound for choices of this epsilon each, in the digits of the context; None where it has none."""
    tilt = (order - 1) * (epsilon.exp() - 1)
    if tilt >= MOST_TILT:
        return None
    return -epsilon - (1 - tilt).ln() / (order - 1)
